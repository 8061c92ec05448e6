"""How each mailbox is: what the configuration, its sign-in and the database say, judged together. Pure.

Lives here: the verdicts and their order. Not here: asking (``status.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from inbox_loop.errors import EXIT_FINE, EXIT_LOOK, EXIT_PERSON, AnotherAccount, GmailRefused, NeedsAuth, NeedsPerson
from inbox_loop.loop.ledger import MessageState
from inbox_loop.repository.health import MailboxHealth
from inbox_loop.settings import MailboxSettings, PollSettings

# Five heartbeats: one may be late, or have met a database that was away for a moment.
SILENT_AFTER = timedelta(minutes=5)

_PERSON_CODES = frozenset(kind.code for kind in (NeedsPerson, NeedsAuth, GmailRefused, AnotherAccount))


class Verdict(StrEnum):
    """How a mailbox is, in a word."""

    FINE = "fine"
    QUARANTINE = "quarantine"
    """It works, and some of its messages wait for a person."""
    STALE = "stale"
    """Its daemon speaks, and its last good poll is too long ago."""
    SILENT = "silent"
    """Its daemon has not spoken for minutes, and nobody has read it since, as far as is known."""
    NO_DAEMON = "no daemon"
    """No daemon ever spoke of it, or single polls have gone on with it since. They write only what they find, so that
    nothing can be said of how lately it was read."""
    FAILING = "failing"
    NEVER_READ = "never read"
    NEEDS_PERSON = "needs you"
    DISABLED = "disabled"
    NOT_CONFIGURED = "not configured"
    """Only the database knows it."""


@dataclass(frozen=True, slots=True)
class MailboxStatus:
    """A mailbox with its verdict."""

    tenant: str
    name: str
    verdict: Verdict
    trouble: NeedsAuth | None
    """Why its sign-in can't be used."""
    health: MailboxHealth | None
    """None when the database does not know it."""

    def count(self, state: MessageState) -> int:
        """How many of its messages are in this state."""
        return self.health.messages[state] if self.health else 0


def judge(
    mailbox: MailboxSettings | None,
    health: MailboxHealth | None,
    trouble: NeedsAuth | None,
    *,
    now: datetime,
    stale_after: timedelta,
) -> Verdict:
    """The verdict on one mailbox: what keeps it from being read comes before what does not."""
    if mailbox is None or not mailbox.enabled:
        return Verdict.NOT_CONFIGURED if mailbox is None else Verdict.DISABLED
    if trouble is not None or _last_error(health, now) in _PERSON_CODES:
        return Verdict.NEEDS_PERSON
    if health is None or health.cursor is None:
        return Verdict.NEVER_READ
    if not _is_spoken_of(health, now):
        return _judge_without_daemon(health)
    return _judge_by_daemon(health, now, stale_after)


def _is_spoken_of(health: MailboxHealth, now: datetime) -> bool:
    return health.beat_at is not None and now - health.beat_at <= SILENT_AFTER


def _last_error(health: MailboxHealth | None, now: datetime) -> str | None:
    """What its daemon last met; None when no daemon speaks of it now, for then that is past."""
    return health.last_error if health is not None and _is_spoken_of(health, now) else None


def _judge_by_daemon(health: MailboxHealth, now: datetime, stale_after: timedelta) -> Verdict:
    if health.last_error is not None:
        return Verdict.FAILING
    if _is_stale(health, now, stale_after):
        return Verdict.STALE
    return Verdict.QUARANTINE if health.messages[MessageState.QUARANTINED] else Verdict.FINE


def _is_stale(health: MailboxHealth, now: datetime, stale_after: timedelta) -> bool:
    """A cursor that moves is a sign of life too: a first poll after a long pause may take its time."""
    if health.last_good_poll_at is None:
        return False
    moved = health.cursor_moved_at or health.last_good_poll_at
    return now - max(health.last_good_poll_at, moved) > stale_after


def _judge_without_daemon(health: MailboxHealth) -> Verdict:
    if health.beat_at is not None and not _was_read_after(health, health.beat_at):
        return Verdict.SILENT
    return Verdict.QUARANTINE if health.messages[MessageState.QUARANTINED] else Verdict.NO_DAEMON


def _was_read_after(health: MailboxHealth, last_beat: datetime) -> bool:
    """Whether its cursor moved well after the last heartbeat, which the daemon itself no longer did."""
    return health.cursor_moved_at is not None and health.cursor_moved_at - last_beat > SILENT_AFTER


def stale_after(poll: PollSettings) -> timedelta:
    """From when on a good poll is too long ago: three rounds, the longest poll and a heartbeat; at least 5 minutes."""
    rounds = 3 * (poll.interval_seconds + poll.jitter_seconds)
    return max(timedelta(minutes=5), timedelta(seconds=rounds + poll.deadline_seconds + 60))


def exit_code_of(statuses: Sequence[MailboxStatus]) -> int:
    """The process's exit code: a person must act, else whether something needs a look."""
    verdicts = {status.verdict for status in statuses}
    if Verdict.NEEDS_PERSON in verdicts:
        return EXIT_PERSON
    return EXIT_FINE if verdicts <= WELL else EXIT_LOOK


WELL = frozenset({Verdict.FINE, Verdict.NO_DAEMON, Verdict.DISABLED, Verdict.NOT_CONFIGURED})
"""The verdicts that are no reason to look."""

ADVICE: Mapping[Verdict, str] = {
    Verdict.QUARANTINE: "See inbox-loop messages list --state quarantined.",
    Verdict.STALE: "The daemon runs and does not get through: see its log.",
    Verdict.SILENT: "Check that inbox-loop run is running, and its log.",
    Verdict.NO_DAEMON: "Single polls read it; inbox-loop run would go on reading it by itself.",
    Verdict.FAILING: "Passing trouble heals by itself; when it stays, the daemon's log says more.",
    Verdict.NEVER_READ: "Run inbox-loop poll, or the daemon: inbox-loop run.",
    Verdict.NEEDS_PERSON: "Sign in again: inbox-loop auth login --mailbox NAME.",
}
