"""Discover: learn ids. Unknown ones go into the ledger as pending, and the cursor moves, in one transaction.

A history page names ids: new messages, and those that *arrived*: they got a label that may turn a skip into a task
(moved to the inbox, rescued from spam). Rules:

* A known id costs a look-up and nothing else.
* The cursor moves last, in the transaction of the ids it covers. Pages before the last one are recorded on their own,
  without the cursor: recording twice changes nothing, and a pass of any length needs the memory of one page.
* History is asked with the same start for every page; what the pass has reached is the position of the first page,
  because a change that came in while paging may be in none of them.

Not here: reading messages (``loop/ingest.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from inbox_loop.cursor import next_cursor
from inbox_loop.loop.ledger import EVERY_DATE, DateRange, FoundBy, Known, MailboxRow, MessageState
from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.loop.ports import HistoryPage, MessageId, StoreTransaction
from inbox_loop.loop.report import Discovered
from inbox_loop.policy import LABEL_REASONS, SkipReason

# A listing leaves out spam and trash, so a message it names is in neither any more.
_RESCUED = frozenset({SkipReason.SPAM, SkipReason.TRASH})


@dataclass(frozen=True, slots=True)
class Sighting:
    """Ids that one answer of Gmail named, and why it was asked."""

    messages: tuple[MessageId, ...]
    found_by: FoundBy
    arrived: frozenset[str] = frozenset()
    wanted: DateRange = EVERY_DATE
    remint: bool = False

    @property
    def message_ids(self) -> list[str]:
        """Every id, in the order named."""
        return [message.message_id for message in self.messages]


@dataclass(frozen=True, slots=True)
class DiscoveryPlan:
    """What a sighting means for the ledger."""

    unknown: tuple[MessageId, ...]
    reopened: tuple[str, ...]


def plan_discovery(sighting: Sighting, known: Mapping[str, Known]) -> DiscoveryPlan:
    """Decide which ids are new, and which known ones must be read again."""
    unknown = tuple(message for message in sighting.messages if message.message_id not in known)
    reopened = tuple(
        message_id
        for message_id in sighting.message_ids
        if message_id in known and _must_be_read_again(message_id, known[message_id], sighting)
    )
    return DiscoveryPlan(unknown, reopened)


def _must_be_read_again(message_id: str, row: Known, sighting: Sighting) -> bool:
    if row.reason == SkipReason.OUTSIDE_RANGE:
        return row.internal_date is None or sighting.wanted.holds(row.internal_date)
    if row.state is MessageState.PENDING and sighting.wanted != row.wanted and sighting.wanted.covers(row.wanted):
        return True
    if sighting.remint and (
        row.task_deleted or row.reason == SkipReason.TASK_DELETED or row.state is MessageState.PENDING
    ):
        return True
    if sighting.found_by is not FoundBy.POLL:
        return row.state is MessageState.GONE or row.reason in _RESCUED
    # A pending row may be under someone's eyes with its old labels: its new revision refuses what they saw.
    return message_id in sighting.arrived and (
        row.state in {MessageState.PENDING, MessageState.GONE} or row.reason in LABEL_REASONS
    )


def record_sighting(tx: StoreTransaction, sighting: Sighting) -> Discovered:
    """Look the ids up in one batch and write what the plan says; nothing is written when every id is known."""
    known = tx.find_known(sighting.message_ids)
    plan = plan_discovery(sighting, known)
    discovered = reopened = 0
    if plan.unknown:
        discovered = tx.record_discovered(plan.unknown, sighting.found_by, sighting.wanted, remint=sighting.remint)
    if plan.reopened:
        reopened = tx.record_reopened(plan.reopened, sighting.wanted, remint=sighting.remint)
    return Discovered(known=len(known), discovered=discovered, reopened=reopened)


def discover_history(mailbox: Mailbox, row: MailboxRow) -> tuple[Discovered, int]:
    """Record every change since the cursor and move it; answers the cursor as it is afterwards.

    Raises ``HistoryExpired`` when Gmail no longer has the changes.
    """
    total = Discovered()
    page = mailbox.gmail.list_history(row.cursor, None)
    reached = page.history_id
    recorded = False
    while page.next_page is not None:
        recorded = recorded or bool(page.added or page.arrived)
        total += _record_page(mailbox, page)
        page = mailbox.gmail.list_history(row.cursor, page.next_page)
    recorded = recorded or bool(page.added or page.arrived)
    cursor = next_cursor(row.cursor, reached, recorded=recorded, age=row.cursor_age)
    return total + _record_page(mailbox, page, cursor), row.cursor if cursor is None else cursor


def _record_page(mailbox: Mailbox, page: HistoryPage, cursor: int | None = None) -> Discovered:
    named = {message.message_id: message for message in (*page.added, *page.arrived)}
    arrived = frozenset(message.message_id for message in page.arrived)
    sighting = Sighting(tuple(named.values()), FoundBy.POLL, arrived)

    def work(tx: StoreTransaction) -> Discovered:
        discovered = record_sighting(tx, sighting) if sighting.messages else Discovered()
        if cursor is not None:
            tx.advance_cursor(cursor)
        return discovered

    if not sighting.messages and cursor is None:
        return Discovered()
    return mailbox.store.in_transaction(work)


def discover_listing(
    mailbox: Mailbox, query: str, *, found_by: FoundBy, wanted: DateRange, remint: bool = False
) -> Iterator[Discovered]:
    """List the messages that match ``query`` and record each page; one ``Discovered`` a page, as it is written."""
    token: str | None = None
    while True:
        page = mailbox.gmail.list_messages(query, token)
        sighting = Sighting(page.messages, found_by, wanted=wanted, remint=remint)
        recorded = mailbox.store.in_transaction(partial(record_sighting, sighting=sighting))
        yield recorded + Discovered(listed=len(page.messages))
        token = page.next_page
        if token is None:
            return
