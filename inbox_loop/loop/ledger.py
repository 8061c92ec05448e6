"""What the ledger says, as the loop reads and writes it: values that cross to the store and back.

Lives here: the states of a message, its row while it is pending, its outcome, and what is kept of a mailbox. Not here:
what can be asked of the store (``ports.py``), and what is decided (``discover.py``, ``settle.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from uuid import UUID

from inbox_loop.task import TaskStatus


class MessageState(StrEnum):
    """What became of a message."""

    PENDING = "pending"
    TASK = "task"
    SKIPPED = "skipped"
    QUARANTINED = "quarantined"
    GONE = "gone"


class FoundBy(StrEnum):
    """Who learnt of the message first."""

    POLL = "poll"
    BACKFILL = "backfill"
    RECONCILE = "reconcile"


@dataclass(frozen=True, slots=True)
class DateRange:
    """Internal dates wanted: ``after`` is included, ``before`` is not, None is open."""

    after: datetime | None = None
    before: datetime | None = None

    def covers(self, other: DateRange) -> bool:
        """Whether every moment of ``other`` is in this range too."""
        starts = self.after is None or (other.after is not None and other.after >= self.after)
        ends = self.before is None or (other.before is not None and other.before <= self.before)
        return starts and ends

    def holds(self, moment: datetime) -> bool:
        """Whether a message of this internalDate is wanted."""
        return (self.after is None or moment >= self.after) and (self.before is None or moment < self.before)


EVERY_DATE = DateRange()


@dataclass(frozen=True, slots=True)
class MailboxRow:
    """A mailbox in the store."""

    mailbox_id: UUID
    name: str
    address: str
    cursor: int
    cursor_moved_at: datetime
    cursor_age: timedelta
    """By the database's clock."""
    covered_since: datetime
    """Mail since then is meant to be in the ledger: the first touch, or earlier once a backfill is complete."""
    sign_in: str | None
    """Fingerprint of the sign-in that was last found to open this mailbox's account."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the ledger says of a message it knows."""

    state: MessageState
    reason: str | None
    task_deleted: bool
    """The row is bound to a task that is now a tombstone."""
    internal_date: datetime | None
    """When Gmail received it; None before it was read."""
    wanted: DateRange
    """The range it was last listed for."""


@dataclass(frozen=True, slots=True)
class Due:
    """A pending ledger row whose time has come."""

    message_id: str
    thread_id: str
    attempts: int
    """Failed attempts so far."""
    age: timedelta
    """Since the message was first seen or last reopened, by the database's clock."""
    revision: int
    """Changes whenever the row is reopened, so that what was read before can't settle it."""
    remint: bool
    """A deleted task of this message may be created anew, on purpose."""
    insisted: bool
    """A person wants a task of this message, whatever the policy and the cap say."""
    wanted: DateRange
    """The range it was listed for; a message outside of it is skipped."""


@dataclass(frozen=True, slots=True)
class RefHolder:
    """Who holds a ref: the live task if there is one, else the newest tombstone."""

    external_ref: str
    task_id: UUID
    number: int
    status: TaskStatus
    deleted: bool
    source_mailbox: str | None
    source_account: str | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is recorded for one pending message. Still ``pending`` means: again after ``retry_in``."""

    message_id: str
    revision: int
    """Of the ``Due`` row this answers."""
    state: MessageState
    reason: str | None = None
    task_id: UUID | None = None
    thread_id: str | None = None
    """As the fetched message says; None keeps what the ledger has."""
    internal_date: datetime | None = None
    """Of the message that was read; None keeps what the ledger has."""
    retry_in: timedelta | None = None
    rule: str | None = None
    """The name of the rule that decided; None when none matched."""
    sender: str | None = None
    """Of the message that was read, as ``policy.find_sender`` says; None keeps what the ledger has."""


@dataclass(frozen=True, slots=True)
class SenderHour:
    """A sender's address and a clock hour in UTC, named by its start: what the cap on a sender's tasks counts by."""

    sender: str
    hour: datetime

    @classmethod
    def of(cls, sender: str, internal_date: datetime) -> SenderHour:
        """The hour in which a message of this sender came in."""
        return cls(sender, internal_date.astimezone(UTC).replace(minute=0, second=0, microsecond=0))
