"""Deliver: post what is due in the outbox, and decide what follows from each answer.

Lives here: the decision, which is pure, and ``Deliveries``. Not here: when it runs (``commands/daemon_outbox.py``), the
protocols (``outbox_ports.py``).

At least once: a post whose answer was lost, or a process that died before it could record one, leads to another post
with the same id.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from inbox_loop.errors import Stopped
from inbox_loop.loop.outbox_ports import Answer, Delivery, Outbox, Post, Trouble

FIRST_WAIT = timedelta(seconds=5)
LONGEST_WAIT = timedelta(hours=6)
# Waits are up to so much longer, so that what failed together is not tried again together.
JITTER = 0.2

# So many posts at the same time. Each has its place until it ends, and a free place is filled at the next look: a post
# that hangs holds up the others only when there are so many of its kind.
SIDE_BY_SIDE = 8
# A claim outlives the time limit of a post by so much: to look up the receiver's name, and to record the answer.
LEASE_SLACK = timedelta(seconds=60)

GONE = 410

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Delivered:
    """The receiver has it."""


@dataclass(frozen=True, slots=True)
class Retry:
    """It is to be tried again."""

    error: str
    wait: timedelta


@dataclass(frozen=True, slots=True)
class GiveUp:
    """It is not tried again, until a person asks for it."""

    error: str


def decide(answer: Answer | Trouble, attempts: int, *, limit: int, jitter: float) -> Delivered | Retry | GiveUp:
    """What follows from the answer to attempt number ``attempts``; ``jitter`` is 0 to 1.

    A status of 2xx is delivered, 410 gives up at once. Anything else is tried again after ``backoff``, or after the
    wait that the receiver asks for if that is longer, at most six hours; and given up after ``limit`` attempts.
    """
    if isinstance(answer, Answer) and answer.status // 100 == 2:  # noqa: PLR2004 - the hundreds of a status are its kind
        return Delivered()
    error = f"http_{answer.status}" if isinstance(answer, Answer) else answer.value
    if attempts >= limit or (isinstance(answer, Answer) and answer.status == GONE):
        return GiveUp(error)
    asked = (answer.retry_after if isinstance(answer, Answer) else None) or timedelta()
    return Retry(error, min(max(backoff(attempts, jitter), asked), LONGEST_WAIT))


def backoff(attempts: int, jitter: float) -> timedelta:
    """The wait after so many failed attempts: 5 s after the first, doubled each time, up to six hours."""
    doubled = FIRST_WAIT * (1 << min(attempts - 1, 16))
    return min(doubled * (1 + JITTER * jitter), LONGEST_WAIT)


@dataclass(frozen=True, slots=True)
class DeliveryLimits:
    """How long a delivery may be held and how often it is tried."""

    lease: timedelta
    attempts: int


@dataclass(frozen=True, slots=True)
class DeliveryReport:
    """What the posts that ended came to."""

    delivered: int = 0
    failed: int = 0
    given_up: int = 0
    released: int = 0
    """Cut off by a stop, and due again at once."""


Ended = Answer | Trouble | None
"""What a post came to; None when a stop cut it off."""


class Deliveries:
    """The deliveries under way, at most ``SIDE_BY_SIDE``. One thread claims and records; each post has one of its own.

    Its methods raise what the outbox raises; what was not recorded then is posted again after its lease.
    """

    def __init__(self, outbox: Outbox, post: Post, limits: DeliveryLimits, *, jitter: Callable[[], float]) -> None:
        self._outbox = outbox
        self._post = post
        self._limits = limits
        self._jitter = jitter
        self._pool = ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix="post")
        self._under_way: dict[Future[Ended], Delivery] = {}

    def begin_due(self, now: datetime) -> int:
        """Claim what is due, as far as there are free places, and begin to post it; how many. Signed for ``now``.

        Nothing is written when nothing is due.
        """
        free = SIDE_BY_SIDE - len(self._under_way)
        due = self._outbox.claim_due(free, self._limits.lease) if free else ()
        for delivery in due:
            self._under_way[self._pool.submit(_ask, self._post, delivery, now)] = delivery
        return len(due)

    def record_next(self, patience: timedelta) -> DeliveryReport:
        """Wait until a post ends, at most for ``patience``, and record those that have. Returns at once without any."""
        ended, _ = wait(self._under_way, timeout=patience.total_seconds(), return_when=FIRST_COMPLETED)
        return self._record_all(ended)

    def finish(self) -> DeliveryReport:
        """Wait for every post under way, and record it. The last call."""
        self._pool.shutdown()
        return self._record_all(tuple(self._under_way))

    def _record_all(self, ended: Collection[Future[Ended]]) -> DeliveryReport:
        kinds: list[type] = []
        for future in ended:
            delivery, answer = self._under_way.pop(future), future.result()
            decision = None if answer is None else self._decide(answer, delivery)
            _record(self._outbox, delivery, decision)
            kinds.append(type(decision))
        return DeliveryReport(
            delivered=kinds.count(Delivered),
            failed=kinds.count(Retry),
            given_up=kinds.count(GiveUp),
            released=kinds.count(type(None)),
        )

    def _decide(self, answer: Answer | Trouble, delivery: Delivery) -> Delivered | Retry | GiveUp:
        return decide(answer, delivery.attempts, limit=self._limits.attempts, jitter=self._jitter())


def _ask(post: Post, delivery: Delivery, now: datetime) -> Ended:
    try:
        return post.send(delivery, now)
    except Stopped:
        return None
    except Exception:
        # One delivery that can't be posted must not keep what became of the others from being recorded.
        log.exception("outbox.fault", step="post")
        return Trouble.FAULT


def _record(outbox: Outbox, delivery: Delivery, decision: Delivered | Retry | GiveUp | None) -> None:
    """Record what was decided of a delivery, and log it. None: a stop cut it off."""
    match decision:
        case None:
            outbox.release(delivery)
        case Delivered():
            outbox.record_delivered(delivery)
            log.info("outbox.delivered", **_fields(delivery))
        case Retry(error, wait):
            outbox.record_failed(delivery, error, wait)
            log.warning(
                "outbox.failed", **_fields(delivery), reason=error, retry_in_seconds=round(wait.total_seconds())
            )
        case GiveUp(error):
            outbox.record_given_up(delivery, error)
            log.error("outbox.gave_up", **_fields(delivery), reason=error)


def _fields(delivery: Delivery) -> dict[str, object]:
    return {
        "tenant": delivery.tenant,
        "task_number": delivery.task.number,
        "event_id": delivery.event_id,
        "attempts": delivery.attempts,
    }
