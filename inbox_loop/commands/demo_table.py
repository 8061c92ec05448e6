"""The demo's table: what each message became."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from inbox_loop.commands.show import print_line, print_table
from inbox_loop.loop.ledger import MessageState
from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.loop.ports import MessageId
from inbox_loop.message.model import Message
from inbox_loop.repository.database import Database
from inbox_loop.repository.messages import LedgerRow, MessageReader

MOST_ROWS = 60
SENDER_WIDTH = 28
SUBJECT_WIDTH = 46

_START = datetime(1970, 1, 1, tzinfo=UTC)


def print_what_became(database: Database, tenant: str, mailbox: Mailbox) -> None:
    """A row a message, in order of arrival; of a large mailbox the first rows, and counts for all."""
    rows = MessageReader(database, tenant=tenant).list_messages(mailbox=mailbox.name, limit=100_000)
    by_arrival = sorted(rows, key=lambda row: (row.internal_date or _START, row.message_id))
    shown = by_arrival[:MOST_ROWS]
    messages = _read(mailbox, shown)
    print_table(("ARRIVED", "FROM", "SUBJECT", "BECAME"), [_cells(row, messages.get(row.message_id)) for row in shown])
    if len(by_arrival) > len(shown):
        counts = Counter(_became(row, with_number=False) for row in by_arrival)
        print_line(f"… and {len(by_arrival) - len(shown)} more. In all:")
        print_table(("BECAME", "MESSAGES"), [(what, str(count)) for what, count in counts.most_common()])


def _read(mailbox: Mailbox, rows: Sequence[LedgerRow]) -> dict[str, Message]:
    """The messages of these rows, from Gmail: the ledger keeps no mail text."""
    wanted = [MessageId(row.message_id, row.thread_id) for row in rows]
    results = (fetched.result for fetched in mailbox.gmail.fetch_messages(wanted))
    return {message.message_id: message for message in results if isinstance(message, Message)}


def _cells(row: LedgerRow, message: Message | None) -> tuple[str, str, str, str]:
    arrived = row.internal_date.strftime("%a %d %b %H:%M") if row.internal_date else "-"
    sender = message.header("From") if message else "-"
    subject = message.header("Subject") if message else "-"
    return arrived, _short(sender, SENDER_WIDTH), _short(subject, SUBJECT_WIDTH) or "-", _became(row, with_number=True)


def _short(text: str, width: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"


def _became(row: LedgerRow, *, with_number: bool) -> str:
    if row.state is MessageState.TASK:
        return f"task {row.task_number}" if with_number else "task"
    return f"{row.state}: {row.reason}" if row.reason else str(row.state)
