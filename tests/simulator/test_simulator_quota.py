"""Quota units are counted over the last 60 seconds, and an account that has none left is told so in Google's words."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from googleapiclient.errors import HttpError

from inbox_loop.simulator.quota import UnitWindow, throttled
from inbox_loop.simulator.server import Simulator

ME = "ann@example.com"
MAIL = b"Subject: Hello\r\n\r\nHello.\r\n"


def test_units_come_back_sixty_seconds_after_they_were_spent() -> None:
    window = UnitWindow()
    assert window.spend(60, limit=100, now=0.0) == 0.0
    assert window.spend(40, limit=100, now=10.0) == 0.0
    assert window.spend(20, limit=100, now=59.0) == pytest.approx(1.0)
    assert window.spend(20, limit=100, now=60.0) == 0.0
    assert window.spend(60, limit=100, now=60.0) == pytest.approx(10.0)


def test_a_refused_call_spends_nothing() -> None:
    window = UnitWindow()
    window.spend(90, limit=100, now=0.0)
    for second in range(1, 50):
        assert window.spend(20, limit=100, now=float(second)) > 0
    assert window.spend(100, limit=100, now=60.0) == 0.0


def test_a_call_dearer_than_the_limit_waits_a_whole_window() -> None:
    assert UnitWindow().spend(40, limit=20, now=0.0) == 60.0


def test_throttling_names_the_moment_in_every_second_refusal() -> None:
    moment = datetime(2026, 11, 30, 12, tzinfo=UTC)
    first, second = (throttled(12.5, count=n, moment=moment) for n in (1, 2))
    assert (first.status, second.status) == (403, 429)
    assert "Quota exceeded for quota metric" in first.message
    assert second.message.endswith("Retry after 2026-11-30T12:00:12.500Z")
    assert {json.loads(p.body())["error"]["errors"][0]["reason"] for p in (first, second)} == {"rateLimitExceeded"}


def test_each_account_has_its_own_quota_and_the_record_shows_throttling(
    simulator: Simulator, gmail_client: Callable[[str], Any]
) -> None:
    simulator.units_per_minute = 45
    message_id = simulator.account(ME).deliver(MAIL).message_id
    get = gmail_client(ME).users().messages().get(userId="me", id=message_id)
    get.execute()
    get.execute()

    with pytest.raises(HttpError) as refused:
        get.execute()
    with pytest.raises(HttpError) as refused_again:
        get.execute()
    other = gmail_client("bo@example.org").users().getProfile(userId="me").execute()

    assert (refused.value.status_code, refused_again.value.status_code) == (403, 429)
    assert other["messagesTotal"] == 0
    gets = [(c.units, c.is_throttled) for c in simulator.calls if c.method == "messages.get"]
    assert gets == [(20, False), (20, False), (0, True), (0, True)]
