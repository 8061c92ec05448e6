"""``inbox-loop messages explain``: what became of one message, and why; with ``--full``, all of its text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from inbox_loop.commands.explanation import explain
from inbox_loop.commands.full_text import KEPT, LEFT_OUT, LEGEND, mark_lines
from inbox_loop.commands.known import check_mailbox
from inbox_loop.commands.naming import MessageArgument, read_message_id
from inbox_loop.commands.options import (
    ConfigOption,
    JsonOption,
    MailboxOption,
    TenantOption,
    read_settings,
)
from inbox_loop.commands.shapes import full_message_record, message_record
from inbox_loop.commands.show import print_line, print_records, print_text
from inbox_loop.commands.signals import listening
from inbox_loop.commands.wiring import open_tenant
from inbox_loop.errors import NoSuchMessage
from inbox_loop.message.model import Message
from inbox_loop.repository.database import Database
from inbox_loop.repository.messages import LedgerRow, MessageReader
from inbox_loop.settings import Settings


def explain_message(
    context: typer.Context,
    message: MessageArgument,
    *,
    full: Annotated[bool, typer.Option("--full", help="Read the message from Gmail and show all of its text.")] = False,
    mailbox: MailboxOption = None,
    tenant: TenantOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Tell what became of a message and why: when it was seen, by what, its task, and what could be done.

    With --full its text follows, as Gmail has it now; what its task leaves out as a quote is marked.
    """
    settings = read_settings(context, config)
    message_id = read_message_id(message)
    with open_tenant(settings, tenant) as (database, chosen):
        check_mailbox(database, settings, tenant=chosen, mailbox=mailbox)
        rows = MessageReader(database, tenant=chosen).find_message(mailbox, message_id)
        read = _read_all(settings, database, chosen, rows) if full else {}
    if not rows:
        raise NoSuchMessage(
            f"no mailbox has seen a message {message_id}",
            hint="A poll finds what has come since the first one, inbox-loop backfill what came before.",
        )
    if as_json:
        print_records(_record(row, read.get(row.mailbox)) for row in rows)
        return
    for row in rows:
        _print_story(row)
        if row.mailbox in read:
            _print_text(read[row.mailbox])


def _read_all(
    settings: Settings, database: Database, tenant: str, rows: tuple[LedgerRow, ...]
) -> Mapping[str, Message]:
    """The message as each mailbox that has seen it has it, by the mailbox's name."""
    from inbox_loop.commands.fresh_reading import read_afresh  # noqa: PLC0415 - see its head
    from inbox_loop.commands.rereading import Place  # noqa: PLC0415 - likewise

    with listening() as requests:
        place = Place(settings, database, tenant, requests.stop)
        return {row.mailbox: read_afresh(place, row) for row in rows}


def _record(row: LedgerRow, message: Message | None) -> dict[str, object]:
    record = message_record(row) | {"explanation": dict(explain(row))}
    return record if message is None else record | {"full": full_message_record(message)}


def _print_story(row: LedgerRow) -> None:
    print_line(f"Message {row.message_id} of mailbox {row.mailbox}")
    for name, telling in explain(row):
        print_line(f"  {name:12} {telling}")


def _print_text(message: Message) -> None:
    print_line()
    for name in ("From", "To", "Cc", "Subject"):
        for value in message.header_values(name):
            print_line(f"  {name}: {value}")
    for attachment in message.attachments:
        print_line(f"  Attachment: {attachment.name} ({attachment.mime_type}, {attachment.size} bytes)")
    print_line()
    lines = mark_lines(message)
    print_text("\n".join(f"{LEFT_OUT if line.left_out else KEPT}{line.text}".rstrip() for line in lines))
    if any(line.left_out for line in lines):
        print_line()
        print_line(LEGEND)
