"""How long one read may wait for Gmail, so that a message that hangs can't use up the pass.

Lives here: ``Patience``, the seconds one read has for Gmail's answers, and how many those are. Not here: the pass's own
end (``bounds.py``), and what is done with a read that used its seconds up (``turns.py``).

Only waiting for answers, and between tries, counts. Waiting for quota or for an access token says nothing about the
message that is read.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from inbox_loop.errors import DeadlineExceeded, GmailUnreachable
from inbox_loop.gmail.bounds import Bounds

# A read may take this part of what its pass has left when it begins. What hangs later gets less, so that a pass has
# time for some dozens of them.
SHARE = 0.25

# But not less than this, in seconds: a slow answer near the end of a pass is the pass's end, not the message's fault.
SHORTEST_SECONDS = 5.0


class StillWaiting(GmailUnreachable):
    """A read used up its own time, and its pass goes on."""

    def __init__(self) -> None:
        super().__init__("Gmail did not answer within the time that one message may take.")


class Patience:
    """Seconds that one read may still wait for Gmail. For one thread."""

    def __init__(self, seconds: float) -> None:
        self.seconds_left = seconds

    @contextmanager
    def spending(self, bounds: Bounds) -> Iterator[Bounds]:
        """Inside, time counts; what is yielded ends with the pass or with this patience.

        Raises ``StillWaiting`` in place of ``DeadlineExceeded`` when the pass is not over.
        """
        begun_at = time.monotonic()
        try:
            yield bounds.within(self.seconds_left)
        except DeadlineExceeded as late:
            bounds.check()
            raise StillWaiting from late
        finally:
            self.seconds_left -= time.monotonic() - begun_at


def patience_for_one_read(bounds: Bounds) -> Patience:
    """What a read that begins now may use of its pass."""
    return Patience(max(SHARE * bounds.seconds_left(), SHORTEST_SECONDS))
