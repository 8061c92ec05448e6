"""What costs nothing when nothing is new: the server's write position stands still, and no message is read."""

from __future__ import annotations

import pytest
from support.desk import Desk

import inbox_loop.gmail.mailbox
from inbox_loop.repository.upkeep import find_write_position


def test_an_idle_poll_is_one_call_of_two_units_and_writes_nothing(quiet_desk: Desk) -> None:
    quiet_desk.deliver("Once")
    quiet_desk.poll()
    quiet_desk.poll()
    before, calls = quiet_desk.settled_position(), len(quiet_desk.methods())
    report = quiet_desk.poll()
    assert (report.api_calls, report.quota_units, report.idle) == (1, 2, True)
    assert quiet_desk.methods()[calls:] == ["history.list"]
    assert find_write_position(quiet_desk.database) == before


def test_a_repeated_backfill_costs_the_list_calls_and_writes_nothing(
    quiet_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_loop.gmail.mailbox, "PAGE_SIZE", 10)
    for number in range(25):
        quiet_desk.deliver(f"Old {number}")
    quiet_desk.backfill()
    quiet_desk.backfill()
    before, calls = quiet_desk.settled_position(), len(quiet_desk.methods())
    report = quiet_desk.backfill()
    assert quiet_desk.methods()[calls:] == ["messages.list"] * 3
    assert (report.listed, report.known, report.discovered, report.quota_units) == (25, 25, 0, 15)
    assert find_write_position(quiet_desk.database) == before
