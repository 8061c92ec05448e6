"""The cursor: the historyId up to which every id of a mailbox is recorded. It only moves forward.

Lives here: what a historyId is, and when it is worth a write to move the cursor.
Not here: the write itself, which shares a transaction with the ids it covers (``loop/discover.py``).
"""

from __future__ import annotations

from datetime import timedelta

# An idle poll writes nothing, yet a cursor that never moves would age out of Gmail's history ("usually
# a week, rarely hours"). One write an hour keeps it young and costs an idle mailbox 24 rows a day.
REFRESH_AFTER = timedelta(hours=1)


def parse_history_id(text: str) -> int:
    """Read a historyId: an unsigned decimal string, up to 2^64-1 at Google, of any length elsewhere.

    Raises ``ValueError`` when it is anything else.
    """
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{text!r} is not a historyId")
    return int(text)


def next_cursor(current: int, reached: int, *, recorded: bool, age: timedelta) -> int | None:
    """The value to move the cursor to after a complete history pass, or None to leave it alone.

    ``recorded`` says that the pass has ids to write anyway; ``age`` is how long ago the cursor last moved.
    """
    if reached <= current:
        return None
    return reached if recorded or age >= REFRESH_AFTER else None
