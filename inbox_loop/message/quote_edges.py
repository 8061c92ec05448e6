"""Quotes with an edge on each line: ``>``, or an element of HTML. What stands between two of them is seen.

Lives here: finding them and the lines that announce them. Not here: quotes without an edge (``quote_tail.py``), and
which of the quotes go (``quotes.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inbox_loop.message.quote_attribution import Attributions
from inbox_loop.message.quote_marks import Mark, MarkedText
from inbox_loop.message.quote_signs import announces_forwarded, is_header_block, says_something

# With more runs of such lines in it than this, no quote of a text is looked at.
_MAX_RUNS = 500
# Of a quote, the lines in which what it is may be said.
_HEAD_LINES = 6
_MAX_HEAD_LINE_CHARACTERS = 1000
_MAX_ATTRIBUTION_LINES = 6


@dataclass(frozen=True, slots=True)
class Quote:
    """Lines from ``start`` to before ``end``, the attribution included if it stands above."""

    start: int
    end: int
    attributed: bool
    """Whether something says who is quoted, above or in the first lines."""


def list_quotes(text: MarkedText, attributions: Attributions, stop: int) -> list[Quote]:
    """The quotes of ``text`` before line ``stop``, in order, with something of the sender's own between any two.

    Forwarded mails and indented paragraphs are no quotes.
    """
    runs = list(_list_runs(text, stop))
    if len(runs) > _MAX_RUNS:
        return []
    found: list[Quote] = []
    for run in runs:
        quote = _read_run(text, attributions, run)
        if quote is None:
            continue
        if found and not any(map(says_something, text.lines[found[-1].end : quote.start])):
            earlier = found.pop()
            quote = Quote(earlier.start, quote.end, earlier.attributed or quote.attributed)
        found.append(quote)
    return found


def _list_runs(text: MarkedText, stop: int) -> Iterator[range]:
    """Lines in a row that have an edge of the same kind; empty lines between them belong to the run."""
    start: int | None = None
    end = 0
    for index in range(stop):
        if text.is_edged(index):
            if start is not None and text.is_plain_block(index) is not text.is_plain_block(start):
                yield range(start, end)
                start = None
            start = index if start is None else start
            end = index + 1
        elif start is not None and text.lines[index].strip():
            yield range(start, end)
            start = None
    if start is not None:
        yield range(start, end)


def _read_run(text: MarkedText, attributions: Attributions, run: range) -> Quote | None:
    """The quote in these lines; None if they are content."""
    head = [_take_edge_off(text.lines[index]) for index in run[:_HEAD_LINES]]
    if any(map(announces_forwarded, head)):
        return None
    above = _find_attribution_above(text, attributions, run.start)
    attributed = above is not None or _has_attribution(head)
    if text.is_plain_block(run.start) and not attributed:
        return None
    return Quote(run.start if above is None else above, run.stop, attributed)


def _find_attribution_above(text: MarkedText, attributions: Attributions, start: int) -> int | None:
    """The first line of the attribution above ``start``; None if there is none."""
    last = text.find_line_above(start)
    if last < 0 or text.is_edged(last):
        return None
    first = last
    while first >= 0 and text.marks[first] is Mark.ATTRIBUTION and last - first < _MAX_ATTRIBUTION_LINES:
        first -= 1
    return first + 1 if first < last else attributions.find_start(last)


def _has_attribution(head: list[str]) -> bool:
    """Whether the first lines of a quote say who is quoted, as Apple Mail and Yahoo write it."""
    attributions = Attributions(head)
    return any(attributions.find_start(index) is not None or is_header_block(head, index) for index in range(len(head)))


def _take_edge_off(line: str) -> str:
    return line[:_MAX_HEAD_LINE_CHARACTERS].lstrip("> ")
