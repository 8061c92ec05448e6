"""The outbox on Postgres: notifications announced by NOTIFY, claimed for delivery, and what became of them.

For all tenants at once: it works on sessions that are bound to none. Not here: staging a notification, which the
transaction of the change does (``migrations/``); what is posted, and when to give up (``loop/outbox.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from psycopg.rows import DictRow

from inbox_loop.loop.outbox_ports import Delivery, TaskInBrief
from inbox_loop.repository.database import Database
from inbox_loop.repository.statements import Statements
from inbox_loop.task import TaskStatus

CHANNEL = "inbox_loop_tasks"
_SQL = Statements("outbox")


@dataclass(frozen=True, slots=True)
class OutboxState:
    """How much of the outbox is still to be done."""

    unannounced: int
    oldest_unannounced_at: datetime | None
    undelivered: int
    """Not posted yet, those that are under way or wait for another attempt included; not those given up."""
    oldest_undelivered_at: datetime | None
    given_up: int


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """A notification that waits to be delivered or was given up."""

    tenant: str
    task_number: int
    event_id: UUID
    topic: str
    created_at: datetime
    attempts: int
    next_attempt_at: datetime
    last_error: str | None
    """A short code; None before the first failure."""
    announced_at: datetime | None
    gave_up_at: datetime | None


class PostgresOutbox:
    """``Outbox`` on Postgres. Safe to use from several threads and processes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find_unannounced(self) -> bool:
        """Whether there are notifications that were not announced yet. A pure read."""
        row = self._database.row(_SQL["find_unannounced"])
        return row is not None and bool(row["waiting"])

    def announce(self, limit: int) -> int:
        """Announce the oldest by NOTIFY and leave them to be posted; how many. Two at once never announce the same."""
        return len(self._database.rows(_SQL["announce"], {"limit": limit}))

    def find_closable(self) -> bool:
        """Whether any were announced that are neither delivered nor given up. A pure read."""
        row = self._database.row(_SQL["find_closable"])
        return row is not None and bool(row["closable"])

    def close_announced(self, limit: int) -> int:
        """Count those as delivered, whatever was tried before: there is no receiver any more. How many."""
        return len(self._database.rows(_SQL["close_announced"], {"limit": limit}))

    def claim_due(self, limit: int, lease: timedelta) -> tuple[Delivery, ...]:
        """Take deliveries whose time has come; no one else gets them for ``lease``. A pure read when there are none.

        The database's clock decides what is due and when a lease is over.
        """
        row = self._database.row(_SQL["find_due"])
        if row is None or not row["due"]:
            return ()
        rows = self._database.rows(_SQL["claim_due"], {"limit": limit, "lease": lease})
        return tuple(_delivery(row) for row in rows)

    def record_delivered(self, delivery: Delivery) -> None:
        """The receiver has it."""
        self._database.row(_SQL["record_delivered"], _claim(delivery))

    def record_failed(self, delivery: Delivery, error: str, retry_in: timedelta) -> None:
        """The attempt failed; the next one is in ``retry_in``. Nothing, when someone else has claimed it meanwhile."""
        self._database.row(_SQL["record_failed"], {**_claim(delivery), "error": error, "retry_in": retry_in})

    def record_given_up(self, delivery: Delivery, error: str) -> None:
        """The attempt failed and was the last. Nothing, when someone else has claimed it meanwhile."""
        self._database.row(_SQL["record_given_up"], {**_claim(delivery), "error": error})

    def release(self, delivery: Delivery) -> None:
        """Give it back at once, as if it had not been claimed. Nothing, when someone else has claimed it meanwhile."""
        self._database.row(_SQL["release"], _claim(delivery))

    def find_outbox_state(self, tenants: Sequence[str]) -> OutboxState:
        """How much waits, and how much was given up, of these tenants together."""
        (row,) = self._database.rows(_SQL["find_outbox_state"], {"tenants": list(tenants)})
        return OutboxState(**row)

    def list_undelivered(self, tenants: Sequence[str], *, limit: int = 50) -> tuple[OutboxRow, ...]:
        """What was given up, longest ago first, then what waits, by the time of its next attempt."""
        rows = self._database.rows(_SQL["list_undelivered"], {"tenants": list(tenants), "limit": limit})
        return tuple(OutboxRow(**row) for row in rows)

    def retry_given_up(self, tenants: Sequence[str]) -> int:
        """Set what was given up going again, with all attempts before it; how many."""
        return len(self._database.rows(_SQL["retry_given_up"], {"tenants": list(tenants)}))


def _claim(delivery: Delivery) -> Mapping[str, object]:
    return {
        "tenant_id": delivery.tenant_id,
        "notification_id": delivery.notification_id,
        "attempts": delivery.attempts,
        "claimed_until": delivery.claimed_until,
    }


def _delivery(row: DictRow) -> Delivery:
    return Delivery(
        tenant_id=row["tenant_id"],
        notification_id=row["notification_id"],
        event_id=row["event_id"],
        topic=row["topic"],
        created_at=row["created_at"],
        tenant=row["tenant"],
        attempts=row["attempts"],
        claimed_until=row["claimed_until"],
        task=TaskInBrief(
            task_id=row["task_id"],
            number=row["number"],
            project=row["project"],
            title=row["title"],
            status=TaskStatus(row["status"]),
            labels=tuple(row["labels"]),
            external_ref=row["external_ref"],
            container_ref=row["container_ref"],
            created_at=row["task_created_at"],
        ),
    )
