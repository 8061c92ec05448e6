"""``inbox-loop messages explain``: what became of one message, and why."""

from __future__ import annotations

import typer

from inbox_loop.commands.explanation import explain
from inbox_loop.commands.known import check_mailbox
from inbox_loop.commands.naming import MessageArgument, read_message_id
from inbox_loop.commands.options import (
    ConfigOption,
    JsonOption,
    MailboxOption,
    TenantOption,
    read_settings,
)
from inbox_loop.commands.shapes import message_record
from inbox_loop.commands.show import print_line, print_records
from inbox_loop.commands.wiring import open_tenant
from inbox_loop.errors import NoSuchMessage
from inbox_loop.repository.messages import LedgerRow, MessageReader


def explain_message(
    context: typer.Context,
    message: MessageArgument,
    *,
    mailbox: MailboxOption = None,
    tenant: TenantOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what became of a message and why: when it was seen, by what, its task, and what could be done."""
    settings = read_settings(context, config)
    message_id = read_message_id(message)
    with open_tenant(settings, tenant) as (database, chosen):
        check_mailbox(database, settings, tenant=chosen, mailbox=mailbox)
        rows = MessageReader(database, tenant=chosen).find_message(mailbox, message_id)
    if not rows:
        raise NoSuchMessage(
            f"no mailbox has seen a message {message_id}",
            hint="A poll finds what has come since the first one, inbox-loop backfill what came before.",
        )
    if as_json:
        print_records(message_record(row) | {"explanation": dict(explain(row))} for row in rows)
        return
    for row in rows:
        _print_story(row)


def _print_story(row: LedgerRow) -> None:
    print_line(f"Message {row.message_id} of mailbox {row.mailbox}")
    for name, telling in explain(row):
        print_line(f"  {name:12} {telling}")
