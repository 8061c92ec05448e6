"""What a pass has done, as values: counted while it runs, logged as one event, printed by the command."""

from __future__ import annotations

import time
from dataclasses import dataclass

from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.loop.ports import Usage


@dataclass(frozen=True, slots=True)
class Tally:
    """How many messages came to which outcome. ``waiting`` ones stay pending, to be tried again later."""

    created: int = 0
    found: int = 0
    skipped: int = 0
    quarantined: int = 0
    gone: int = 0
    waiting: int = 0

    @property
    def total(self) -> int:
        """Messages that left the pending state."""
        return self.created + self.found + self.skipped + self.quarantined + self.gone

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.created + other.created,
            self.found + other.found,
            self.skipped + other.skipped,
            self.quarantined + other.quarantined,
            self.gone + other.gone,
            self.waiting + other.waiting,
        )


@dataclass(frozen=True, slots=True)
class Discovered:
    """What discover came to: ids listed, known already, new, and known ones that are to be read again."""

    listed: int = 0
    known: int = 0
    discovered: int = 0
    reopened: int = 0

    def __add__(self, other: Discovered) -> Discovered:
        return Discovered(
            self.listed + other.listed,
            self.known + other.known,
            self.discovered + other.discovered,
            self.reopened + other.reopened,
        )


@dataclass(frozen=True, slots=True)
class PassReport:
    """One poll, backfill or reconcile of one mailbox."""

    mailbox: str
    discovered: int
    """Ids new to the ledger, and known ones that are read again, because their labels changed or it was asked for."""
    created: int
    found: int
    skipped: int
    quarantined: int
    gone: int
    pending: int
    """Rows of the mailbox that still wait, from this pass or an earlier one."""
    api_calls: int
    quota_units: int
    duration_ms: int
    cursor: str
    """Decimal, as Gmail writes it: it can be longer than what JSON readers take for a number."""
    listed: int
    """Ids that Gmail's listing named; 0 for a poll that history answered."""
    known: int
    """Of those, how many the ledger knew."""
    complete: bool
    """False when the pass stopped before its end; the next one goes on from there. Messages that wait for another try
    are ``pending`` and do not count here.
    """

    @property
    def idle(self) -> bool:
        """Whether the pass met nothing at all."""
        return not (self.discovered or self.created or self.found or self.skipped or self.quarantined or self.gone)

    @property
    def needs_a_look(self) -> bool:
        """Whether a person should look: something is in quarantine, or the pass did not come to its end."""
        return bool(self.quarantined) or not self.complete


@dataclass(frozen=True, slots=True)
class Meter:
    """Started with a pass; turns what was counted into its report."""

    mailbox: Mailbox
    started: float
    """Monotonic seconds."""
    before: Usage

    @classmethod
    def start(cls, mailbox: Mailbox) -> Meter:
        """A meter that counts from now."""
        return cls(mailbox, time.monotonic(), mailbox.gmail.usage())

    def report(self, *, found: Discovered, tally: Tally, cursor: int, complete: bool) -> PassReport:
        """The report of a pass that ends now."""
        usage = self.mailbox.gmail.usage()
        return PassReport(
            mailbox=self.mailbox.name,
            discovered=found.discovered + found.reopened,
            created=tally.created,
            found=tally.found,
            skipped=tally.skipped,
            quarantined=tally.quarantined,
            gone=tally.gone,
            pending=self.mailbox.store.count_pending(),
            api_calls=usage.api_calls - self.before.api_calls,
            quota_units=usage.quota_units - self.before.quota_units,
            duration_ms=round((time.monotonic() - self.started) * 1000),
            cursor=str(cursor),
            listed=found.listed,
            known=found.known,
            complete=complete,
        )
