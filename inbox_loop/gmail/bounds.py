"""How long a pass over a mailbox may last, and how every wait inside of it ends early.

Lives here: ``Bounds``, the deadline and the stop signals of one pass, and the waits that honour them.
Not here: what is waited for (``quota.py``, ``calls.py``, ``http.py``, ``auth.py``).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from inbox_loop.errors import DeadlineExceeded, Stopped

# A wait looks up so often, in seconds: what a stop takes at most to be noticed.
SLICE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Bounds:
    """The end of a pass: a moment of the monotonic clock (None for never), or any of the stop signals."""

    deadline: float | None
    stops: tuple[threading.Event, ...]

    def check(self) -> None:
        """Raise ``Stopped`` or ``DeadlineExceeded`` when the pass is over."""
        if any(stop.is_set() for stop in self.stops):
            raise Stopped("Stopped on request; what was finished stands.")
        if self.seconds_left() <= 0:
            raise DeadlineExceeded("The pass used up its time; the rest is for the next one.")

    def seconds_left(self) -> float:
        """Until the deadline; infinite without one, negative after it."""
        return float("inf") if self.deadline is None else self.deadline - time.monotonic()

    def check_fits(self, seconds: float) -> None:
        """Raise ``DeadlineExceeded`` when a wait of ``seconds`` would last past the deadline."""
        if seconds >= self.seconds_left():
            raise DeadlineExceeded("The pass has less time left than it would have to wait; the next one goes on.")

    def sleep(self, seconds: float) -> None:
        """Wait, unless the pass ends first; a wait that can't fit raises ``DeadlineExceeded`` at once."""
        self.check_fits(seconds)
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self.check()
            self.stops[0].wait(min(left, SLICE_SECONDS))
        self.check()

    @contextmanager
    def holding(self, lock: threading.Lock) -> Iterator[None]:
        """Hold ``lock``, giving up with ``Stopped`` or ``DeadlineExceeded`` when the pass ends before it is free."""
        while not lock.acquire(timeout=SLICE_SECONDS):
            self.check()
        try:
            yield
        finally:
            lock.release()

    def or_when(self, cancelled: threading.Event) -> Bounds:
        """These bounds, and over as well when ``cancelled`` is set."""
        return replace(self, stops=(*self.stops, cancelled))

    def within(self, seconds: float) -> Bounds:
        """These bounds, and over as well in ``seconds`` from now."""
        deadline = time.monotonic() + seconds
        return replace(self, deadline=deadline if self.deadline is None else min(deadline, self.deadline))
