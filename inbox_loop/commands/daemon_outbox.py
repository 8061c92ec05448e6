"""The daemon's outbox: new tasks are announced, and posted to the webhook where there is one.

Both look twice a second, so each has a thread of its own that goes by the stop signal: in the schedule, a post that
takes its time would make APScheduler complain at every look it misses.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

import structlog

from inbox_loop.commands.relay import announce_all
from inbox_loop.errors import InboxLoopError
from inbox_loop.loop.outbox import LEASE_SLACK, DeliveryLimits, deliver_once
from inbox_loop.loop.outbox_ports import Post
from inbox_loop.repository.database import Database
from inbox_loop.repository.outbox import PostgresOutbox
from inbox_loop.settings import Settings
from inbox_loop.webhook.sender import Sender

log = structlog.get_logger()


@contextmanager
def relaying(settings: Settings, database: Database, stop: threading.Event) -> Iterator[None]:
    """Announce and deliver while inside. Leaving sets ``stop``, which cuts off the posts under way."""
    outbox = PostgresOutbox(database)
    steps = [Step("announce", lambda: announce_all(outbox, settings))]
    post = open_post(settings, stop)
    if post is not None:
        steps.append(Step("deliver", partial(deliver_all, outbox, post, settings, stop)))
    with ExitStack() as stack:
        for step in steps:
            stack.enter_context(_repeating(step, settings.outbox.interval_seconds, stop))
        yield


def open_post(settings: Settings, stop: threading.Event) -> Sender | None:
    """The way to the webhook; None when there is none."""
    url, secret = settings.outbox.webhook_url, settings.outbox.webhook_secret
    if url is None or secret is None:
        return None
    return Sender(
        url.get_secret_value(),
        secret.get_secret_value(),
        timeout_seconds=settings.outbox.webhook_timeout_seconds,
        stop=stop,
    )


def deliver_all(outbox: PostgresOutbox, post: Post, settings: Settings, stop: threading.Event) -> None:
    """Deliver what is due, round by round, as long as the receiver takes it and no stop comes."""
    limits = DeliveryLimits(
        lease=timedelta(seconds=settings.outbox.webhook_timeout_seconds) + LEASE_SLACK,
        attempts=settings.outbox.webhook_attempts,
    )
    while not stop.is_set():
        report = deliver_once(outbox, post, limits, now=datetime.now(UTC), jitter=random.random)
        if not report.may_go_on:
            return


@dataclass(slots=True)
class Step:
    """Something done again and again, whose trouble is logged when it begins and when it ends."""

    name: str
    once: Callable[[], object]
    trouble: str | None = None
    """The code of what the last run met; None after a good one."""

    def run(self) -> None:
        """Do it once. Returns after any trouble, since the next run may well succeed."""
        try:
            self.once()
        except InboxLoopError as error:
            if self.trouble is None:
                log.warning("outbox.interrupted", step=self.name, hint=error.hint, exc_info=error)
            self.trouble = error.code
        except Exception:
            # A fault of our own must not end the thread of a daemon that nobody looks at; it is said, with its stack.
            if self.trouble is None:
                log.exception("outbox.fault", step=self.name)
            self.trouble = "fault"
        else:
            if self.trouble is not None:
                log.info("outbox.recovered", step=self.name, error=self.trouble)
            self.trouble = None


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
