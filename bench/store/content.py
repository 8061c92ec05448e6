"""What every side stores: the same refs, title, body and source. Runs where only the standard library is."""

from __future__ import annotations

from hashlib import md5

TITLE = "What about the delivery?"
BODY = "Please look into order 4711. " * 10
SOURCE = {"mailbox": "bench", "account": "desk@example.com"}


def ref(tenant: str, number: int) -> str:
    """The ref of a task, two to a thread, in no order, as ids look that come from busy threads.

    ``fill.py`` has the same in SQL.
    """
    return f"gmail:{_digits(f'{tenant}.{number // 2}')}#{_digits(f'{tenant}.{number}.')}"


def _digits(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()[:16]
