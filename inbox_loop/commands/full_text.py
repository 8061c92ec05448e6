"""All of a message's text, with what its task leaves out as a quote marked as such. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inbox_loop.message.model import Message

LEFT_OUT = "| "
KEPT = "  "
LEGEND = f"The lines with a {LEFT_OUT.strip()} in front are a quote, which the task leaves out."


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a text."""

    text: str
    left_out: bool


def mark_lines(message: Message) -> tuple[Line, ...]:
    """The lines of the whole text, in order. What is left of it without the quotes is in it, line by line."""
    if message.unquoted is None:
        return tuple(Line(text, left_out=False) for text in message.text.split("\n"))
    return tuple(_mark(message.text, message.unquoted.text))


def _mark(text: str, kept: str) -> Iterator[Line]:
    """Each kept line is the next one in the text that equals it; an empty line goes with the one above.

    A text that is kept to its end is matched from there, so that no line of a quote above is taken for one of it.
    """
    above = text.rstrip().removesuffix(kept.strip())
    matched_from = above.count("\n") if len(above) < len(text.rstrip()) else 0
    waiting = [line.strip() for line in kept.split("\n") if line.strip()]
    position = 0
    left_out = False
    for number, line in enumerate(text.split("\n")):
        if line.strip():
            is_kept = number >= matched_from and position < len(waiting) and line.strip() == waiting[position]
            position += is_kept
            left_out = not is_kept
        yield Line(line, left_out)
