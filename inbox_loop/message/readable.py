"""The text of a message, or of a part of it: all of it, and what is left without quotes.

Lives here: the pair, and how the texts of several parts become one. Not here: which parts are read (``body.py``), and
what a quote is (``quotes.py``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from inbox_loop.task import MAX_BODY_BYTES

# Twice what a task holds, so that whoever cuts the text for a task can tell that it was longer.
MAX_TEXT_CHARACTERS = 2 * MAX_BODY_BYTES


@dataclass(frozen=True, slots=True)
class Readable:
    """A text and what of it is new."""

    full: str
    new: str
    """Without quotes; may be empty, and is ``full`` where nothing was cut."""
    cut_characters: int = 0
    """How long the quotes were."""
    changes: int = 0
    """How many characters were removed or replaced to make it clean before it was read."""


def keep(text: str) -> Readable:
    """A text of which nothing is a quote."""
    return Readable(text, text)


def join(texts: Iterable[Readable]) -> Readable:
    """Texts one below the other, with an empty line between them, up to the limit."""
    found = list(texts)
    return Readable(
        full=_stack(text.full for text in found),
        new=_stack(text.new for text in found),
        cut_characters=sum(text.cut_characters for text in found),
        changes=sum(text.changes for text in found),
    )


def _stack(texts: Iterable[str]) -> str:
    stacked: list[str] = []
    left = MAX_TEXT_CHARACTERS
    for text in texts:
        trimmed = text.strip("\r\n")
        if trimmed.strip() and left > 0:
            stacked.append(trimmed[:left])
            left -= len(trimmed)
    return "\n\n".join(stacked)
