"""Watch: take a mailbox's turns for as long as the daemon runs, and remember how they went.

One turn polls, and reconciles when that is due; both in the same thread, so that a mailbox is never under way twice in
one process. Nothing a turn meets ends the daemon: trouble is logged when it begins, changes or ends, not at every turn.

Not here: when turns come (``loop/schedule.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta

import structlog

from inbox_loop.errors import GmailParked, InboxLoopError, NeedsPerson, Stopped
from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.loop.poll import poll_once
from inbox_loop.loop.reconcile import reconcile_once

# A restart is when something may have been missed; a few minutes later the polls have caught up.
FIRST_RECONCILE = timedelta(minutes=5)
# After a failed reconcile; its listing is not cheap.
RECONCILE_AGAIN = timedelta(minutes=15)
# A daily cap of the Google project is used up: hours, not seconds.
PARKED = timedelta(hours=1)
# An idle mailbox logs one line in this time.
QUIET_SPELL = timedelta(minutes=1)
# Trouble that lasts is said again, and a mailbox that waits for a person is tried again.
REMINDER = timedelta(minutes=15)

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class MailboxHealth:
    """How a mailbox does, as the daemon knows it."""

    name: str
    last_good_poll_at: datetime | None = None
    last_error: str | None = None
    """The code of the trouble that the last turn met; None after a good one."""


class Watch:
    """The turns of one mailbox. ``monotonic`` gives seconds, ``now`` the wall clock in UTC."""

    def __init__(
        self,
        mailbox: Mailbox,
        *,
        reconcile_every: timedelta,
        monotonic: Callable[[], float],
        now: Callable[[], datetime],
    ) -> None:
        self._mailbox = mailbox
        self._reconcile_every = reconcile_every
        self._monotonic = monotonic
        self._now = now
        self._reconcile_at = monotonic() + min(FIRST_RECONCILE, reconcile_every).total_seconds()
        self._logged_at = self._warned_at = self._paused_until = float("-inf")
        self._paused_sign_in: str | None = None
        self.health = MailboxHealth(mailbox.name)

    @property
    def tenant(self) -> str:
        """Whose mailbox it is."""
        return self._mailbox.tenant

    def take_turn(self) -> None:
        """Poll, and reconcile when that is due. Returns after any trouble; ``health`` tells."""
        if self._is_paused():
            return
        try:
            self._poll()
            self._reconcile_when_due()
        except Stopped:
            return
        except InboxLoopError as error:
            self._note_trouble(error)
        except Exception:
            # A fault of our own must not end the polls of a daemon that nobody looks at; it is said, with its stack.
            self.health = replace(self.health, last_error="fault")
            log.exception("mailbox.fault", mailbox=self._mailbox.name)
        else:
            self._note_good()

    def _poll(self) -> None:
        report = poll_once(self._mailbox)
        self.health = replace(self.health, last_good_poll_at=self._now())
        if not report.idle or self._monotonic() - self._logged_at >= QUIET_SPELL.total_seconds():
            self._logged_at = self._monotonic()
            log.info("poll.finished", **asdict(report))

    def _reconcile_when_due(self) -> None:
        if self._monotonic() < self._reconcile_at:
            return
        # Set before, so that a listing that fails is tried again later and not at every turn.
        self._reconcile_at = self._monotonic() + min(RECONCILE_AGAIN, self._reconcile_every).total_seconds()
        report = reconcile_once(self._mailbox, self._now())
        self._reconcile_at = self._monotonic() + self._reconcile_every.total_seconds()
        log.info("reconcile.finished", **asdict(report))

    def _is_paused(self) -> bool:
        """A mailbox that waits for a person, or for a daily cap, is left alone until its time, or a new sign-in."""
        return self._monotonic() < self._paused_until and self._find_sign_in() == self._paused_sign_in

    def _find_sign_in(self) -> str | None:
        try:
            return self._mailbox.gmail.find_sign_in()
        except NeedsPerson:
            return None

    def _note_good(self) -> None:
        if self.health.last_error is not None:
            log.info("mailbox.recovered", mailbox=self._mailbox.name, error=self.health.last_error)
        self.health = replace(self.health, last_error=None)

    def _note_trouble(self, error: InboxLoopError) -> None:
        lasts = self.health.last_error == error.code
        self.health = replace(self.health, last_error=error.code)
        if pause := _pause_after(error):
            self._paused_until = self._monotonic() + pause.total_seconds()
            self._paused_sign_in = self._find_sign_in()
        if lasts and self._monotonic() - self._warned_at < REMINDER.total_seconds():
            return
        self._warned_at = self._monotonic()
        if isinstance(error, NeedsPerson):
            log.error("mailbox.needs_auth", mailbox=self._mailbox.name, hint=error.hint, exc_info=error)
        else:
            log.error("mailbox.failed", mailbox=self._mailbox.name, hint=error.hint, exc_info=error)


def _pause_after(error: InboxLoopError) -> timedelta | None:
    """How long to ask Gmail nothing after such trouble; None goes on with the next turn."""
    if isinstance(error, NeedsPerson):
        return REMINDER
    return PARKED if isinstance(error, GmailParked) else None
