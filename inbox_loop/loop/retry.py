"""What becomes of a message that could not be read: tried again later, gone, or quarantined. Pure."""

from __future__ import annotations

from datetime import timedelta

from inbox_loop.errors import InboxLoopError, MessageGone, UnreadableMessage
from inbox_loop.loop.ledger import Due, MessageState, Outcome

FIRST_WAIT = timedelta(seconds=15)
LONGEST_WAIT = timedelta(hours=1)

NOT_FOUND = "not_found"


def backoff(attempts: int) -> timedelta:
    """How long to wait after this many failed attempts: doubled each time, up to an hour."""
    return min(FIRST_WAIT * (1 << min(attempts, 16)), LONGEST_WAIT)


def outcome_of_failure(due: Due, error: InboxLoopError, *, gone_after: timedelta) -> Outcome:
    """Decide what is recorded for a message that failed with ``error``.

    A 404 can mean that the message is not visible yet: it is tried again at once, then with growing waits, and is gone
    ``gone_after`` it was first seen. What can't be read goes to quarantine. Everything else is passing and stays
    pending, however long it lasts: nobody has to set it going again.
    """
    if isinstance(error, MessageGone):
        if due.age >= gone_after:
            return Outcome(due.message_id, due.revision, MessageState.GONE, NOT_FOUND)
        wait = timedelta() if due.attempts == 0 else min(backoff(due.attempts), gone_after - due.age)
        return Outcome(due.message_id, due.revision, MessageState.PENDING, NOT_FOUND, retry_in=wait)
    if isinstance(error, UnreadableMessage):
        return Outcome(due.message_id, due.revision, MessageState.QUARANTINED, error.reason)
    return Outcome(due.message_id, due.revision, MessageState.PENDING, error.code, retry_in=backoff(due.attempts))
