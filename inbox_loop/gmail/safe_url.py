"""Which URLs a secret may be sent to. Pure.

Lives here: the rule for the API's and the token endpoint's URL, and what counts as this machine. Imports nothing of
Google's, so that reading the settings stays quick.
"""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_safe_url(url: str) -> bool:
    """Whether what is sent there is encrypted, or does not leave this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host)))


def is_loopback(host: str) -> bool:
    """Whether a host, by name or by IP address, is this machine itself."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
