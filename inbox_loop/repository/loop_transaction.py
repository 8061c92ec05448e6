"""What one transaction of the loop can do: ``StoreTransaction`` of ``loop/ports.py`` on Postgres."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from psycopg.rows import DictRow, TupleRow, tuple_row

from inbox_loop.loop.ledger import DateRange, FoundBy, Known, MessageState, Outcome, RefHolder, SenderHour
from inbox_loop.loop.ports import MessageId
from inbox_loop.repository.clean import check_text
from inbox_loop.repository.database import Connection, Params
from inbox_loop.repository.statements import Statements
from inbox_loop.repository.upsert import upsert_tasks
from inbox_loop.task import TaskDraft, TaskStatus, Upserted

_SQL = Statements("loop_transaction")


class LoopTransaction:
    """``StoreTransaction`` for one mailbox, on a connection that is in a transaction.

    ``names`` are the ids and names of tenant and mailbox, which any statement may ask for. Errors of psycopg leave
    ``work`` as they are, so that whoever began the transaction can tell a lost race from the rest.
    """

    def __init__(
        self, connection: Connection, names: Mapping[str, object], *, mailbox: str, project: str | None
    ) -> None:
        self._connection = connection
        self._names = names
        self._actor = f"mailbox {mailbox}"
        self._project = project

    def find_known(self, message_ids: Sequence[str]) -> Mapping[str, Known]:
        """The ledger's word on those it knows, in one statement."""
        rows = self._rows("find_known", message_ids=list(message_ids))
        return {row["message_id"]: _known(row) for row in rows}

    def record_discovered(
        self, messages: Sequence[MessageId], found_by: FoundBy, wanted: DateRange, *, remint: bool = False
    ) -> int:
        """Add unknown ids as pending, leave known ones alone; how many were added."""
        rows = self._rows(
            "record_discovered",
            message_ids=[message.message_id for message in messages],
            thread_ids=[message.thread_id for message in messages],
            found_by=found_by,
            after=wanted.after,
            before=wanted.before,
            remint=remint,
        )
        return len(rows)

    def record_reopened(
        self, message_ids: Sequence[str], wanted: DateRange, *, remint: bool = False, insisted: bool = False
    ) -> int:
        """Make rows of any state pending again, in a new revision; how many there were."""
        rows = self._rows(
            "record_reopened",
            message_ids=list(message_ids),
            after=wanted.after,
            before=wanted.before,
            remint=remint,
            insisted=insisted,
        )
        return len(rows)

    def advance_cursor(self, cursor: int) -> None:
        """Move the cursor forward; a lower value changes nothing."""
        self._rows("advance_cursor", cursor=cursor)

    def record_coverage(self, since: datetime) -> None:
        """Move ``covered_since`` back to ``since``; a later moment changes nothing."""
        self._rows("record_coverage", since=since)

    def record_sign_in(self, sign_in: str) -> None:
        """Remember the fingerprint of a sign-in that opens this mailbox's account."""
        self._rows("record_sign_in", sign_in=sign_in)

    def lock_pending(self, revisions: Mapping[str, int]) -> frozenset[str]:
        """Hold the rows that are still pending in the revision named by their id, to the end of the transaction."""
        if not revisions:
            return frozenset()
        rows = self._rows("lock_pending", message_ids=list(revisions), revisions=list(revisions.values()))
        return frozenset(row["message_id"] for row in rows)

    def find_ref_holders(self, external_refs: Sequence[str]) -> Mapping[str, RefHolder]:
        """Who holds each ref, keyed by the ref as it was asked for; refs nobody holds are absent."""
        for ref in external_refs:
            check_text("external_ref", ref)
        rows = self._rows("find_ref_holders", external_refs=list(external_refs))
        return {row["asked"]: _holder(row) for row in rows}

    def upsert_tasks(self, drafts: Sequence[TaskDraft]) -> tuple[Upserted, ...]:
        """Find or create, in one round trip, one answer a draft, in order."""
        return upsert_tasks(self._tuples, drafts, actor=self._actor, project=self._project)

    def count_sender_tasks(self, hours: Collection[SenderHour], at_most: int) -> Mapping[SenderHour, int]:
        """How many messages of each sender and hour are tasks in the ledger, counted up to ``at_most``; 0 included."""
        if not hours:
            return {}
        rows = self._rows(
            "count_sender_tasks",
            senders=[one.sender for one in hours],
            hours=[one.hour for one in hours],
            at_most=at_most,
        )
        return {one: row["tasks"] for one, row in zip(hours, rows, strict=True)}

    def record_outcomes(self, outcomes: Sequence[Outcome]) -> frozenset[str]:
        """Settle rows that are still pending in the revision named; the ids that were. Others are left as they are."""
        if not outcomes:
            return frozenset()
        rows = self._rows(
            "record_outcomes",
            message_ids=[outcome.message_id for outcome in outcomes],
            revisions=[outcome.revision for outcome in outcomes],
            states=[str(outcome.state) for outcome in outcomes],
            reasons=[outcome.reason for outcome in outcomes],
            task_ids=[outcome.task_id for outcome in outcomes],
            thread_ids=[outcome.thread_id for outcome in outcomes],
            internal_dates=[outcome.internal_date for outcome in outcomes],
            retries_in=[outcome.retry_in for outcome in outcomes],
            rules=[outcome.rule for outcome in outcomes],
            senders=[outcome.sender for outcome in outcomes],
        )
        return frozenset(row["message_id"] for row in rows)

    def _rows(self, name: str, **params: object) -> list[DictRow]:
        return self._connection.execute(_SQL[name], {**self._names, **params}).fetchall()

    def _tuples(self, statement: bytes, params: Params) -> list[TupleRow]:
        with self._connection.cursor(row_factory=tuple_row) as cursor:
            return cursor.execute(statement, {**self._names, **params}).fetchall()


def _known(row: DictRow) -> Known:
    return Known(
        state=MessageState(row["state"]),
        reason=row["reason"],
        task_deleted=row["task_deleted"],
        internal_date=row["internal_date"],
        wanted=DateRange(row["wanted_after"], row["wanted_before"]),
    )


def _holder(row: DictRow) -> RefHolder:
    return RefHolder(
        external_ref=row["external_ref"],
        task_id=row["task_id"],
        number=row["number"],
        status=TaskStatus(row["status"]),
        deleted=row["deleted"],
        source_mailbox=row["source_mailbox"],
        source_account=row["source_account"],
    )
