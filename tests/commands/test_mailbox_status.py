"""The verdict on a mailbox, from what the configuration, the sign-in and the database say."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from inbox_loop.commands.mailbox_status import ADVICE, WELL, MailboxStatus, Verdict, exit_code_of, judge, stale_after
from inbox_loop.errors import EXIT_FINE, EXIT_LOOK, EXIT_PERSON, NeedsAuth
from inbox_loop.loop.ledger import MessageState
from inbox_loop.repository.health import MailboxHealth
from inbox_loop.settings import MailboxSettings, PollSettings

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=3)
MAILBOX = MailboxSettings(name="support", token_file=Path("/token.json"))
GOOD = MailboxHealth(
    name="support",
    cursor=100,
    cursor_moved_at=LONG_AGO,
    last_good_poll_at=NOW - timedelta(seconds=40),
    beat_at=NOW,
    last_error=None,
    messages=dict.fromkeys(MessageState, 0),
)
QUARANTINED = replace(GOOD, messages={**GOOD.messages, MessageState.QUARANTINED: 1})


@pytest.mark.parametrize(
    ("mailbox", "health", "trouble", "verdict"),
    [
        (MAILBOX, GOOD, None, Verdict.FINE),
        (MAILBOX, QUARANTINED, None, Verdict.QUARANTINE),
        (MAILBOX, replace(GOOD, last_good_poll_at=LONG_AGO), None, Verdict.STALE),
        (MAILBOX, replace(QUARANTINED, last_good_poll_at=LONG_AGO), None, Verdict.STALE),
        (MAILBOX, replace(GOOD, last_good_poll_at=LONG_AGO, cursor_moved_at=NOW), None, Verdict.FINE),
        (MAILBOX, replace(GOOD, last_good_poll_at=None), None, Verdict.FINE),
        (MAILBOX, replace(GOOD, last_error="gmail.unreachable"), None, Verdict.FAILING),
        (MAILBOX, replace(GOOD, last_error="mailbox.needs_auth"), None, Verdict.NEEDS_PERSON),
        (MAILBOX, replace(GOOD, last_error="gmail.refused"), None, Verdict.NEEDS_PERSON),
        (MAILBOX, replace(GOOD, last_error="mailbox.another_account"), None, Verdict.NEEDS_PERSON),
        (MAILBOX, GOOD, NeedsAuth("gone"), Verdict.NEEDS_PERSON),
        (MAILBOX, None, NeedsAuth("gone"), Verdict.NEEDS_PERSON),
        (MAILBOX, None, None, Verdict.NEVER_READ),
        (MAILBOX, replace(GOOD, cursor=None), None, Verdict.NEVER_READ),
        (MAILBOX.model_copy(update={"enabled": False}), None, None, Verdict.DISABLED),
        (None, QUARANTINED, None, Verdict.NOT_CONFIGURED),
    ],
)
def test_what_keeps_a_mailbox_from_being_read_comes_before_what_does_not(
    mailbox: MailboxSettings | None, health: MailboxHealth | None, trouble: NeedsAuth | None, verdict: Verdict
) -> None:
    assert judge(mailbox, health, trouble, now=NOW, stale_after=timedelta(minutes=5)) is verdict


BEAT = NOW - timedelta(days=1)
SILENT = replace(GOOD, beat_at=BEAT, last_good_poll_at=BEAT)
NEVER_SPOKEN_OF = replace(GOOD, beat_at=None, last_good_poll_at=None)


@pytest.mark.parametrize("last_error", [None, "gmail.unreachable", "mailbox.needs_auth"])
def test_what_a_daemon_said_before_it_fell_silent_says_nothing_of_today(last_error: str | None) -> None:
    assert verdict_on(replace(SILENT, last_error=last_error)) is Verdict.SILENT


def test_a_daemon_is_silent_after_five_minutes() -> None:
    beat = NOW - timedelta(minutes=5)
    assert verdict_on(replace(GOOD, beat_at=beat)) is Verdict.FINE
    assert verdict_on(replace(GOOD, beat_at=beat - timedelta(seconds=1))) is Verdict.SILENT


def test_a_mailbox_that_single_polls_read_has_no_daemon_and_is_never_stale() -> None:
    assert verdict_on(NEVER_SPOKEN_OF) is Verdict.NO_DAEMON
    went_on = replace(SILENT, last_error="gmail.unreachable", cursor_moved_at=BEAT + timedelta(hours=1))
    assert verdict_on(went_on) is Verdict.NO_DAEMON


def test_the_daemons_own_last_move_of_the_cursor_is_not_taken_for_a_single_poll() -> None:
    assert verdict_on(replace(SILENT, cursor_moved_at=BEAT + timedelta(seconds=50))) is Verdict.SILENT


def test_quarantine_is_told_without_a_daemon_too_and_silence_comes_before_it() -> None:
    assert verdict_on(replace(NEVER_SPOKEN_OF, messages=QUARANTINED.messages)) is Verdict.QUARANTINE
    assert verdict_on(replace(SILENT, messages=QUARANTINED.messages)) is Verdict.SILENT


def verdict_on(health: MailboxHealth) -> Verdict:
    return judge(MAILBOX, health, None, now=NOW, stale_after=timedelta(minutes=5))


def test_a_poll_is_too_long_ago_by_the_rhythm_of_the_polls() -> None:
    assert stale_after(PollSettings()) == timedelta(minutes=5)
    slow = PollSettings(interval_seconds=3600, jitter_seconds=0, deadline_seconds=120)
    assert stale_after(slow) == timedelta(hours=3, minutes=3)


def test_the_exit_code_is_3_before_1_before_0() -> None:
    def code_of(*verdicts: Verdict) -> int:
        return exit_code_of([MailboxStatus("default", "support", verdict, None, None) for verdict in verdicts])

    assert code_of() == EXIT_FINE
    assert code_of(Verdict.FINE, Verdict.NO_DAEMON, Verdict.DISABLED, Verdict.NOT_CONFIGURED) == EXIT_FINE
    for verdict in (Verdict.QUARANTINE, Verdict.STALE, Verdict.SILENT, Verdict.FAILING, Verdict.NEVER_READ):
        assert code_of(Verdict.FINE, verdict) == EXIT_LOOK
        assert code_of(verdict, Verdict.NEEDS_PERSON) == EXIT_PERSON


def test_every_verdict_that_is_not_well_comes_with_advice() -> None:
    assert set(Verdict) - WELL <= ADVICE.keys()
