"""Quotes without an edge: the headers or the attribution of the quoted mail, and then its text, to the end.

Lives here: where such a quote begins, and whether it is one rather than a mail passed on. Nobody can tell its lines
from an answer written into it, so that in doubt it is content. Not here: quotes with an edge (``quote_edges.py``).
"""

from __future__ import annotations

from dataclasses import dataclass

from inbox_loop.message.quote_attribution import Attributions, could_end_attribution
from inbox_loop.message.quote_marks import Mark, MarkedText
from inbox_loop.message.quote_signs import (
    announces_forwarded,
    announces_original,
    begins_like_headers,
    find_role,
    is_header_block,
    is_programs_signature,
    is_rule,
    is_signed_answer,
    points_below,
    says_something,
)
from inbox_loop.message.standing import Standing

# How far below an announcement the quoted mail may begin.
_MAX_LINES_TO_MAIL = 4
# Places a text where it is looked whether a mail begins there.
_MAX_LOOKS = 200


@dataclass(frozen=True, slots=True)
class Tail:
    """The lines from ``start`` on, which may be none: one quote, or content."""

    start: int
    is_quote: bool


def find_tail(text: MarkedText, attributions: Attributions, standing: Standing) -> Tail:
    """The tail of ``text``: from the first line on that begins a quote without an edge, or a forwarded mail."""
    signs = _Signs(text, attributions)
    first_own: int | None = None
    for index, line in enumerate(text.lines):
        if text.is_edged(index) or not says_something(line):
            continue
        if first_own is None and not is_programs_signature(line):
            first_own = index
        if announces_forwarded(line):
            return Tail(index, is_quote=False)
        start = signs.find_start(index)
        if start is not None:
            answered = standing is Standing.ANSWER and first_own is not None and first_own < start
            rule = _include_rule(text, start)
            return Tail(rule, is_quote=answered and not _is_read_on(text, first_own or 0, rule))
    return Tail(len(text.lines), is_quote=False)


class _Signs:
    """Looks for the signs that a mail begins at a line, a bounded number of times."""

    def __init__(self, text: MarkedText, attributions: Attributions) -> None:
        self._text = text
        self._attributions = attributions
        self._looks_left = _MAX_LOOKS

    def find_start(self, index: int) -> int | None:
        """Where the quote starts whose first sign is the line at ``index``; None if that is no sign."""
        if self._is_header(index):
            return index
        if announces_original(self._text.lines[index]):
            return index if self._is_followed_by_mail(index) else None
        return self._find_attribution(index) if could_end_attribution(self._text.lines[index]) else None

    def _find_attribution(self, index: int) -> int | None:
        """The first line of an attribution beyond doubt, below which there is no edge; None if there is none."""
        below = self._text.find_line_below(index + 1)
        if below is not None and self._text.is_edged(below):
            return None
        start = self._attributions.find_start(index)
        return start if start is not None and self._attributions.names_sender(start, index) else None

    def _is_header(self, index: int) -> bool:
        lines = self._text.lines
        if find_role(lines[index]) is None or not self._may_look():
            return False
        if self._text.marks[index] is Mark.HEADERS and begins_like_headers(lines, index):
            return True
        return is_header_block(lines, index)

    def _is_followed_by_mail(self, index: int) -> bool:
        below = range(index + 1, min(index + 1 + _MAX_LINES_TO_MAIL, len(self._text.lines)))
        return self._may_look() and any(
            self._text.is_edged(line)
            or begins_like_headers(self._text.lines, line)
            or self._attributions.find_start(line) is not None
            for line in below
        )

    def _may_look(self) -> bool:
        self._looks_left -= 1
        return self._looks_left >= 0


def _include_rule(text: MarkedText, start: int) -> int:
    """``start``, or where the rule begins that is drawn above it."""
    above = text.find_line_above(start)
    return above if above >= 0 and is_rule(text.lines[above]) else start


def _is_read_on(text: MarkedText, first_own: int, start: int) -> bool:
    """Whether the sender has more to say below ``start``, or sends the reader there, in words from ``first_own`` on."""
    own = [line for line in text.lines[first_own:start] if says_something(line)]
    is_greeting = len(own) == 1 and own[0].rstrip().endswith(",")
    return is_greeting or text.leads_up_to(start) or points_below("\n".join(own)) or _has_answers(text, start)


def _has_answers(text: MarkedText, start: int) -> bool:
    """Whether own text seems to stand in the lines from ``start`` on: below an edge, or signed with a name in front."""
    seen_edge = False
    for index in range(start, len(text.lines)):
        line = text.lines[index]
        if text.is_edged(index):
            seen_edge = True
        elif (seen_edge and says_something(line)) or is_signed_answer(line):
            return True
    return False
