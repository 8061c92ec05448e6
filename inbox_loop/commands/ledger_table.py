"""The ledger's rows as a result: a table for people, records for programs."""

from __future__ import annotations

from collections.abc import Iterable

from inbox_loop.commands.shapes import message_record
from inbox_loop.commands.show import moment, print_records, print_table
from inbox_loop.loop.ledger import MessageState
from inbox_loop.repository.messages import LedgerRow

_COLUMNS = ("SEEN", "MAILBOX", "MESSAGE", "STATE", "REASON", "RULE", "TASK", "NEXT TRY")


def print_ledger(rows: Iterable[LedgerRow], *, as_json: bool) -> None:
    """One line a message."""
    if as_json:
        print_records(message_record(row) for row in rows)
    else:
        print_table(_COLUMNS, (_cells(row) for row in rows))


def _cells(row: LedgerRow) -> tuple[str, ...]:
    return (
        moment(row.seen_at),
        row.mailbox,
        row.message_id,
        row.state.value,
        row.reason or "-",
        row.rule or "-",
        "-" if row.task_number is None else str(row.task_number),
        moment(row.next_attempt_at) if row.state is MessageState.PENDING else "-",
    )
