"""A message as a tree of MIME parts, before anything in it is decoded.

Lives here: ``Part``, and what its own headers say of it. Not here: how a tree becomes text (``body.py``), or how it
is made from Google's dict (``gmail/wire.py``) or from the bytes of a mail (``raw.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from inbox_loop.message.headers import decode_header
from inbox_loop.message.model import Header
from inbox_loop.message.parameters import Parameterized, parse_parameters

DEFAULT_MIME_TYPE = "text/plain"


# Without slots, so that what is read from the headers can be kept beside them.
@dataclass(frozen=True)
class Part:
    """One part: a leaf with data, or a container of parts. Headers are raw, as they stand in the mail."""

    mime_type: str
    """As Gmail or the Content-Type says it, in any case; may be empty."""
    filename: str
    """Decoded or not; empty when there is none."""
    headers: tuple[Header, ...]
    data: bytes | None
    """Content with its transfer encoding undone; None for a container, and for what was not downloaded."""
    size: int
    """In bytes, known also where ``data`` is None."""
    parts: tuple[Part, ...] = ()

    @property
    def kind(self) -> str:
        """The mime type in lower case; RFC 2045's default when there is none."""
        return self.mime_type.strip().lower() or DEFAULT_MIME_TYPE

    @cached_property
    def content_type(self) -> Parameterized:
        """The Content-Type header, parsed; empty when it is absent."""
        return parse_parameters(self.find_header("Content-Type"))

    @cached_property
    def disposition(self) -> Parameterized:
        """The Content-Disposition header, parsed; empty when it is absent."""
        return parse_parameters(self.find_header("Content-Disposition"))

    @cached_property
    def name(self) -> str:
        """The file name, decoded, without folders; empty when there is none. May not be clean yet."""
        name = (
            decode_header(self.filename)
            or self.disposition.parameters.get("filename")
            or self.content_type.parameters.get("name")
            or ""
        )
        return name.replace("\\", "/").rsplit("/", 1)[-1].strip()

    def find_header(self, name: str) -> str:
        """The raw value of the first header of this name, in any case; empty when it is absent."""
        wanted = name.lower()
        return next((header.value for header in self.headers if header.name.strip().lower() == wanted), "")


def walk(root: Part) -> Iterator[tuple[int, Part]]:
    """Every part below and including ``root`` with its depth (0 for ``root``), in the order of the mail."""
    waiting = [(0, root)]
    while waiting:
        depth, part = waiting.pop()
        yield depth, part
        waiting.extend((depth + 1, child) for child in reversed(part.parts))
