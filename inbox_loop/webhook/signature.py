"""The signature on each post, by the Standard Webhooks scheme (standardwebhooks.com), version 1. Pure.

Lives here: reading a secret, and signing with it. Not here: the post (``sender.py``).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

PREFIX = "whsec_"
KEY_BYTES = range(24, 65)
# The example in the specification of the scheme: everybody has it, so it vouches for nobody.
PUBLISHED = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")


def read_secret(secret: str) -> bytes:
    """The key in ``whsec_`` and base64 of 24 to 64 bytes. Raises ``ValueError``, whose text never holds the secret."""
    encoded = secret.removeprefix(PREFIX)
    try:
        key = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if encoded == secret or len(key) not in KEY_BYTES:
        raise ValueError("a webhook's secret is whsec_ and 24 to 64 bytes in base64")
    return key


def sign(key: bytes, *, event_id: str, timestamp: int, body: bytes) -> str:
    """The header ``webhook-signature`` of a post: its id, its Unix time in seconds and its body, byte for byte."""
    signed = f"{event_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode("ascii")
