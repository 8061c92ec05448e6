"""Backfill: a one-shot listing of the past. It never moves the cursor.

Two steps: every id of the listing goes into the ledger (5 units for 500), then the pending ones are read. Ids first,
because then the number of messages to read is known, and because a backfill that is stopped has its rest in the ledger,
where the daemon or the next backfill finds it. Safe to stop and to start again at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from inbox_loop.errors import Stopped
from inbox_loop.loop.discover import discover_listing
from inbox_loop.loop.ingest import ingest_batches
from inbox_loop.loop.ledger import DateRange, FoundBy, MailboxRow
from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.loop.ports import MessageId, StoreTransaction
from inbox_loop.loop.query import listing_query
from inbox_loop.loop.register import find_or_register
from inbox_loop.loop.report import Discovered, Meter, PassReport, Tally
from inbox_loop.loop.steps import bound_steps

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class BackfillRequest:
    """Which part of the past is asked for."""

    wanted: DateRange
    query: str = ""
    """The operator's own Gmail search, beside the dates."""
    remint_deleted: bool = False
    """Create the tasks anew that someone deleted."""

    @property
    def gmail_query(self) -> str:
        """What Gmail is asked."""
        return listing_query(self.wanted, self.query)


@dataclass(frozen=True, slots=True)
class BackfillProgress:
    """How far a backfill has come. ``remaining`` is 0 while it still lists."""

    found: Discovered
    tally: Tally
    remaining: int


@dataclass(frozen=True, slots=True)
class BackfillPreview:
    """What a backfill would do: ids Gmail lists, and how many of them the ledger does not know."""

    mailbox: str
    listed: int
    known: int
    unknown: int


def backfill_once(mailbox: Mailbox, request: BackfillRequest, show: Callable[[BackfillProgress], None]) -> PassReport:
    """List, record, ingest; ``show`` is told after each page and batch.

    A stop asked for by the operator ends it with ``complete`` false; other trouble is raised, and what was recorded
    until then stands. There is no deadline for the whole, but one for each page and batch.
    """
    meter = Meter.start(mailbox)
    with mailbox.gmail.within(mailbox.limits.deadline_seconds):
        row = find_or_register(mailbox)
    progress = BackfillProgress(Discovered(), Tally(), remaining=0)
    try:
        pages = discover_listing(
            mailbox,
            request.gmail_query,
            found_by=FoundBy.BACKFILL,
            wanted=request.wanted,
            remint=request.remint_deleted,
        )
        for found in bound_steps(mailbox, pages):
            progress = replace(progress, found=progress.found + found)
            show(progress)
        _record_coverage(mailbox, row, request)
        progress = replace(progress, remaining=mailbox.store.count_pending())
        for done in bound_steps(mailbox, ingest_batches(mailbox, row.address)):
            progress = replace(progress, tally=progress.tally + done, remaining=max(0, progress.remaining - done.total))
            show(progress)
        complete = not mailbox.store.find_due(1)
    except Stopped:
        complete = False
    return meter.report(found=progress.found, tally=progress.tally, cursor=row.cursor, complete=complete)


def _record_coverage(mailbox: Mailbox, row: MailboxRow, request: BackfillRequest) -> None:
    """Remember that the ledger is complete from further back, when the listing had no gap up to where it was."""
    gapless = request.wanted.before is None or request.wanted.before >= row.covered_since
    since = request.wanted.after or EPOCH
    if gapless and not request.query and since < row.covered_since:
        mailbox.store.in_transaction(lambda tx: tx.record_coverage(since))


def preview_backfill(mailbox: Mailbox, request: BackfillRequest) -> BackfillPreview:
    """Count what a backfill would read. Writes nothing, not even the first touch of the mailbox."""
    is_new = mailbox.store.find_mailbox() is None
    listed = known = 0
    token: str | None = None
    while True:
        with mailbox.gmail.within(mailbox.limits.deadline_seconds):
            page = mailbox.gmail.list_messages(request.gmail_query, token)
        listed += len(page.messages)
        if not is_new:
            known += mailbox.store.in_transaction(partial(_count_known, messages=page.messages))
        token = page.next_page
        if token is None:
            return BackfillPreview(mailbox.name, listed, known, listed - known)


def _count_known(tx: StoreTransaction, messages: Sequence[MessageId]) -> int:
    return len(tx.find_known([message.message_id for message in messages]))
