"""Text in lines, each with what the HTML around it said about quotes.

Lives here: the marks, which element of HTML mail earns which, and what stands around a line. Not here: how HTML
becomes lines (``html_text.py``), and what is made of a mark (``quotes.py``): a mark alone cuts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Mark(StrEnum):
    """What an element says of the lines in it. Of nested ones, the first in this order counts."""

    QUOTE = "quote"
    """Mail programs make it for quotes alone."""
    BLOCK = "block"
    """A plain blockquote: a quote where a line announces one, otherwise content."""
    HEADERS = "headers"
    """Outlook puts the headers of the mail quoted below into it."""
    ATTRIBUTION = "attribution"
    """Holds the line that announces a quote, or a forwarded mail."""


# How far a line may stand from the one it belongs to.
_MAX_EMPTY_LINES = 2


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text, line by line, and as many marks; None for a line of which nothing is known."""

    lines: Sequence[str]
    marks: Sequence[Mark | None]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def is_edged(self, index: int) -> bool:
        """Whether the line has the edge of a quote: ``>``, or a blockquote around it."""
        return self.lines[index].startswith(">") or self.marks[index] in (Mark.QUOTE, Mark.BLOCK)

    def is_plain_block(self, index: int) -> bool:
        """Whether a plain blockquote is all the edge that the line has."""
        return self.marks[index] is Mark.BLOCK and not self.lines[index].startswith(">")

    def find_line_above(self, start: int) -> int:
        """The next line above ``start`` that is not empty, or not far above; -1 if there is none."""
        above = start - 1
        while above >= max(0, start - 1 - _MAX_EMPTY_LINES) and not self.lines[above].strip():
            above -= 1
        return above

    def find_line_below(self, start: int) -> int | None:
        """The next line from ``start`` on that is not empty; None if there is none near."""
        near = range(start, min(start + _MAX_EMPTY_LINES + 1, len(self.lines)))
        return next((below for below in near if self.lines[below].strip()), None)

    def leads_up_to(self, start: int) -> bool:
        """Whether the words above ``start`` lead up to what stands there, as "it says:" does."""
        above = self.find_line_above(start)
        return above >= 0 and not self.is_edged(above) and self.lines[above].rstrip().endswith((":", "\uff1a"))


_MAX_ATTRIBUTE_CHARACTERS = 500
# The programs: Gmail, Proton Mail, Tuta, Zoho.
_QUOTE_BLOCKS = frozenset({"gmail_quote", "protonmail_quote", "tutanota_quote", "blockquote_zmail"})
_ATTRIBUTIONS = frozenset({"gmail_attr", "moz-cite-prefix"})
_HEADERS = frozenset({"divrplyfwdmsg"})
# Outlook for the desktop draws a thin grey or blue line above the headers.
_HEADERS_BORDER = "border-top:solid"
_HEADERS_COLOURS = ("#e1e1e1", "#b5c4df")


def mark_nothing(text: str) -> MarkedText:
    """Plain ``text``, of which no element said anything."""
    lines = text.split("\n")
    return MarkedText(lines, [None] * len(lines))


def find_mark(tag: str, attributes: Mapping[str, str]) -> Mark | None:
    """The mark of an element by its tag and attributes; None if it has no say."""
    known = {name: value[:_MAX_ATTRIBUTE_CHARACTERS].lower() for name, value in attributes.items()}
    names = {*known.get("class", "").split(), known.get("id", "").strip()}
    if tag == "blockquote":
        cited = known.get("type", "").strip() == "cite" or not names.isdisjoint(_QUOTE_BLOCKS)
        return Mark.QUOTE if cited else Mark.BLOCK
    if tag != "div":
        return None
    # The last is made by GMX and WEB.DE.
    if any(name.startswith("yahoo_quoted") for name in names) or known.get("name") == "quote":
        return Mark.QUOTE
    if not names.isdisjoint(_HEADERS) or _has_outlook_border(known.get("style", "")):
        return Mark.HEADERS
    return Mark.ATTRIBUTION if not names.isdisjoint(_ATTRIBUTIONS) else None


def _has_outlook_border(style: str) -> bool:
    packed = "".join(style.split())
    return _HEADERS_BORDER in packed and any(colour in packed for colour in _HEADERS_COLOURS)
