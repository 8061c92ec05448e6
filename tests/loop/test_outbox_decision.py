"""What follows from a receiver's answer: delivered, another try after a growing wait, or given up."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest

from inbox_loop.loop.outbox import LONGEST_WAIT, Delivered, GiveUp, Retry, backoff, decide
from inbox_loop.loop.outbox_ports import Answer, Trouble

SECOND = timedelta(seconds=1)


@pytest.mark.parametrize("status", [200, 201, 204, 299])
@pytest.mark.parametrize("attempts", [1, 3, 7])
def test_2xx_is_delivered_at_whichever_attempt(status: int, attempts: int) -> None:
    assert decide(Answer(status), attempts, limit=3, jitter=0.5) == Delivered()


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer(500), "http_500"),
        (Answer(404), "http_404"),
        (Answer(302), "http_302"),
        (Answer(103), "http_103"),
        (Trouble.TIMEOUT, "timeout"),
        (Trouble.CERTIFICATE, "certificate"),
    ],
)
def test_anything_else_is_tried_again_and_given_up_at_the_last_attempt(answer: Answer | Trouble, error: str) -> None:
    assert decide(answer, 1, limit=3, jitter=0) == Retry(error, 5 * SECOND)
    assert decide(answer, 2, limit=3, jitter=0) == Retry(error, 10 * SECOND)
    assert decide(answer, 3, limit=3, jitter=0) == GiveUp(error)


def test_410_is_given_up_at_once() -> None:
    assert decide(Answer(410, retry_after=SECOND), 1, limit=12, jitter=0) == GiveUp("http_410")


def test_the_wait_doubles_from_five_seconds_up_to_six_hours() -> None:
    waits = [backoff(attempts, 0).total_seconds() for attempts in range(1, 101)]
    assert waits[:5] == [5, 10, 20, 40, 80]
    assert all(later == min(2 * earlier, 21_600) for earlier, later in pairwise(waits))
    assert waits[-1] == 21_600


def test_jitter_makes_a_wait_up_to_a_fifth_longer_and_never_longer_than_six_hours() -> None:
    assert backoff(1, 1) == 6 * SECOND
    assert backoff(1, 0.5) == 5.5 * SECOND
    assert backoff(50, 1) == LONGEST_WAIT


@pytest.mark.parametrize(
    ("asked", "waited"),
    [
        (timedelta(minutes=2), timedelta(minutes=2)),
        (SECOND, 5 * SECOND),
        (timedelta(), 5 * SECOND),
        (timedelta(days=2), timedelta(hours=6)),
    ],
    ids=["longer", "shorter", "none", "far too long"],
)
def test_a_receiver_can_ask_for_a_longer_wait_up_to_six_hours(asked: timedelta, waited: timedelta) -> None:
    assert decide(Answer(503, asked), 1, limit=3, jitter=0) == Retry("http_503", waited)


def test_asking_for_a_wait_brings_no_further_attempt() -> None:
    assert decide(Answer(503, SECOND), 3, limit=3, jitter=0) == GiveUp("http_503")
