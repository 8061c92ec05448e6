"""Heartbeats: what the daemons last said of each mailbox, so that any machine can tell how it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import DictRow

from inbox_loop.loop.ledger import MessageState
from inbox_loop.repository.clean import check_text
from inbox_loop.repository.database import Database
from inbox_loop.repository.statements import Statements

MAX_ERROR_CHARACTERS = 2000
_SQL = Statements("health")


@dataclass(frozen=True, slots=True)
class MailboxHealth:
    """How a mailbox is, as far as the database knows."""

    name: str
    cursor: int | None
    """None before its first touch, as is ``cursor_moved_at``."""
    cursor_moved_at: datetime | None
    last_good_poll_at: datetime | None
    beat_at: datetime | None
    """By the database's clock; None when no daemon ever spoke of it."""
    last_error: str | None
    """None when the last poll went well."""
    messages: Mapping[MessageState, int]
    """How many of its messages are in each state; every state is named."""


def record_heartbeat(
    database: Database,
    tenant: str,
    mailbox: str,
    *,
    daemon: str,
    last_good_poll_at: datetime | None,
    last_error: str | None,
) -> None:
    """Note how a mailbox is. For one row a minute, not for each poll.

    ``last_good_poll_at`` None, or earlier than what is known, keeps what is known. ``last_error`` is cut at 2000
    characters; it must not hold mail text, addresses or secrets. Raises ``NoSuchTenant``, ``InvalidValue``.
    """
    for field, text in (("daemon", daemon), ("last_error", last_error or "")):
        check_text(field, text)
    params = {
        "mailbox": mailbox,
        "daemon": daemon,
        "last_good_poll_at": last_good_poll_at,
        "last_error": last_error and last_error[:MAX_ERROR_CHARACTERS],
    }
    database.for_tenant(tenant).row(_SQL["record_heartbeat"], params)


def list_mailbox_health(database: Database, tenant: str) -> tuple[MailboxHealth, ...]:
    """Every mailbox of the tenant that was touched or spoken of, by name."""
    return tuple(_health(row) for row in database.for_tenant(tenant).rows(_SQL["list_mailbox_health"], {}))


def _health(row: DictRow) -> MailboxHealth:
    return MailboxHealth(
        name=row["name"],
        cursor=None if row["cursor"] is None else int(row["cursor"]),
        cursor_moved_at=row["cursor_moved_at"],
        last_good_poll_at=row["last_good_poll_at"],
        beat_at=row["beat_at"],
        last_error=row["last_error"],
        messages={state: row["by_state"].get(state.value, 0) for state in MessageState},
    )
