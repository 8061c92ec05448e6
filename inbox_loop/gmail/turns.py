"""Whose turn it is to be read, and when failures are the mailbox's rather than a message's.

Lives here: ``Turns``, the planned reads that wait. Not here: the plan (``plan.py``), and the reads (``reading.py``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from inbox_loop.errors import GmailUnreachable
from inbox_loop.gmail.patience import StillWaiting
from inbox_loop.gmail.plan import Read, ReadMessage
from inbox_loop.loop.ports import Fetched, MessageId

# So many messages in a row that could not be read, each after all its tries, are not about the messages any more.
FAILURES_IN_A_ROW = 5


class Turns:
    """The reads that wait: in their order, but from the far end while failures come in a row. Not thread-safe.

    Messages that hang come first again and again, being the oldest; the far end tells whether others can be read.
    Once one was, those that hang are trouble of their own, however many they are.
    """

    def __init__(self, reads: Sequence[Read]) -> None:
        self._waiting = deque(reads)
        self._failures = 0
        self._gmail_answers = False

    def take(self, count: int) -> list[Read]:
        """The next reads, at most so many."""
        next_one = self._waiting.pop if self._failures else self._waiting.popleft
        return [next_one() for _ in range(min(count, len(self._waiting)))]

    def put_first(self, messages: Sequence[MessageId]) -> None:
        """Read these next, one by one."""
        self._waiting.extendleft(ReadMessage(each) for each in reversed(messages))

    def note(self, fetched: Fetched) -> None:
        """Take in how a message fared; raises its error when that is the mailbox's."""
        error = fetched.result
        if not isinstance(error, GmailUnreachable):
            self._failures = 0
            self._gmail_answers = True
        elif not (self._gmail_answers and isinstance(error, StillWaiting)):
            self._failures += 1
            if self._failures >= FAILURES_IN_A_ROW:
                raise error
