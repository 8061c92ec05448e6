"""Where posts go: a URL taken apart. Pure.

Lives here: what of a URL a post needs, and which URLs can't be used. Not here: that what is sent there must be
encrypted, which the settings are checked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True, repr=False)
class Address:
    """A receiver's address. It has no repr of its own, because a path or a query may be a secret."""

    secure: bool
    host: str
    port: int
    target: str
    """Path and query, as they stand in a request."""


def read_address(url: str) -> Address:
    """Take ``url`` apart. Raises ``ValueError``, whose text says what is wrong and never holds the URL."""
    if not url.isascii() or not url.isprintable() or " " in url:
        raise ValueError("must hold neither blanks nor other than ASCII characters; write them as %20 and the like")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("must be a URL") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be an https:// URL")
    if "@" in parts.netloc:
        raise ValueError("must not hold a user name or password; posts are signed instead")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    secure = parts.scheme == "https"
    return Address(secure, parts.hostname, port or (443 if secure else 80), target)
