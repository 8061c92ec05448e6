"""``inbox-loop messages list``: the ledger, newest first."""

from __future__ import annotations

from typing import Annotated

import typer

from inbox_loop.commands.known import check_mailbox
from inbox_loop.commands.options import (
    ConfigOption,
    JsonOption,
    LimitOption,
    MailboxOption,
    TenantOption,
    read_settings,
)
from inbox_loop.commands.shapes import message_record
from inbox_loop.commands.show import moment, print_records, print_table
from inbox_loop.commands.wiring import open_tenant
from inbox_loop.loop.ledger import MessageState
from inbox_loop.repository.messages import LedgerRow, MessageReader

_COLUMNS = ("SEEN", "MAILBOX", "MESSAGE", "STATE", "REASON", "TASK", "NEXT TRY")


def list_messages(
    context: typer.Context,
    *,
    mailbox: MailboxOption = None,
    state: Annotated[MessageState | None, typer.Option("--state", help="Only messages in this state.")] = None,
    limit: LimitOption = 50,
    tenant: TenantOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the messages that were seen, with what became of each, newest first."""
    settings = read_settings(context, config)
    with open_tenant(settings, tenant) as (database, chosen):
        check_mailbox(database, settings, tenant=chosen, mailbox=mailbox)
        rows = MessageReader(database, tenant=chosen).list_messages(mailbox=mailbox, state=state, limit=limit)
    if as_json:
        print_records(message_record(row) for row in rows)
    else:
        print_table(_COLUMNS, (_row(row) for row in rows))


def _row(row: LedgerRow) -> tuple[str, ...]:
    return (
        moment(row.seen_at),
        row.mailbox,
        row.message_id,
        row.state.value,
        row.reason or "-",
        "-" if row.task_number is None else str(row.task_number),
        moment(row.next_attempt_at) if row.state is MessageState.PENDING else "-",
    )
