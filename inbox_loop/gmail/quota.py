"""Quota units: how fast a mailbox may be asked.

Google allows each user a number of units a minute (https://developers.google.com/workspace/gmail/api/reference/quota).

Terms and rules:
* ``Allowance`` is the arithmetic: units granted, by moment. It never waits.
* The bucket fills at 98 % of the allowance and holds 1.5 % of it (or one call of the dearest method, when that is
  more), so that calls flow evenly and no window of 60 seconds can hold more than the allowance.
* Where one call is a large part of the allowance, the bucket alone would not keep that promise; so every grant is
  also held against the sum of the 60 seconds before it.
* ``Quota`` is shared by all threads of a mailbox: first come, first served; it waits within the bounds of a pass.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping

from inbox_loop.errors import GmailThrottled
from inbox_loop.gmail.bounds import SLICE_SECONDS, Bounds
from inbox_loop.settings import METHOD_COSTS

WINDOW_SECONDS = 60.0
# Grants are remembered a little longer, because calls do not arrive at the pace at which they were granted.
REMEMBERED_SECONDS = 60.1
RATE = 0.98
BURST = 0.015


def method_costs(overrides: Mapping[str, int]) -> Mapping[str, int]:
    """Units by method: Google's table, with the settings' own numbers in place of it where they are given."""
    return {**METHOD_COSTS, **overrides}


class Allowance:
    """When units may be spent. Moments are seconds of any clock that only goes forward. Not thread-safe."""

    def __init__(self, units_per_minute: int, *, dearest: int, now: float) -> None:
        self._window = units_per_minute
        self._rate = RATE * units_per_minute / WINDOW_SECONDS
        self._size = float(min(max(BURST * units_per_minute, dearest), units_per_minute))
        self._level = self._size
        self._levelled_at = now
        self._granted: deque[tuple[float, int]] = deque()
        self._in_window = 0
        self._paused_until = now

    def wait_seconds(self, units: int, now: float) -> float:
        """How long until ``units`` may be spent, 0 for at once. A call dearer than the allowance is as dear as it."""
        self._move_to(now)
        units = min(units, self._window)
        bucket = (min(units, self._size) - self._level) / self._rate
        return max(0.0, bucket, self._window_wait(units, now), self.paused_seconds(now))

    def grant(self, units: int, now: float) -> None:
        """Spend ``units`` at ``now``."""
        self._move_to(now)
        units = min(units, self._window)
        self._level -= units
        self._in_window += units
        self._granted.append((now, units))

    def pause(self, until: float) -> None:
        """Grant nothing before ``until``; a pause never shortens another."""
        self._paused_until = max(self._paused_until, until)

    def paused_seconds(self, now: float) -> float:
        """How long a pause still lasts; 0 outside of one."""
        return max(0.0, self._paused_until - now)

    def _move_to(self, now: float) -> None:
        self._level = min(self._size, self._level + self._rate * (now - self._levelled_at))
        self._levelled_at = now
        while self._granted and self._granted[0][0] + REMEMBERED_SECONDS <= now:
            self._in_window -= self._granted.popleft()[1]

    def _window_wait(self, units: int, now: float) -> float:
        """Until enough of the last 60 seconds' grants are older than that."""
        excess = self._in_window + units - self._window
        for granted_at, granted in self._granted:
            if excess <= 0:
                break
            excess -= granted
            leaves_at = granted_at + REMEMBERED_SECONDS
            if excess <= 0:
                return leaves_at - now
        return 0.0


class Quota:
    """The allowance of one mailbox, shared by its threads."""

    def __init__(self, units_per_minute: int, *, dearest: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._allowance = Allowance(units_per_minute, dearest=dearest, now=clock())
        self._queue: deque[object] = deque()
        self._changed = threading.Condition()

    def take(self, units: int, bounds: Bounds) -> None:
        """Wait until ``units`` may be spent, and spend them.

        Raises ``Stopped``, or at once when the wait outlasts the pass: ``GmailThrottled`` if Gmail asked for it, else
        ``DeadlineExceeded``.
        """
        ticket = object()
        with self._changed:
            self._queue.append(ticket)
            try:
                self._wait_for_turn(ticket, units, bounds)
                self._allowance.grant(units, self._clock())
            finally:
                self._queue.remove(ticket)
                self._changed.notify_all()

    def pause(self, seconds: float) -> None:
        """Let nobody spend anything for so long."""
        with self._changed:
            self._allowance.pause(self._clock() + seconds)

    def count_waiting(self) -> int:
        """How many threads are waiting for units."""
        with self._changed:
            return len(self._queue)

    def _wait_for_turn(self, ticket: object, units: int, bounds: Bounds) -> None:
        while True:
            bounds.check()
            first = self._queue[0] is ticket
            seconds = self._allowance.wait_seconds(units, self._clock()) if first else SLICE_SECONDS
            if seconds <= 0:
                return
            if first:
                self._check_fits(seconds, bounds)
            self._changed.wait(min(seconds, SLICE_SECONDS))

    def _check_fits(self, seconds: float, bounds: Bounds) -> None:
        """Give up at once on a wait that outlasts the pass, naming Gmail's own pause when that is the reason."""
        paused = self._allowance.paused_seconds(self._clock())
        if paused >= bounds.seconds_left():
            raise GmailThrottled("Gmail asked to slow down, for longer than the pass lasts.", retry_after=paused)
        bounds.check_fits(seconds)
