"""A mailbox with everything behind it: simulator, Google's client, Postgres, and the loop's view of them.

Lives here: what a test does with one. Not here: how it is set up (``fixtures/desk.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from pathlib import Path

from inbox_loop.gmail.mailbox import GoogleMailbox
from inbox_loop.loop.backfill import BackfillRequest, backfill_once
from inbox_loop.loop.ledger import DateRange, MailboxRow
from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.loop.poll import poll_once
from inbox_loop.loop.reconcile import reconcile_once
from inbox_loop.loop.report import PassReport
from inbox_loop.repository.database import Database
from inbox_loop.repository.messages import LedgerRow, MessageReader
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.upkeep import WritePosition, find_write_position, vacuum
from inbox_loop.simulator.server import Simulator
from inbox_loop.simulator.store import Account, Delivered
from inbox_loop.task import Task

TENANT = "default"
NAME = "desk"
ADDRESS = "desk@example.com"


def plain_mail(subject: str, text: str = "Please look into it.", *, sender: str = "ann@example.org") -> bytes:
    """An ordinary mail that asks for something."""
    mail = EmailMessage()
    mail["From"] = sender
    mail["To"] = ADDRESS
    mail["Subject"] = subject
    mail.set_content(text)
    return mail.as_bytes()


def many_parts(subject: str, count: int) -> bytes:
    """A mail of so many small parts."""
    parts = "".join(f"--b\r\nContent-Type: text/plain\r\n\r\n{n}\r\n" for n in range(count))
    head = f"From: ann@example.org\r\nSubject: {subject}\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
    return f"{head}{parts}--b--\r\n".encode()


@dataclass(frozen=True, slots=True)
class Desk:
    """One mailbox as a test works with it."""

    simulator: Simulator
    database: Database
    gmail: GoogleMailbox
    mailbox: Mailbox
    token_file: Path

    @property
    def account(self) -> Account:
        """The mailbox at the simulator."""
        return self.simulator.account(ADDRESS)

    @property
    def tasks(self) -> TaskStore:
        """The tasks of its tenant."""
        return TaskStore(self.database, tenant=TENANT)

    def deliver(self, subject: str, **how: object) -> Delivered:
        """An ask arrives; ``how`` is for ``Account.deliver``."""
        return self.account.deliver(plain_mail(subject), **how)  # type: ignore[arg-type]  # passed on as they came

    def poll(self) -> PassReport:
        """One poll."""
        return poll_once(self.mailbox)

    def backfill(
        self, *, after: datetime | None = None, before: datetime | None = None, query: str = "", remint: bool = False
    ) -> PassReport:
        """One backfill."""
        request = BackfillRequest(DateRange(after, before), query, remint_deleted=remint)
        return backfill_once(self.mailbox, request, lambda _progress: None)

    def reconcile(self, now: datetime) -> PassReport:
        """One comparison with the listing."""
        return reconcile_once(self.mailbox, now)

    def ledger(self) -> dict[str, LedgerRow]:
        """Every row, by message id."""
        rows = MessageReader(self.database, tenant=TENANT).list_messages(mailbox=NAME, limit=100_000)
        return {row.message_id: row for row in rows}

    def row(self) -> MailboxRow:
        """The mailbox in the store, which it must be in."""
        row = self.mailbox.store.find_mailbox()
        assert row is not None
        return row

    def titles(self) -> list[str]:
        """Of the live tasks, in the order of their numbers."""
        return [task.title for task in self.all_tasks()]

    def all_tasks(self) -> list[Task]:
        """Every live task, in the order of their numbers."""
        return sorted(self.tasks.list_tasks(limit=10_000), key=lambda task: task.number)

    def methods(self) -> list[str]:
        """The Gmail methods called so far, tokens apart."""
        return [call.method for call in self.simulator.calls if call.method != "token"]

    def settled_position(self) -> WritePosition:
        """Where writing stands, once the pages at rest would not be tidied up by a mere reader."""
        vacuum(self.database)
        self.ledger()
        self.all_tasks()
        return find_write_position(self.database)
