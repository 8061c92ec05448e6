"""Quota units: what a call costs, and how many an account may use in a minute.

Lives here: Google's cost table (quota page of the Gmail API, November 2026) and a sliding window over 60 seconds.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from inbox_loop.simulator.problems import ApiProblem

UNIT_COSTS: Mapping[str, int] = {
    "getProfile": 1,
    "history.list": 2,
    "labels.get": 1,
    "labels.list": 1,
    "messages.attachments.get": 20,
    "messages.get": 20,
    "messages.list": 5,
    "threads.get": 40,
    "threads.list": 10,
}
WINDOW_SECONDS = 60.0


class UnitWindow:
    """The units one account used in the last minute; safe between threads. Moments are monotonic seconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spent: deque[tuple[float, int]] = deque()
        self._sum = 0

    def spend(self, units: int, *, limit: int, now: float) -> float:
        """Spend and answer 0.0, or spend nothing and answer the seconds until it would be possible."""
        with self._lock:
            while self._spent and self._spent[0][0] <= now - WINDOW_SECONDS:
                self._sum -= self._spent.popleft()[1]
            if self._sum + units <= limit:
                self._spent.append((now, units))
                self._sum += units
                return 0.0
            return self._wait(self._sum + units - limit, now)

    def _wait(self, missing: int, now: float) -> float:
        for moment, units in self._spent:
            missing -= units
            if missing <= 0:
                return moment + WINDOW_SECONDS - now
        return WINDOW_SECONDS


def throttled(wait_seconds: float, *, count: int, moment: datetime) -> ApiProblem:
    """Google's two ways to say slow down, in turn: a 403 that names no time, and a 429 that does in its text."""
    if count % 2:
        details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "RATE_LIMIT_EXCEEDED"}]
        message = (
            "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute per user' of service "
            "'gmail.googleapis.com'"
        )
        return ApiProblem(403, "rateLimitExceeded", message, details=details)
    again = (moment + timedelta(seconds=wait_seconds)).astimezone(UTC)
    stamp = again.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return ApiProblem(429, "rateLimitExceeded", f"User-rate limit exceeded.  Retry after {stamp}")
