"""Quota units: never more than the allowance in a minute, and hardly less."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbox_loop.errors import DeadlineExceeded, GmailThrottled, Stopped
from inbox_loop.gmail.bounds import Bounds
from inbox_loop.gmail.quota import WINDOW_SECONDS, Allowance, Quota, method_costs

COSTS = [1, 2, 5, 20, 40]


def spend(allowance: Allowance, calls: list[tuple[float, int]], start: float = 0.0) -> list[tuple[float, int]]:
    """Make each call after its idle time, as soon as the allowance lets it; when each was granted."""
    now = start
    granted = []
    for idle, units in calls:
        now += idle
        while (wait := allowance.wait_seconds(units, now)) > 0:
            now += max(wait, 1e-6)
        allowance.grant(units, now)
        granted.append((now, units))
    return granted


def most_in_a_window(granted: list[tuple[float, int]]) -> int:
    """The most units in any 60 seconds that end with a grant."""
    most = inside = oldest = 0
    for at, units in granted:
        inside += units
        while granted[oldest][0] <= at - WINDOW_SECONDS:
            inside -= granted[oldest][1]
            oldest += 1
        most = max(most, inside)
    return most


@settings(max_examples=50, deadline=None)
@given(
    allowed=st.sampled_from([60, 100, 600, 6000]),
    calls=st.lists(
        st.tuples(st.sampled_from([0.0, 0.0, 0.0, 0.3, 7.0, 59.9, 200.0]), st.sampled_from(COSTS)),
        min_size=1,
        max_size=150,
    ),
)
def test_no_window_of_sixty_seconds_holds_more_than_the_allowance(allowed: int, calls: list[tuple[float, int]]) -> None:
    granted = spend(Allowance(allowed, dearest=40, now=0.0), calls)

    assert most_in_a_window(granted) <= allowed


@pytest.mark.parametrize("allowed", [600, 6000, 15000])
@pytest.mark.parametrize("cost", [5, 20, 40])
def test_at_least_97_percent_of_the_allowance_is_used_after_the_first_ten_seconds(allowed: int, cost: int) -> None:
    calls = [(0.0, cost)] * (4 * allowed // cost)
    granted = spend(Allowance(allowed, dearest=40, now=0.0), calls)

    end = granted[-1][0]
    used = sum(units for at, units in granted if 10 <= at < end)
    assert used >= 0.97 * allowed / 60 * (end - 10)
    assert most_in_a_window(granted) <= allowed


def test_a_call_dearer_than_the_whole_allowance_still_goes_out() -> None:
    granted = spend(Allowance(60, dearest=100, now=0.0), [(0.0, 100), (0.0, 100), (0.0, 100)])

    assert granted[-1][0] == pytest.approx(2 * WINDOW_SECONDS, rel=0.1)


def test_nothing_is_granted_during_a_pause_and_a_shorter_pause_does_not_end_it() -> None:
    allowance = Allowance(6000, dearest=40, now=0.0)
    allowance.pause(30.0)
    allowance.pause(10.0)

    assert spend(allowance, [(0.0, 1)])[0][0] == pytest.approx(30.0)


def test_costs_of_the_settings_stand_in_place_of_googles() -> None:
    costs = method_costs({"messages.get": 60})

    assert (costs["messages.get"], costs["threads.get"]) == (60, 40)


def test_threads_share_one_allowance_first_come_first_served(bounds: Bounds) -> None:
    quota = Quota(6000, dearest=40)
    quota.take(90, bounds)  # what the bucket holds; from here on everybody waits
    order: list[int] = []

    def ask(n: int) -> None:
        quota.take(5, bounds)
        order.append(n)

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(4)]
    began = time.monotonic()
    for n, thread in enumerate(threads):
        thread.start()
        while quota.count_waiting() <= n and len(order) <= n:
            threading.Event().wait(0.001)
    for thread in threads:
        thread.join(5)

    assert order == [0, 1, 2, 3]
    assert time.monotonic() - began >= 4 * 5 / 98 * 0.9


def test_a_stop_ends_the_wait_for_units(stop: threading.Event, bounds: Bounds) -> None:
    quota = Quota(60, dearest=40)
    quota.take(40, bounds)
    threading.Timer(0.05, stop.set).start()

    began = time.monotonic()
    with pytest.raises(Stopped):
        quota.take(40, bounds)
    assert time.monotonic() - began < 10


def test_a_wait_that_outlasts_the_pass_is_not_begun(bounds: Bounds) -> None:
    quota = Quota(60, dearest=40)
    quota.take(40, bounds)

    began = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        quota.take(40, bounds.within(10))
    assert time.monotonic() - began < 5


def test_a_pause_that_outlasts_the_pass_is_told_as_gmails_wish(bounds: Bounds) -> None:
    quota = Quota(6000, dearest=40)
    quota.pause(3600)

    with pytest.raises(GmailThrottled) as caught:
        quota.take(1, bounds.within(10))
    assert caught.value.retry_after == pytest.approx(3600, abs=5)


def test_who_gives_up_does_not_hold_up_the_next(bounds: Bounds) -> None:
    quota = Quota(6000, dearest=40)
    quota.take(90, bounds)
    with pytest.raises(DeadlineExceeded):
        quota.take(90, bounds.within(0.01))

    quota.take(1, bounds.within(5))
    assert quota.count_waiting() == 0
