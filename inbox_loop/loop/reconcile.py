"""Reconcile: compare Gmail's listing with the ledger, and repair what history missed.

Two occasions: now and then, whatever history says (``reconcile_once``), and when history has expired
(``recover_history``). Only the second moves the cursor, and it takes the new one from Gmail *before* it lists, so that
a message that comes in while listing is in the listing or after the cursor, never in between.

What a listing is held against starts where the ledger is meant to be complete: ``covered_since`` of the mailbox.
Mail from before the first touch becomes a task only when a backfill asks for it.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from inbox_loop.loop.discover import discover_listing
from inbox_loop.loop.ingest import ingest_due
from inbox_loop.loop.ledger import DateRange, FoundBy, MailboxRow
from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.loop.query import listing_query
from inbox_loop.loop.register import find_or_register, find_own_profile
from inbox_loop.loop.report import Discovered, Meter, PassReport

# Gmail's search can lag, and a message may carry a date from before it became visible.
OVERLAP = timedelta(days=1)


def reconcile_once(mailbox: Mailbox, now: datetime) -> PassReport:
    """List the window that ends ``now``, record what the ledger lacks, and ingest it."""
    meter = Meter.start(mailbox)
    with mailbox.gmail.within(mailbox.limits.deadline_seconds):
        row = find_or_register(mailbox)
        found = _compare(mailbox, row, since=now - mailbox.limits.reconcile_window)
        ingested = ingest_due(mailbox, row.address)
    return meter.report(found=found, tally=ingested.tally, cursor=row.cursor, complete=ingested.finished)


def recover_history(mailbox: Mailbox, row: MailboxRow) -> tuple[Discovered, int]:
    """Bridge the gap after history has expired; answers what was found and the new cursor."""
    profile = find_own_profile(mailbox, row)
    since = row.cursor_moved_at - max(OVERLAP, mailbox.limits.reconcile_window)
    found = _compare(mailbox, row, since=since)
    mailbox.store.in_transaction(lambda tx: tx.advance_cursor(profile.history_id))
    return found, max(row.cursor, profile.history_id)


def _compare(mailbox: Mailbox, row: MailboxRow, *, since: datetime) -> Discovered:
    wanted = DateRange(after=max(since, row.covered_since))
    total = Discovered()
    for page in discover_listing(mailbox, listing_query(wanted), found_by=FoundBy.RECONCILE, wanted=wanted):
        total += page
    return total
