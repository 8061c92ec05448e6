"""Deliver: post what is due in the outbox, and decide what follows from each answer.

Lives here: the decision, which is pure, and ``deliver_once``. Not here: when it runs (``commands/daemon_jobs.py``), the
protocols (``outbox_ports.py``).

At least once: a post whose answer was lost, or a process that died before it could record one, leads to another post
with the same id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from inbox_loop.errors import Stopped
from inbox_loop.loop.outbox_ports import Answer, Delivery, Outbox, Post, Trouble

FIRST_WAIT = timedelta(seconds=5)
LONGEST_WAIT = timedelta(hours=6)
# Waits are up to so much longer, so that what failed together is not tried again together.
JITTER = 0.2

# So many posts at the same time: a receiver that is slow with one does not hold up the others.
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
    """What one round of deliveries came to."""

    claimed: int = 0
    delivered: int = 0
    failed: int = 0
    given_up: int = 0
    released: int = 0
    """Cut off by a stop, and due again at once."""

    @property
    def may_go_on(self) -> bool:
        """Whether more may be due, and the receiver takes them."""
        return self.claimed == SIDE_BY_SIDE and self.delivered > 0


def deliver_once(
    outbox: Outbox, post: Post, limits: DeliveryLimits, *, now: datetime, jitter: Callable[[], float]
) -> DeliveryReport:
    """Claim what is due, at most ``SIDE_BY_SIDE``, post it side by side, and record what came of it.

    Nothing is written when nothing is due. Raises what the outbox raises; what was not recorded then is posted again
    after its lease.
    """
    deliveries = outbox.claim_due(SIDE_BY_SIDE, limits.lease)
    if not deliveries:
        return DeliveryReport()
    ends: list[type] = []
    for delivery, answer in _answers(deliveries, post, now):
        decision = None if answer is None else decide(answer, delivery.attempts, limit=limits.attempts, jitter=jitter())
        _record(outbox, delivery, decision)
        ends.append(type(decision))
    return DeliveryReport(
        claimed=len(deliveries),
        delivered=ends.count(Delivered),
        failed=ends.count(Retry),
        given_up=ends.count(GiveUp),
        released=ends.count(type(None)),
    )


def _answers(
    deliveries: tuple[Delivery, ...], post: Post, now: datetime
) -> Iterator[tuple[Delivery, Answer | Trouble | None]]:
    """Each delivery with its answer, as they come in; None when a stop cut it off."""

    def ask(delivery: Delivery) -> Answer | Trouble | None:
        try:
            return post.send(delivery, now)
        except Stopped:
            return None
        except Exception:
            # One delivery that can't be posted must not keep what became of the others from being recorded.
            log.exception("outbox.fault", step="post")
            return Trouble.FAULT

    with ThreadPoolExecutor(max_workers=len(deliveries), thread_name_prefix="post") as pool:
        asked = {pool.submit(ask, delivery): delivery for delivery in deliveries}
        for done in as_completed(asked):
            yield asked[done], done.result()


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
