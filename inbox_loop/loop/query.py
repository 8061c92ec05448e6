"""Gmail search queries for a listing. Pure."""

from __future__ import annotations

import math

from inbox_loop.loop.ledger import DateRange


def listing_query(wanted: DateRange, extra: str = "") -> str:
    """The query for a range of dates, with the operator's own terms.

    Epoch seconds, because Gmail reads a date like 2026/11/30 as midnight Pacific time. ``after:`` is widened and
    ``before:`` rounded up to whole seconds: the search only narrows down, internalDate decides.
    """
    terms = []
    if wanted.after is not None:
        terms.append(f"after:{max(math.floor(wanted.after.timestamp()) - 1, 0)}")
    if wanted.before is not None:
        terms.append(f"before:{math.ceil(wanted.before.timestamp())}")
    if extra.strip():
        terms.append(extra.strip())
    return " ".join(terms)
