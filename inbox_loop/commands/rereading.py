"""Taking messages of the ledger up again on a person's word: which may be, and doing it.

Lives here: what ``messages retry`` and ``messages make-task`` have in common. Not here: the reading
(``loop/reread.py``).
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from inbox_loop.commands.endings import Ending, run_passes
from inbox_loop.commands.mailboxes import open_mailboxes
from inbox_loop.commands.options import find_mailbox, unknown_mailbox
from inbox_loop.commands.relay import announce_created
from inbox_loop.errors import MessageSettled, NoSuchMessage, UsageError
from inbox_loop.loop.ledger import MessageState
from inbox_loop.loop.reread import RereadRequest, reread_once
from inbox_loop.policy import SkipReason
from inbox_loop.repository.database import Database
from inbox_loop.repository.messages import LedgerRow, MessageReader
from inbox_loop.settings import MailboxSettings, Settings


@dataclass(frozen=True, slots=True)
class Place:
    """Where messages are taken up again: the settings, the database with one tenant, and what ends the work early."""

    settings: Settings
    database: Database
    tenant: str
    stop: threading.Event


def find_row(reader: MessageReader, mailbox: str | None, message_id: str) -> LedgerRow:
    """The one row of this message. Raises ``NoSuchMessage``, and ``UsageError`` when several mailboxes have it."""
    rows = reader.find_message(mailbox, message_id)
    if not rows:
        raise NoSuchMessage(
            f"no mailbox has seen a message {message_id}",
            hint="A poll finds what has come since the first one, inbox-loop backfill what came before.",
        )
    if len(rows) > 1:
        names = ", ".join(row.mailbox for row in rows)
        raise UsageError(f"several mailboxes have a message {message_id}: {names}", hint="Say which: --mailbox NAME.")
    return rows[0]


def check_retry(row: LedgerRow) -> None:
    """Raise ``MessageSettled`` for a message that was read and has its outcome: trying again is no answer to it."""
    if row.state is MessageState.TASK:
        raise MessageSettled(
            f"message {row.message_id} was read and has come to a task; there is nothing to try again",
            hint=f"See what became of it: inbox-loop messages explain {row.message_id}",
        )
    if row.state is MessageState.SKIPPED:
        raise MessageSettled(
            f"message {row.message_id} was read and skipped; there is nothing to try again",
            hint=f"To have a task of it all the same: inbox-loop messages make-task {row.message_id}",
        )


def check_make_task(row: LedgerRow, *, remint_deleted: bool) -> None:
    """For a message without a live task: raise ``MessageSettled`` if it can't have one, or not without the option."""
    if row.state is MessageState.GONE:
        raise MessageSettled(
            f"message {row.message_id} is gone from Gmail and can't be read",
            hint=f"If it is back, first run: inbox-loop messages retry {row.message_id}",
        )
    was_task = row.state is MessageState.TASK or row.reason == SkipReason.TASK_DELETED
    if was_task and not remint_deleted:
        raise MessageSettled(
            f"message {row.message_id} had a task, which was deleted",
            hint=f"To have it anew: inbox-loop messages make-task --remint-deleted {row.message_id}",
        )


def reread(place: Place, rows: Sequence[LedgerRow], request: RereadRequest) -> tuple[Ending, ...]:
    """Take those of the request's messages up again that ``rows`` name, each in its mailbox; one ending a mailbox.

    Raises ``NoSuchMailbox`` when a mailbox of theirs is no longer configured.
    """
    by_mailbox: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        by_mailbox[row.mailbox].append(row.message_id)
    chosen = [find_configured(place, name) for name in by_mailbox]
    with open_mailboxes(place.settings, chosen, place.database, place.stop) as mailboxes:
        endings = run_passes(
            {
                name: partial(reread_once, mailboxes[name], replace(request, message_ids=tuple(message_ids)))
                for name, message_ids in by_mailbox.items()
            }
        )
    announce_created(place.database)
    return endings


def find_configured(place: Place, name: str) -> MailboxSettings:
    """The settings of the mailbox that the ledger calls so."""
    found = find_mailbox(place.settings, name)
    if found.tenant != place.tenant:
        raise unknown_mailbox(name, [each.name for each in place.settings.mailboxes if each.tenant == place.tenant])
    return found
