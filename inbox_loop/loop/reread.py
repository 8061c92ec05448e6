"""Reread: take messages of the ledger up again because a person says so, and bring them to a new outcome at once.

What the person wants is written on the rows before anything is read, so that it holds when the reading fails or another
process does it: the next poll goes on from there.

Not here: which messages may be taken up again (``commands/rereading.py``).
"""

from __future__ import annotations

from dataclasses import dataclass

from inbox_loop.errors import MailboxBusy
from inbox_loop.loop.ingest import ingest_named
from inbox_loop.loop.ledger import EVERY_DATE
from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.loop.register import find_or_register
from inbox_loop.loop.report import Discovered, Meter, PassReport, Tally
from inbox_loop.loop.steps import bound_steps


@dataclass(frozen=True, slots=True)
class RereadRequest:
    """Which messages of one mailbox are taken up again, and what the person wants of them."""

    message_ids: tuple[str, ...]
    remint_deleted: bool = False
    """Create the tasks anew that someone deleted."""
    insisted: bool = False
    """Make a task of each, whatever the policy and the cap say."""


def reread_once(mailbox: Mailbox, request: RereadRequest) -> PassReport:
    """Make the rows pending again and try each once. Ids that the ledger does not know are left out.

    Raises the typed error that ended the pass early. While another process reads the mailbox and does not end, the rows
    are left to it, and the report is not complete.
    """
    meter = Meter.start(mailbox)
    with mailbox.gmail.within(mailbox.limits.deadline_seconds):
        row = find_or_register(mailbox)
    reopened = mailbox.store.in_transaction(
        lambda tx: tx.record_reopened(
            request.message_ids, EVERY_DATE, remint=request.remint_deleted, insisted=request.insisted
        )
    )
    tally = Tally()
    complete = True
    try:
        for done in bound_steps(mailbox, ingest_named(mailbox, row.address, request.message_ids)):
            tally += done
    except MailboxBusy:
        complete = False
    return meter.report(found=Discovered(reopened=reopened), tally=tally, cursor=row.cursor, complete=complete)
