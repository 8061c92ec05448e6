"""A daemon's turns over one mailbox: polls go on whatever happens, and who waits for a person is left alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs
from support.desk import ADDRESS, Desk

from inbox_loop.loop.watch import FIRST_RECONCILE, REMINDER, Watch
from inbox_loop.simulator.faults import Fault

LATER = (FIRST_RECONCILE + timedelta(seconds=1)).total_seconds()


def error_of(watch: Watch) -> str | None:
    return watch.health.last_error


class Clock:
    """Monotonic seconds that pass when told to."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def watch(desk: Desk, clock: Clock) -> Watch:
    return Watch(desk.mailbox, reconcile_every=timedelta(hours=24), monotonic=clock, now=lambda: datetime.now(UTC))


def test_a_reconcile_comes_soon_after_the_start_and_then_at_its_interval(
    watch: Watch, desk: Desk, clock: Clock
) -> None:
    with capture_logs() as logs:
        watch.take_turn()
        clock.seconds += LATER
        watch.take_turn()
        watch.take_turn()
        clock.seconds += timedelta(hours=24).total_seconds()
        watch.take_turn()
    assert [line["event"] for line in logs].count("reconcile.finished") == 2
    assert desk.methods().count("messages.list") == 2


def count_comparisons(desk: Desk) -> int:
    """How often a listing was asked for to compare it with the ledger; the search for large messages is another one."""
    return sum(call.method == "messages.list" and "after%3A" in call.query for call in desk.simulator.calls)


def test_a_reconcile_that_fails_does_not_stop_the_polls(watch: Watch, desk: Desk, clock: Clock) -> None:
    desk.simulator.faults.add(Fault("messages.list", status=500, times=None))
    clock.seconds += LATER
    watch.take_turn()
    assert error_of(watch) == "gmail.unreachable"
    listed = count_comparisons(desk)
    assert listed > 0
    desk.deliver("Meanwhile")
    watch.take_turn()
    assert desk.titles() == ["Meanwhile"]
    assert error_of(watch) is None
    assert count_comparisons(desk) == listed, "its listing is not tried at every turn"


def test_a_mailbox_that_waits_for_a_person_asks_google_nothing_until_they_have_acted(
    watch: Watch, desk: Desk, clock: Clock
) -> None:
    desk.simulator.revoke(ADDRESS)
    with capture_logs() as logs:
        for _ in range(20):
            watch.take_turn()
        asked = len(desk.simulator.calls)
        clock.seconds += REMINDER.total_seconds() + 1
        watch.take_turn()
        assert len(desk.simulator.calls) > asked, "now and then it is tried all the same"
        desk.simulator.token_file(ADDRESS, desk.token_file)
        desk.deliver("Afterwards")
        watch.take_turn()
    assert asked < 8
    assert [line["event"] for line in logs].count("mailbox.needs_auth") == 2
    assert "mailbox.recovered" in [line["event"] for line in logs]
    assert desk.titles() == ["Afterwards"]


def test_an_idle_mailbox_logs_one_line_a_minute(watch: Watch, clock: Clock) -> None:
    with capture_logs() as logs:
        for _ in range(10):
            watch.take_turn()
            clock.seconds += 30
    assert [line["event"] for line in logs] == ["poll.finished"] * 5


def test_trouble_is_logged_when_it_begins_and_ends_and_now_and_then_between(
    watch: Watch, desk: Desk, clock: Clock
) -> None:
    desk.simulator.faults.add(Fault("history.list", status=503, times=None))
    with capture_logs() as logs:
        for _ in range(6):
            watch.take_turn()
            clock.seconds += 10
        clock.seconds += REMINDER.total_seconds()
        watch.take_turn()
        desk.simulator.faults.clear()
        watch.take_turn()
    events = [line["event"] for line in logs if line["event"].startswith("mailbox.")]
    assert events == ["mailbox.failed", "mailbox.failed", "mailbox.recovered"]
