"""The daemon's outbox: new tasks are announced, and posted to the webhook, or closed where there is none.

Each step looks twice a second, so each has a thread of its own that goes by the stop signal: in the schedule, a post
that takes its time would make APScheduler complain at every look it misses.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

import structlog

from inbox_loop.commands.relay import BATCH, announce_all
from inbox_loop.errors import InboxLoopError
from inbox_loop.loop.outbox import LEASE_SLACK, Deliveries, DeliveryLimits
from inbox_loop.loop.watch import REMINDER
from inbox_loop.repository.database import Database
from inbox_loop.repository.outbox import PostgresOutbox
from inbox_loop.settings import OutboxSettings, Settings
from inbox_loop.webhook.sender import Sender

log = structlog.get_logger()


@contextmanager
def relaying(settings: Settings, database: Database, stop: threading.Event) -> Iterator[None]:
    """Announce, and deliver or close, while inside. Leaving sets ``stop``, which cuts off the posts under way."""
    outbox = PostgresOutbox(database)
    seconds = settings.outbox.interval_seconds
    deliveries = open_deliveries(settings.outbox, outbox, stop)
    first = Step("announce", partial(announce_all, outbox))
    if deliveries is None:
        second = Step("close", partial(close_all, outbox, stop))
    else:
        second = Step("deliver", partial(deliver_due, deliveries, timedelta(seconds=seconds), stop))
    try:
        with _repeating(first, seconds, stop), _repeating(second, seconds, stop):
            yield
    finally:
        if deliveries is not None:
            Step("deliver", deliveries.finish).run()


def open_deliveries(settings: OutboxSettings, outbox: PostgresOutbox, stop: threading.Event) -> Deliveries | None:
    """Deliveries to the webhook, cut off by ``stop``; None when there is no webhook."""
    url, secret = settings.webhook_url, settings.webhook_secret
    if url is None or secret is None:
        return None
    post = Sender(
        url.get_secret_value(), secret.get_secret_value(), timeout_seconds=settings.webhook_timeout_seconds, stop=stop
    )
    limits = DeliveryLimits(
        lease=timedelta(seconds=settings.webhook_timeout_seconds) + LEASE_SLACK, attempts=settings.webhook_attempts
    )
    return Deliveries(outbox, post, limits, jitter=random.random)


def deliver_due(deliveries: Deliveries, patience: timedelta, stop: threading.Event) -> None:
    """Deliver what is due, as places become free, as long as the receiver takes it and no stop comes.

    Returns after ``patience`` without a delivery; posts may be under way then.
    """
    while not stop.is_set():
        deliveries.begin_due(datetime.now(UTC))
        if not deliveries.record_next(patience).delivered:
            return


def close_all(outbox: PostgresOutbox, stop: threading.Event) -> None:
    """Count as delivered all that was announced, by whomever and whenever: there is no webhook.

    A pure read when there is nothing.
    """
    if outbox.find_closable():
        while not stop.is_set() and outbox.close_announced(BATCH) == BATCH:
            continue


@dataclass(slots=True)
class Step:
    """Something done again and again. Its trouble is logged when it begins, changes or ends, and every 15 minutes."""

    name: str
    once: Callable[[], object]
    monotonic: Callable[[], float] = time.monotonic
    trouble: str | None = None
    """The code of what the last run met; None after a good one."""
    logged_at: float = 0.0
    """When trouble was logged last, by ``monotonic``."""

    def run(self) -> None:
        """Do it once. Returns after any trouble, since the next run may well succeed."""
        try:
            self.once()
        except InboxLoopError as error:
            if self._is_news(error.code):
                log.warning("outbox.interrupted", step=self.name, hint=error.hint, exc_info=error)
        except Exception:
            # A fault of our own must not end the thread of a daemon that nobody looks at; it is said, with its stack.
            if self._is_news("fault"):
                log.exception("outbox.fault", step=self.name)
        else:
            if self.trouble is not None:
                log.info("outbox.recovered", step=self.name, error=self.trouble)
            self.trouble = None

    def _is_news(self, trouble: str) -> bool:
        lasts, self.trouble = self.trouble == trouble, trouble
        if lasts and self.monotonic() - self.logged_at < REMINDER.total_seconds():
            return False
        self.logged_at = self.monotonic()
        return True


@contextmanager
def _repeating(step: Step, interval_seconds: float, stop: threading.Event) -> Iterator[None]:
    def repeat() -> None:
        while not stop.wait(interval_seconds):
            step.run()

    thread = threading.Thread(target=repeat, name=step.name)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
