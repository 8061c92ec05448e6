"""The new text of a message apart from the quotes in it. In doubt the text stays.

Lives here: which of the quotes found in a text go. Not here: where they are (``quote_edges.py``, ``quote_tail.py``),
and which parts of a message are read (``body.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inbox_loop.message.quote_attribution import Attributions
from inbox_loop.message.quote_edges import Quote, list_quotes
from inbox_loop.message.quote_marks import MarkedText
from inbox_loop.message.quote_signs import says_something
from inbox_loop.message.quote_tail import Tail, find_tail
from inbox_loop.message.standing import Standing

# No one quotes as much; half a megabyte of the shortest lines is.
MAX_LINES = 50_000


def cut_quotes(text: MarkedText, standing: Standing) -> str:
    """``text`` without what is surely a quote; empty if nothing else is in it, and all of it if there is no quote.

    Of a message that answers none, all is content. A text of more lines than ``MAX_LINES`` stays as it is.
    """
    if standing in {Standing.NEW, Standing.FORWARD} or len(text.lines) > MAX_LINES:
        return str(text)
    attributions = Attributions(text.lines)
    tail = find_tail(text, attributions, standing)
    quotes = list_quotes(text, attributions, tail.start)
    gone = [(quote.start, quote.end) for quote in _choose(text, quotes, tail)]
    if tail.is_quote:
        gone.append((tail.start, len(text.lines)))
    return _leave_out(text.lines, gone)


def _choose(text: MarkedText, quotes: list[Quote], tail: Tail) -> Iterator[Quote]:
    """Those of ``quotes`` that go: the last if no own text follows, and a single one, where an attribution was seen.

    Between two quotes stands an answer, which can't be understood without them. Without any attribution, an edge may
    be the sender's own way to set lines apart.
    """
    if not quotes:
        return
    last = quotes[-1]
    followed = any(map(says_something, text.lines[last.end : tail.start])) or (
        not tail.is_quote and tail.start < len(text.lines)
    )
    if not followed:
        attributed = any(quote.attributed for quote in quotes)
        if last.attributed or (attributed and not text.leads_up_to(last.start)):
            yield last
    elif len(quotes) == 1 and last.attributed and not tail.is_quote:
        yield last


def _leave_out(lines: Sequence[str], gone: list[tuple[int, int]]) -> str:
    """``lines`` without those from start to before end; one empty line where something went in between."""
    if not gone:
        return "\n".join(lines)
    starts = (0, *(end for _, end in gone))
    stops = (*(start for start, _ in gone), len(lines))
    kept = ("\n".join(lines[start:stop]).strip("\n") for start, stop in zip(starts, stops, strict=True))
    return "\n\n".join(piece for piece in kept if piece.strip())
