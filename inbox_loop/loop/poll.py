"""Poll: one pass over history since the cursor, ingest included.

An idle poll is one Gmail call and writes nothing. When Gmail no longer has the history since the cursor, the pass
reconciles instead: the mailbox is healthy all the while.
"""

from __future__ import annotations

import structlog

from inbox_loop.errors import HistoryExpired
from inbox_loop.loop.discover import discover_history
from inbox_loop.loop.ingest import ingest_due
from inbox_loop.loop.ledger import MailboxRow
from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.loop.reconcile import recover_history
from inbox_loop.loop.register import find_or_register
from inbox_loop.loop.report import Discovered, Meter, PassReport

log = structlog.get_logger()


def poll_once(mailbox: Mailbox) -> PassReport:
    """Discover what is new since the cursor and ingest everything that is due.

    Raises the typed error that ended the pass early; what was recorded until then stands, and the next pass goes on
    from there.
    """
    meter = Meter.start(mailbox)
    with mailbox.gmail.within(mailbox.limits.deadline_seconds):
        row = find_or_register(mailbox)
        found, cursor = _discover(mailbox, row)
        ingested = ingest_due(mailbox, row.address)
    return meter.report(found=found, tally=ingested.tally, cursor=cursor, complete=ingested.finished)


def _discover(mailbox: Mailbox, row: MailboxRow) -> tuple[Discovered, int]:
    try:
        return discover_history(mailbox, row)
    except HistoryExpired:
        log.warning("history.expired", mailbox=mailbox.name, cursor=str(row.cursor))
        return recover_history(mailbox, row)
