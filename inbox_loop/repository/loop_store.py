"""The store as one mailbox's loop sees it: ``loop/ports.py`` on Postgres."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import psycopg
from psycopg.rows import DictRow

from inbox_loop.errors import MailboxBusy, NoSuchMailbox
from inbox_loop.loop.ledger import DateRange, Due, MailboxRow
from inbox_loop.loop.ports import StoreTransaction
from inbox_loop.repository.database import Connection, Database
from inbox_loop.repository.loop_transaction import LoopTransaction
from inbox_loop.repository.statements import Statements

T = TypeVar("T")
INGEST_WAIT_SECONDS = 30.0
_SQL = Statements("loop_store")


class PostgresLoopStore:
    """``LoopStore`` for one mailbox of one tenant. ``project`` is for drafts that name none.

    Safe to use from several threads. Raises ``NoSuchTenant`` or ``NoSuchMailbox`` when asked to write for one that the
    database does not have.
    """

    def __init__(
        self,
        database: Database,
        *,
        tenant: str,
        mailbox: str,
        project: str | None,
        ingest_wait_seconds: float = INGEST_WAIT_SECONDS,
    ) -> None:
        self._database = database.for_tenant(tenant)
        self._names = {"mailbox": mailbox}
        self._tenant = tenant
        self._project = project
        self._ingest_wait_seconds = ingest_wait_seconds

    def find_mailbox(self) -> MailboxRow | None:
        """The mailbox, or None before its first touch."""
        row = self._database.row(_SQL["find_mailbox"], self._names)
        return None if row is None else _mailbox(row)

    def create_mailbox(self, address: str, cursor: int, sign_in: str) -> MailboxRow:
        """Record the mailbox, or take over the one of this address, or answer the one another process made first.

        A mailbox of this name may have another address: the answer is its row, and comparing is the caller's business.
        """

        def work(connection: Connection) -> MailboxRow:
            wanted = self._database.params({**self._names, "address": address, "cursor": cursor, "sign_in": sign_in})
            connection.execute(_SQL["lock_tenant"], wanted)
            if connection.execute(_SQL["find_mailbox"], wanted).fetchone() is None:
                connection.execute(_SQL["delete_health"], wanted)
                if connection.execute(_SQL["rename_mailbox"], wanted).fetchone() is None:
                    connection.execute(_SQL["create_mailbox"], wanted)
            return _mailbox(self._find_row(connection))

        return self._database.in_transaction(work)

    def find_due(self, limit: int) -> tuple[Due, ...]:
        """Pending rows whose time has come: polled and reconciled before backfilled, oldest first."""
        return tuple(_due(row) for row in self._database.rows(_SQL["find_due"], {**self._names, "limit": limit}))

    def find_pending(self, message_ids: Sequence[str]) -> tuple[Due, ...]:
        """Those of the ids that are pending, whether their time has come or not, in the order of ``find_due``."""
        wanted = {**self._names, "message_ids": list(message_ids)}
        return tuple(_due(row) for row in self._database.rows(_SQL["find_pending"], wanted))

    def count_pending(self) -> int:
        """All pending rows, due or not."""
        row = self._database.row(_SQL["count_pending"], self._names)
        return 0 if row is None else int(row["pending"])

    def in_transaction(self, work: Callable[[StoreTransaction], T]) -> T:
        """Run ``work`` in one READ COMMITTED transaction, and again from its start when it lost a race."""

        def bound(connection: Connection) -> T:
            row = self._find_row(connection)
            names = self._database.params({**self._names, "mailbox_id": row["mailbox_id"]})
            return work(LoopTransaction(connection, names, **self._names, project=self._project))

        return self._database.in_transaction(bound)

    @contextmanager
    def ingesting(self) -> Iterator[None]:
        """Hold the mailbox's ingest lock; waits for its holder half a minute, then raises ``MailboxBusy``."""
        mailbox = self.find_mailbox()
        if mailbox is None:
            raise self._no_mailbox()
        with self._database.own_connection() as connection:
            connection.execute(_SQL["bound_ingest_wait"], {"wait": f"{self._ingest_wait_seconds * 1000:.0f}ms"})
            try:
                connection.execute(_SQL["lock_ingest"], {"mailbox_id": mailbox.mailbox_id})
            except psycopg.errors.LockNotAvailable:
                raise MailboxBusy(
                    f"another process is reading the messages of mailbox {mailbox.name!r} and did not end in "
                    f"{self._ingest_wait_seconds:.0f} seconds",
                    hint="Wait for it; one process at a time reads a mailbox.",
                ) from None
            yield

    def _find_row(self, connection: Connection) -> DictRow:
        row = connection.execute(_SQL["find_mailbox"], self._database.params(self._names)).fetchone()
        if row is None:
            raise self._no_mailbox()
        return row

    def _no_mailbox(self) -> NoSuchMailbox:
        return NoSuchMailbox(f"tenant {self._tenant!r} has no mailbox {self._names['mailbox']!r}")


def _mailbox(row: DictRow) -> MailboxRow:
    return MailboxRow(
        mailbox_id=row["mailbox_id"],
        name=row["name"],
        address=row["address"],
        cursor=int(row["cursor"]),
        cursor_moved_at=row["cursor_moved_at"],
        cursor_age=row["cursor_age"],
        covered_since=row["covered_since"],
        sign_in=row["sign_in"],
    )


def _due(row: DictRow) -> Due:
    return Due(
        message_id=row["message_id"],
        thread_id=row["thread_id"],
        attempts=row["attempts"],
        age=row["age"],
        revision=row["revision"],
        remint=row["remint"],
        insisted=row["insisted"],
        wanted=DateRange(row["wanted_after"], row["wanted_before"]),
    )
