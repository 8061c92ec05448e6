"""The ledger, for people: what became of each message, and why. Only reads."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import DictRow

from inbox_loop.errors import InvalidRef
from inbox_loop.loop.ledger import FoundBy, MessageState
from inbox_loop.ref import Ref
from inbox_loop.repository.clean import check_text
from inbox_loop.repository.database import Database
from inbox_loop.repository.statements import Statements
from inbox_loop.task import TaskStatus

_SQL = Statements("messages")


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One message as the ledger knows it, with the task it came to."""

    mailbox: str
    message_id: str
    thread_id: str
    ref: str | None
    """Its task's ref; without a task the ref it would get, None where its ids make none."""
    state: MessageState
    reason: str | None
    attempts: int
    next_attempt_at: datetime
    seen_at: datetime
    found_by: FoundBy
    settled_at: datetime | None
    internal_date: datetime | None
    task_number: int | None
    task_status: TaskStatus | None
    task_deleted_at: datetime | None
    rule: str | None = None
    """The name of the rule that decided; None when none matched."""
    insisted: bool = False
    """A person wants a task of it, whatever the policy says."""
    quote_cut_characters: int = 0
    """How long the quote was that its task leaves out; 0 when nothing was cut."""
    headers_only: bool = False
    """Its task was made of the headers alone, because the message is larger than the setting allows."""


class MessageReader:
    """The ledger of one tenant, over all of its mailboxes."""

    def __init__(self, database: Database, *, tenant: str) -> None:
        self._database = database.for_tenant(tenant)

    def list_messages(
        self,
        *,
        mailbox: str | None = None,
        state: MessageState | None = None,
        before: LedgerRow | None = None,
        limit: int = 50,
    ) -> tuple[LedgerRow, ...]:
        """A page of the ledger, newest first; the next page is asked with the last row of this one as ``before``."""
        params = {
            "mailbox": mailbox,
            "state": state,
            "before_seen": before and before.seen_at,
            "before_mailbox": before and before.mailbox,
            "before_message": before and before.message_id,
            "limit": limit,
        }
        return tuple(_ledger_row(row) for row in self._database.rows(_SQL["list_messages"], params))

    def find_message(self, mailbox: str | None, message_id: str) -> tuple[LedgerRow, ...]:
        """What is known of a message id: one row for each mailbox that has seen it, none when it is unknown."""
        check_text("message id", message_id)
        params = {"mailbox": mailbox, "message_id": message_id}
        return tuple(_ledger_row(row) for row in self._database.rows(_SQL["find_message"], params))


def _ledger_row(row: DictRow) -> LedgerRow:
    return LedgerRow(
        mailbox=row["mailbox"],
        message_id=row["message_id"],
        thread_id=row["thread_id"],
        ref=row["external_ref"] or _ref_of(row["thread_id"], row["message_id"]),
        state=MessageState(row["state"]),
        reason=row["reason"],
        attempts=row["attempts"],
        next_attempt_at=row["next_attempt_at"],
        seen_at=row["seen_at"],
        found_by=FoundBy(row["found_by"]),
        settled_at=row["settled_at"],
        internal_date=row["internal_date"],
        task_number=row["task_number"],
        task_status=None if row["task_status"] is None else TaskStatus(row["task_status"]),
        task_deleted_at=row["task_deleted_at"],
        rule=row["rule"],
        insisted=row["insisted"],
        quote_cut_characters=_count_of(row["quote_cut_characters"]),
        headers_only=row["headers_only"] is True,
    )


def _count_of(value: object) -> int:
    """What a task's source says, which others can write too: anything but a count is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _ref_of(thread_id: str, message_id: str) -> str | None:
    try:
        return str(Ref(thread_id, message_id))
    except InvalidRef:
        return None
