"""A message as we see it, free of Gmail's wire format and of MIME.

Lives here: ``Message`` and what it is made of. Not here: how Google's dict becomes one (``gmail/wire.py``), how
bytes become text (``message/charset.py``, ``message/body.py``), or what is made of it (``policy.py``).

Every text in a ``Message`` is clean: no U+0000, no lone surrogate, no control character but newline and tab.
It is still hostile data: never run, never interpolated, never logged, escaped wherever it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Header:
    """One header line, decoded. Names keep their case and compare without it; names may repeat."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Attachment:
    """What hangs on a message, by name, type and size in bytes. Its content is never downloaded."""

    name: str
    mime_type: str
    size: int


@dataclass(frozen=True, slots=True)
class Unquoted:
    """What the sender wrote anew, where quotes of earlier messages were told apart from it."""

    text: str
    """Never empty."""
    cut_characters: int
    """How long the quotes were that were cut."""


@dataclass(frozen=True, slots=True)
class Message:
    """One Gmail message, read and decoded."""

    message_id: str
    thread_id: str
    labels: frozenset[str]
    internal_date: datetime
    """When Gmail received it, in UTC. The Date header is the sender's claim and is not used."""
    size: int
    """Gmail's sizeEstimate in bytes."""
    headers: tuple[Header, ...]
    text: str
    """The readable text with all quotes, from the text part or from the HTML; empty when there is none."""
    mime_type: str
    """Of the whole message, lower case: ``multipart/alternative``, ``multipart/report``, ``text/plain``…"""
    attachments: tuple[Attachment, ...]
    cleaned: int = 0
    """How many characters were removed or replaced to make the texts clean."""
    unquoted: Unquoted | None = None
    """``text`` without its quotes; None when nothing was cut."""
    headers_only: bool = False
    """The message is larger than the setting allows, and only its headers were read."""

    def header(self, name: str) -> str:
        """The first header of this name, in any case; empty when it is absent."""
        return next(self.header_values(name), "")

    def header_values(self, name: str) -> Iterator[str]:
        """Every header of this name, in order."""
        wanted = name.lower()
        return (header.value for header in self.headers if header.name.lower() == wanted)
