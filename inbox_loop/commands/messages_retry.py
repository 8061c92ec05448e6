"""``inbox-loop messages retry``: read messages again that could not be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from inbox_loop.commands.endings import Ending, exit_code_of
from inbox_loop.commands.failure import tell_failure
from inbox_loop.commands.known import check_mailbox
from inbox_loop.commands.ledger_table import print_ledger
from inbox_loop.commands.mailboxes import choose_mailboxes
from inbox_loop.commands.naming import read_message_id
from inbox_loop.commands.options import ConfigOption, JsonOption, MailboxOption, TenantOption, read_settings
from inbox_loop.commands.rereading import Place, check_retry, find_row, reread
from inbox_loop.commands.signals import listening
from inbox_loop.commands.wiring import open_tenant
from inbox_loop.errors import EXIT_FINE, EXIT_LOOK, InboxLoopError, UsageError
from inbox_loop.loop.ledger import MessageState
from inbox_loop.loop.reread import RereadRequest
from inbox_loop.repository.messages import LedgerRow, MessageReader
from inbox_loop.settings import Settings

_PAGE = 500
_READ = frozenset({MessageState.TASK, MessageState.SKIPPED})


def retry_messages(
    context: typer.Context,
    messages: Annotated[
        list[str] | None,
        typer.Argument(metavar="MESSAGE_ID|REF", help="Gmail's message id, or gmail:<threadId>#<messageId>."),
    ] = None,
    *,
    all_quarantined: Annotated[
        bool, typer.Option("--all-quarantined", help="All that are in quarantine, of the mailboxes that are enabled.")
    ] = False,
    mailbox: MailboxOption = None,
    tenant: TenantOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> int:
    """Read messages again that could not be read, and tell what became of each.

    For messages that are in quarantine, gone from Gmail, or waiting for another try. Each is tried once, now; what
    fails again is in quarantine, or waits, as before.
    """
    wanted = _read_names(messages or [], all_quarantined=all_quarantined)
    settings = read_settings(context, config)
    with listening() as requests, open_tenant(settings, tenant) as (database, chosen):
        check_mailbox(database, settings, tenant=chosen, mailbox=mailbox)
        reader = MessageReader(database, tenant=chosen)
        rows = _find_rows(reader, wanted, mailbox) if wanted else _list_quarantined(settings, reader, mailbox)
        place = Place(settings, database, chosen, requests.stop)
        endings = reread(place, rows, RereadRequest(tuple(row.message_id for row in rows)))
        rows = [find_row(reader, row.mailbox, row.message_id) for row in rows]
    print_ledger(rows, as_json=as_json)
    return _end(rows, endings, as_json=as_json)


def _read_names(names: Sequence[str], *, all_quarantined: bool) -> list[str]:
    """The message ids asked for, each once; none for all that are in quarantine. Raises ``UsageError``."""
    if all_quarantined and names:
        raise UsageError("messages and --all-quarantined are both given", hint="Give one of them.")
    if not all_quarantined and not names:
        raise UsageError("no message is named", hint="Name messages by id or ref, or say --all-quarantined.")
    return list(dict.fromkeys(map(read_message_id, names)))


def _find_rows(reader: MessageReader, wanted: Sequence[str], mailbox: str | None) -> list[LedgerRow]:
    """The rows of these messages. Raises ``MessageSettled`` when one of them is none to retry; then none is."""
    rows = [find_row(reader, mailbox, message_id) for message_id in wanted]
    for row in rows:
        check_retry(row)
    return rows


def _list_quarantined(settings: Settings, reader: MessageReader, mailbox: str | None) -> list[LedgerRow]:
    """What is in quarantine in this mailbox, or in all that are enabled."""
    chosen = {each.name for each in choose_mailboxes(settings, mailbox)}
    return [row for row in _list_rows(reader, mailbox) if row.mailbox in chosen]


def _list_rows(reader: MessageReader, mailbox: str | None) -> Iterator[LedgerRow]:
    last: LedgerRow | None = None
    while page := reader.list_messages(mailbox=mailbox, state=MessageState.QUARANTINED, before=last, limit=_PAGE):
        yield from page
        last = page[-1]


def _end(rows: Sequence[LedgerRow], endings: Sequence[Ending], *, as_json: bool) -> int:
    """Tell which mailboxes failed; the exit code: theirs, else whether a message is still not read."""
    for ending in endings:
        if isinstance(ending.result, InboxLoopError):
            tell_failure(ending.result, as_json=as_json)
    unread = any(row.state not in _READ for row in rows)
    return exit_code_of(endings) or (EXIT_LOOK if unread else EXIT_FINE)
