"""What the outbox's loop works with: a delivery, a receiver's answer, and the two it is handed.

Lives here: the values and the protocols. Not here: what is decided (``outbox.py``), the store
(``repository/outbox.py``) and the post (``webhook/sender.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from inbox_loop.task import TaskStatus


@dataclass(frozen=True, slots=True)
class TaskInBrief:
    """What a receiver is told of a task."""

    task_id: UUID
    number: int
    project: str | None
    title: str
    status: TaskStatus
    labels: tuple[str, ...]
    external_ref: str | None
    container_ref: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Delivery:
    """One notification, claimed to be posted. The task is as it was at the claim."""

    tenant_id: UUID
    notification_id: int
    event_id: UUID
    """The same at every attempt; what a receiver tells repetitions by."""
    topic: str
    created_at: datetime
    tenant: str
    attempts: int
    """With this one."""
    claimed_until: datetime
    """When others may claim it. Attempts and this moment together tell one claim from every other."""
    task: TaskInBrief


class Trouble(StrEnum):
    """Why a post brought no answer."""

    TIMEOUT = "timeout"
    NAME_UNKNOWN = "name_unknown"
    REFUSED = "refused"
    CERTIFICATE = "certificate"
    TLS = "tls"
    CLOSED = "closed"
    NETWORK = "network"
    BAD_ANSWER = "bad_answer"
    """What came is not HTTP."""
    FAULT = "fault"
    """An error that nobody foresaw; the log has its stack."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a receiver answered: the status alone counts, and how long it asks to be left alone."""

    status: int
    retry_after: timedelta | None = None


class Post(Protocol):
    """The way to the receiver."""

    def send(self, delivery: Delivery, at: datetime) -> Answer | Trouble:
        """Post the delivery, signed for the moment ``at``. Safe to call from several threads at once.

        Ends within a bounded time. Raises ``Stopped`` when it was cut off by a stop: the receiver may have got it.
        """


class Outbox(Protocol):
    """The notifications of all tenants that are still to be told."""

    def find_unannounced(self) -> bool:
        """Whether there are notifications that were not announced yet. A pure read."""

    def announce(self, limit: int) -> int:
        """Announce the oldest by NOTIFY and leave them to be posted; how many. Two at once never announce the same."""

    def find_closable(self) -> bool:
        """Whether any were announced that are neither delivered nor given up. A pure read."""

    def close_announced(self, limit: int) -> int:
        """Count those as delivered, whatever was tried before: there is no receiver any more. How many."""

    def claim_due(self, limit: int, lease: timedelta) -> tuple[Delivery, ...]:
        """Take deliveries whose time has come; no one else gets them for ``lease``. A pure read when there are none."""

    def record_delivered(self, delivery: Delivery) -> None:
        """The receiver has it."""

    def record_failed(self, delivery: Delivery, error: str, retry_in: timedelta) -> None:
        """The attempt failed; the next one is in ``retry_in``. Nothing, when someone else has claimed it meanwhile."""

    def record_given_up(self, delivery: Delivery, error: str) -> None:
        """The attempt failed and was the last. Nothing, when someone else has claimed it meanwhile."""

    def release(self, delivery: Delivery) -> None:
        """Give it back at once, as if it had not been claimed. Nothing, when someone else has claimed it meanwhile."""
