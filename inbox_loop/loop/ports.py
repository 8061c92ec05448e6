"""What the loop is handed: Gmail and the store, as it sees them.

Lives here: the protocols, and the values that Gmail's side answers. Not here: what the ledger says (``ledger.py``), and
any implementation. ``gmail/mailbox.py`` keeps the Gmail one, ``repository/`` the store; ``commands/wiring.py`` brings
them together.

Rules of the Gmail side: every method may raise ``NeedsPerson`` (stop this mailbox), ``Unreachable`` (try the pass
again later), ``DeadlineExceeded`` or ``Stopped``. Trouble with one message is a value, not an exception, so that it
can't hold up the rest.

Rules of the store side: one ``LoopStore`` is bound to one tenant and one mailbox. ``find_`` and ``count_`` write
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from inbox_loop.errors import InboxLoopError
from inbox_loop.loop.ledger import DateRange, Due, FoundBy, Known, MailboxRow, Outcome, RefHolder, SenderHour
from inbox_loop.message.model import Message
from inbox_loop.task import TaskDraft, Upserted

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MessageId:
    """A message's id and the thread Gmail names with it at that moment."""

    message_id: str
    thread_id: str


@dataclass(frozen=True, slots=True)
class Profile:
    """Whose mailbox it is, and where its history stands."""

    address: str
    history_id: int


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """One page of history: ``added`` are new messages, ``arrived`` got labels that may turn a skip into a task."""

    added: tuple[MessageId, ...]
    arrived: tuple[MessageId, ...]
    history_id: int
    """The mailbox's position when the page was made; with the last page, what the pass has reached."""
    next_page: str | None


@dataclass(frozen=True, slots=True)
class ListingPage:
    """One page of messages.list, in no promised order."""

    messages: tuple[MessageId, ...]
    next_page: str | None


@dataclass(frozen=True, slots=True)
class Fetched:
    """The answer for one wanted message: the message, or what went wrong with this one alone."""

    message_id: str
    result: Message | InboxLoopError


@dataclass(frozen=True, slots=True)
class Usage:
    """What was asked of Gmail since the client was made: calls sent, and quota units by the cost table."""

    api_calls: int
    quota_units: int


class GmailMailbox(Protocol):
    """One Gmail mailbox. Only read."""

    def within(self, seconds: float) -> AbstractContextManager[None]:
        """Bound a pass: inside, no call lasts past ``seconds`` from now; then ``DeadlineExceeded``."""

    def find_sign_in(self) -> str:
        """A fingerprint of the sign-in in use, another one after a new sign-in. Asks nobody; raises ``NeedsAuth``."""

    def find_profile(self) -> Profile:
        """Address and current historyId (1 unit)."""

    def list_history(self, start: int, page: str | None) -> HistoryPage:
        """One page of changes strictly after ``start``; raises ``HistoryExpired`` when Gmail no longer has them."""

    def list_messages(self, query: str, page: str | None) -> ListingPage:
        """One page, at most 500 ids, of the messages that match ``query``; spam and trash are left out."""

    def fetch_messages(self, wanted: Sequence[MessageId]) -> Iterator[Fetched]:
        """Read them by the cheapest calls, several in flight; one ``Fetched`` for each, in any order."""

    def usage(self) -> Usage:
        """Totals so far."""


class StoreTransaction(Protocol):
    """What one transaction of the loop can do. Only valid inside ``LoopStore.in_transaction``."""

    def find_known(self, message_ids: Sequence[str]) -> Mapping[str, Known]:
        """The ledger's word on those it knows, in one statement."""

    def record_discovered(
        self, messages: Sequence[MessageId], found_by: FoundBy, wanted: DateRange, *, remint: bool = False
    ) -> int:
        """Add unknown ids as pending, leave known ones alone; how many were added. ``remint`` as in the next."""

    def record_reopened(
        self, message_ids: Sequence[str], wanted: DateRange, *, remint: bool = False, insisted: bool = False
    ) -> int:
        """Make rows of any state pending again, due now, with a fresh count of attempts; how many there were.

        Each gets a new revision, those already pending too. ``remint`` is kept on the row (never taken off by a later
        reopening) until it is settled, ``insisted`` for good: what a person said of a message holds whenever it is read
        again. The task a row was bound to stays bound until the row is settled anew.
        """

    def advance_cursor(self, cursor: int) -> None:
        """Move the cursor forward; a lower value changes nothing."""

    def record_coverage(self, since: datetime) -> None:
        """Move ``covered_since`` back to ``since``; a later moment changes nothing."""

    def record_sign_in(self, sign_in: str) -> None:
        """Remember the fingerprint of a sign-in that opens this mailbox's account."""

    def lock_pending(self, revisions: Mapping[str, int]) -> frozenset[str]:
        """Hold the rows that are still pending in the revision named by their id, to the end of the transaction.

        Answers their ids.

        Taken first, and in one order for all writers: what is decided for a held row can't be overtaken.
        """

    def find_ref_holders(self, external_refs: Sequence[str]) -> Mapping[str, RefHolder]:
        """Who holds each ref, keyed by the ref as it was asked for; refs nobody holds are absent."""

    def upsert_tasks(self, drafts: Sequence[TaskDraft]) -> tuple[Upserted, ...]:
        """Find or create, in one round trip, one answer a draft, in order."""

    def count_sender_tasks(self, hours: Collection[SenderHour], at_most: int) -> Mapping[SenderHour, int]:
        """How many messages of each sender and hour are tasks in the ledger, counted up to ``at_most``; 0 included."""

    def record_outcomes(self, outcomes: Sequence[Outcome]) -> frozenset[str]:
        """Settle rows that are still pending in the revision named; the ids that were. Others are left as they are."""


class LoopStore(Protocol):
    """The store as one mailbox's loop sees it."""

    def find_mailbox(self) -> MailboxRow | None:
        """The mailbox, or None before its first touch."""

    def create_mailbox(self, address: str, cursor: int, sign_in: str) -> MailboxRow:
        """Record the mailbox with its first cursor; when another process was first, answer its row.

        A mailbox of the same address under an earlier name is taken over, ledger and all.
        """

    def find_due(self, limit: int) -> tuple[Due, ...]:
        """Pending rows whose time has come: polled and reconciled before backfilled, oldest first."""

    def find_pending(self, message_ids: Sequence[str]) -> tuple[Due, ...]:
        """Those of the ids that are pending, whether their time has come or not, in the order of ``find_due``."""

    def count_pending(self) -> int:
        """All pending rows, due or not."""

    def in_transaction(self, work: Callable[[StoreTransaction], T]) -> T:
        """Run ``work`` in one READ COMMITTED transaction, and again from its start when it lost a race.

        ``work`` must therefore do nothing outside of the transaction. Raises ``DatabaseConflict`` after the last try.
        """

    def ingesting(self) -> AbstractContextManager[None]:
        """Hold the mailbox's ingest lock: one process reads its pending messages, so that none is paid for twice.

        Waits for the holder, within a bound, then raises ``MailboxBusy``; freed by the database when the process dies.
        Correctness never rests on it.
        """
