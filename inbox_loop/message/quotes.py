"""The new text of a message apart from the quotes in it: which lines are surely a quote, and which of those go.

Lives here: the decision over the lines of one text. Not here: the signs of a quote (``quote_signs.py``,
``quote_attribution.py``), the marks that HTML leaves (``quote_marks.py``), and which parts are read (``body.py``).

Two kinds of quote are told apart. One has an edge on each line, ``>`` or an element of HTML, so that what the sender
wrote between such quotes is seen. The other begins with the headers or the attribution of the quoted mail and has no
end but that of the text. In doubt the text stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inbox_loop.message.quote_attribution import Attributions
from inbox_loop.message.quote_marks import Mark, MarkedText
from inbox_loop.message.quote_signs import (
    announces_forwarded,
    announces_original,
    begins_like_headers,
    find_role,
    is_header_block,
    is_programs_signature,
    is_rule,
    points_below,
    says_something,
)
from inbox_loop.message.standing import Standing

# No one quotes as much; half a megabyte of the shortest lines is.
MAX_LINES = 50_000
# How far an attribution may stand above its quote, and how far below an announcement the headers may begin.
_MAX_BLANK_LINES = 2
_MAX_LINES_TO_HEADERS = 4
# Places a text where it is looked whether the headers of a mail stand there.
_MAX_LOOKS = 200
# With more quotes in it than this, a text stays as it is.
_MAX_RUNS = 500
# Of a quote, the lines in which what it is may be said.
_HEAD_LINES = 6
_MAX_HEAD_LINE_CHARACTERS = 1000
_ATTRIBUTION_LINES = 6


@dataclass(frozen=True, slots=True)
class _Quote:
    """Lines from ``start`` to before ``end``, the attribution included if it stands above."""

    start: int
    end: int
    attributed: bool


@dataclass(frozen=True, slots=True)
class _Tail:
    """Where the edged part of a text ends, and whether what follows is a quote or content."""

    start: int
    is_quote: bool


def cut_quotes(text: MarkedText, standing: Standing) -> str:
    """``text`` without what is surely a quote; empty if nothing else is in it, and all of it if there is no quote.

    Of a message that passes a mail on, all is content. A text of more lines than ``MAX_LINES`` stays as it is.
    """
    if standing is Standing.FORWARD or len(text.lines) > MAX_LINES:
        return str(text)
    return _Cutter(text, standing).cut()


class _Cutter:
    """Decides over one text."""

    def __init__(self, text: MarkedText, standing: Standing) -> None:
        self._lines = text.lines
        self._marks = text.marks
        self._standing = standing
        self._attributions = Attributions(text.lines)
        self._looks_left = _MAX_LOOKS

    def cut(self) -> str:
        tail = self._find_tail()
        gone = list(self._choose(self._list_quotes(tail.start), tail))
        if tail.is_quote:
            gone.append(_Quote(tail.start, len(self._lines), attributed=True))
        return _without(self._lines, gone)

    # --- the tail: from a place on, all is the quoted mail, or all is a forwarded one -------------------------------

    def _find_tail(self) -> _Tail:
        first_own: int | None = None
        for index, line in enumerate(self._lines):
            if self._is_edged(index) or not says_something(line):
                continue
            if first_own is None and not is_programs_signature(line):
                first_own = index
            if announces_forwarded(line):
                return _Tail(index, is_quote=False)
            start = self._find_tail_start(index)
            if start is not None:
                return self._judge_tail(first_own, start)
        return _Tail(len(self._lines), is_quote=False)

    def _judge_tail(self, first_own: int | None, start: int) -> _Tail:
        """A quote only where an answer stands above that does not lead down into it; a mail passed on otherwise."""
        answered = self._standing is Standing.ANSWER and first_own is not None and first_own < start
        above = "\n".join(self._lines[first_own:start])
        start = self._include_rule(start)
        return _Tail(start, is_quote=answered and not self._introduces(start) and not points_below(above))

    def _find_tail_start(self, index: int) -> int | None:
        """Where a quote without edges starts whose first sign is the line at ``index``; None if that is no sign."""
        if self._is_headers(index):
            return index
        if announces_original(self._lines[index]):
            return index if self._is_followed_by_quoted_mail(index) else None
        if self._is_edged_after(index + 1):
            return None
        start = self._attributions.find_start(index)
        return start if start is not None and self._attributions.names_sender(start, index) else None

    def _is_headers(self, index: int) -> bool:
        if find_role(self._lines[index]) is None or not self._may_look():
            return False
        if self._marks[index] is Mark.HEADERS and begins_like_headers(self._lines, index):
            return True
        return is_header_block(self._lines, index)

    def _is_followed_by_quoted_mail(self, index: int) -> bool:
        below = range(index + 1, min(index + 1 + _MAX_LINES_TO_HEADERS, len(self._lines)))
        return self._may_look() and any(
            self._is_edged(line)
            or begins_like_headers(self._lines, line)
            or self._attributions.find_start(line) is not None
            for line in below
        )

    def _may_look(self) -> bool:
        self._looks_left -= 1
        return self._looks_left >= 0

    def _include_rule(self, start: int) -> int:
        """``start``, or where the rule begins that is drawn above it."""
        above = self._skip_blank_lines_above(start)
        return above if above >= 0 and is_rule(self._lines[above]) else start

    # --- quotes with edges -----------------------------------------------------------------------------------------

    def _list_quotes(self, stop: int) -> list[_Quote]:
        """The quotes before line ``stop``, in order, with text of the sender's own between any two."""
        runs = list(self._list_runs(stop))
        if len(runs) > _MAX_RUNS:
            return []
        found: list[_Quote] = []
        for run in runs:
            quote = self._read_run(run)
            if quote is None:
                continue
            if found and not self._says_something(found[-1].end, quote.start):
                quote = _Quote(found[-1].start, quote.end, found[-1].attributed or quote.attributed)
                found.pop()
            found.append(quote)
        return found

    def _list_runs(self, stop: int) -> Iterator[range]:
        """Lines in a row that have an edge of the same kind; empty lines between them belong to the run."""
        start: int | None = None
        end = 0
        for index in range(stop):
            edged = self._is_edged(index)
            if start is not None and edged and self._is_weak(index) is self._is_weak(start):
                end = index + 1
            elif edged:
                if start is not None:
                    yield range(start, end)
                start, end = index, index + 1
            elif start is not None and self._lines[index].strip():
                yield range(start, end)
                start = None
        if start is not None:
            yield range(start, end)

    def _read_run(self, run: range) -> _Quote | None:
        """The quote in these lines; None if they are content: a forwarded mail, or an indented paragraph."""
        above = self._find_attribution_above(run.start)
        head = [_take_edge_off(self._lines[index]) for index in run[:_HEAD_LINES]]
        if any(map(announces_forwarded, head)):
            return None
        attributed = above is not None or _has_attribution(head)
        if self._is_weak(run.start) and not attributed:
            return None
        return _Quote(run.start if above is None else above, run.stop, attributed)

    def _find_attribution_above(self, start: int) -> int | None:
        last = self._skip_blank_lines_above(start)
        if last < 0 or self._is_edged(last):
            return None
        first = last
        while first >= 0 and self._marks[first] is Mark.ATTRIBUTION and last - first < _ATTRIBUTION_LINES:
            first -= 1
        return first + 1 if first < last else self._attributions.find_start(last)

    def _choose(self, quotes: list[_Quote], tail: _Tail) -> Iterator[_Quote]:
        """Those of ``quotes`` that go: the last if no own text follows, and a single one with an attribution."""
        if not quotes:
            return
        last = quotes[-1]
        if not self._says_something(last.end, tail.start) and (tail.is_quote or tail.start == len(self._lines)):
            answers = self._standing is Standing.ANSWER or any(quote.attributed for quote in quotes)
            if last.attributed or (answers and not self._introduces(last.start)):
                yield last
        elif len(quotes) == 1 and last.attributed and not tail.is_quote:
            yield last

    def _introduces(self, start: int) -> bool:
        """Whether the sender's own words above lead up to the quote, as in "it says:"."""
        above = self._skip_blank_lines_above(start)
        return above >= 0 and not self._is_edged(above) and self._lines[above].rstrip().endswith((":", "\uff1a"))

    # --- lines -----------------------------------------------------------------------------------------------------

    def _is_edged(self, index: int) -> bool:
        return self._lines[index].startswith(">") or self._marks[index] in (Mark.QUOTE, Mark.BLOCK)

    def _is_weak(self, index: int) -> bool:
        return self._marks[index] is Mark.BLOCK and not self._lines[index].startswith(">")

    def _is_edged_after(self, index: int) -> bool:
        """Whether the next line that is not empty, from ``index`` on, has an edge."""
        for below in range(index, min(index + _MAX_BLANK_LINES + 1, len(self._lines))):
            if self._is_edged(below):
                return True
            if self._lines[below].strip():
                return False
        return False

    def _skip_blank_lines_above(self, start: int) -> int:
        """The line above ``start``, some empty ones skipped; -1 if there is none."""
        above = start - 1
        while above >= max(0, start - 1 - _MAX_BLANK_LINES) and not self._lines[above].strip():
            above -= 1
        return above

    def _says_something(self, start: int, stop: int) -> bool:
        return any(says_something(self._lines[index]) for index in range(start, stop))


def _has_attribution(head: list[str]) -> bool:
    """Whether the first lines of a quote say what is quoted, as Apple Mail and Yahoo write it."""
    attributions = Attributions(head)
    return any(attributions.find_start(index) is not None or is_header_block(head, index) for index in range(len(head)))


def _take_edge_off(line: str) -> str:
    return line[:_MAX_HEAD_LINE_CHARACTERS].lstrip("> ")


def _without(lines: Sequence[str], gone: list[_Quote]) -> str:
    """``lines`` without those of ``gone``, which is in order; one empty line where something went in between."""
    if not gone:
        return "\n".join(lines)
    starts = (0, *(quote.end for quote in gone))
    stops = (*(quote.start for quote in gone), len(lines))
    kept = ("\n".join(lines[start:stop]).strip("\n") for start, stop in zip(starts, stops, strict=True))
    return "\n\n".join(piece for piece in kept if piece.strip())
