"""Calls to Gmail, tried until they succeed, fail for good, or the pass is over.

Lives here: quota before each try, waits between tries, one new access token on a 401, and the count of what was
used. Not here: what an answer means (``answers.py``), and the connection (``session.py``).

Google's own advice is the schedule: from 1 s, doubled, jittered, at most 64 s; a time that Gmail names goes first
(https://developers.google.com/workspace/gmail/api/guides/handle-errors).
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable, Mapping

import structlog

from inbox_loop.errors import DeadlineExceeded, GmailThrottled, GmailUnreachable, NeedsAuth
from inbox_loop.gmail.answers import TokenRejected
from inbox_loop.gmail.auth import Credentials
from inbox_loop.gmail.bounds import Bounds
from inbox_loop.gmail.patience import Patience
from inbox_loop.gmail.quota import Quota
from inbox_loop.gmail.session import Call, Sessions
from inbox_loop.gmail.token_file import login_command
from inbox_loop.gmail.wire import Answer
from inbox_loop.loop.ports import Usage

MAX_BACKOFF_SECONDS = 64.0
TRIES = 4
TRIES_WHEN_THROTTLED = 8

log = structlog.get_logger()


def backoff_seconds(base: float, failures: int, jitter: float) -> float:
    """The wait after so many failures (from 1), ``jitter`` in [0, 1) adding up to a quarter."""
    return min(base * 2.0 ** (failures - 1) * (1 + jitter / 4), MAX_BACKOFF_SECONDS)


def accept_any(_: Answer) -> None:
    """The check for an answer that does not say what it answers to."""


class Calls:
    """The calls of one mailbox. Thread-safe."""

    def __init__(
        self,
        mailbox: str,
        *,
        sessions: Sessions,
        credentials: Credentials,
        quota: Quota,
        costs: Mapping[str, int],
        backoff_base: float,
    ) -> None:
        self._mailbox = mailbox
        self._sessions = sessions
        self._credentials = credentials
        self._quota = quota
        self._costs = costs
        self._backoff_base = backoff_base
        self._lock = threading.Lock()
        self._usage = Usage(api_calls=0, quota_units=0)
        self._throttled_at: float | None = None

    def usage(self) -> Usage:
        """Totals so far, tries that failed included."""
        with self._lock:
            return self._usage

    def execute(
        self,
        call: Call,
        bounds: Bounds,
        check: Callable[[Answer], None] = accept_any,
        patience: Patience | None = None,
    ) -> Answer:
        """The answer to ``call``, once ``check`` accepts it; ``check`` raises ``GmailUnreachable`` to have another try.

        Raises the typed error of the last try, also when ``patience`` (None for without end) allows no other, or
        ``DeadlineExceeded`` when the pass has no time for another.
        """
        patience = patience or Patience(math.inf)
        failures = 0
        rejected = ""
        while True:
            try:
                token = self._credentials.find_token(bounds, rejected=rejected)
                return self._try_once(call, token, bounds, check, patience)
            except TokenRejected:
                if rejected:
                    raise NeedsAuth(
                        "Gmail does not accept the sign-in, not even with a new access token.",
                        hint=f"Sign in again: {login_command(self._mailbox)}",
                    ) from None
                rejected = token
            except GmailThrottled as error:
                failures += 1
                self._slow_down(call, error, failures, bounds)
            except GmailUnreachable as error:
                failures += 1
                self._wait(error, failures, bounds, patience)

    def _try_once(
        self, call: Call, token: str, bounds: Bounds, check: Callable[[Answer], None], patience: Patience
    ) -> Answer:
        cost = self._costs[call.method]
        self._quota.take(cost, bounds)
        started_at = time.monotonic()
        with self._lock:
            self._usage = Usage(self._usage.api_calls + 1, self._usage.quota_units + cost)
        with self._sessions.lend() as session, patience.spending(bounds) as limited:
            answer = session.execute(call, token, limited)
        check(answer)
        with self._lock:
            if self._throttled_at is not None and started_at > self._throttled_at:
                self._throttled_at = None
        return answer

    def _wait(self, error: GmailUnreachable, failures: int, bounds: Bounds, patience: Patience) -> None:
        """Let passing trouble pass; raise it when it has had its tries or its time."""
        seconds = backoff_seconds(self._backoff_base, failures, _jitter())
        if failures >= TRIES or seconds >= patience.seconds_left:
            raise error
        if seconds >= bounds.seconds_left():
            raise DeadlineExceeded(f"The pass used up its time on passing trouble. {error}", hint=error.hint) from error
        with patience.spending(bounds) as limited:
            limited.sleep(seconds)

    def _slow_down(self, call: Call, error: GmailThrottled, failures: int, bounds: Bounds) -> None:
        """Make all calls of this mailbox wait, and say so once until one succeeds again.

        Raises ``error`` when that has not helped, or can't within the pass.
        """
        seconds = max(error.retry_after, backoff_seconds(self._backoff_base, failures, _jitter()))
        self._quota.pause(seconds)
        with self._lock:
            is_news = self._throttled_at is None
            self._throttled_at = time.monotonic()
        if is_news:
            log.warning("gmail.throttled", mailbox=self._mailbox, method=call.method, wait_seconds=round(seconds, 3))
        if failures >= TRIES_WHEN_THROTTLED or seconds >= bounds.seconds_left():
            raise error


def _jitter() -> float:
    return random.random()  # noqa: S311  # spreads retries; nobody gains by guessing it
