"""``inbox-loop messages list``: the ledger, newest first."""

from __future__ import annotations

from typing import Annotated

import typer

from inbox_loop.commands.known import check_mailbox
from inbox_loop.commands.ledger_table import print_ledger
from inbox_loop.commands.options import (
    ConfigOption,
    JsonOption,
    LimitOption,
    MailboxOption,
    TenantOption,
    read_settings,
)
from inbox_loop.commands.wiring import open_tenant
from inbox_loop.loop.ledger import MessageState
from inbox_loop.repository.messages import MessageReader


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
    print_ledger(rows, as_json=as_json)
