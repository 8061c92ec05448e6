"""The daemon's schedule: jobs run at their interval, whatever the wall clock does."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta, tzinfo

import apscheduler.schedulers.base
import pytest

import inbox_loop.loop.schedule
from inbox_loop.loop.schedule import Job, Schedule

SECONDS = 10


class Runs:
    """Counts the runs of a job, and lets a test wait for the next ones."""

    def __init__(self) -> None:
        self._count = 0
        self._news = threading.Condition()

    def __call__(self) -> None:
        with self._news:
            self._count += 1
            self._news.notify_all()

    def wait_for_more(self, more: int) -> None:
        with self._news:
            wanted = self._count + more
            assert self._news.wait_for(lambda: self._count >= wanted, timeout=SECONDS), "it does not run any more"


class SetBack(datetime):
    """A wall clock that can be set back."""

    by = timedelta()

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> SetBack:
        moment = datetime.now(tz) - cls.by
        return cls.fromtimestamp(moment.timestamp(), tz)


def test_a_job_runs_at_once_and_then_at_its_interval() -> None:
    runs = Runs()
    schedule = Schedule([Job("quick", 0.05, 0.0, 0.0, runs)])
    schedule.start()
    runs.wait_for_more(3)
    schedule.stop()


def test_a_job_that_hangs_delays_no_other() -> None:
    hanging, runs = threading.Event(), Runs()

    def hang() -> None:
        hanging.wait(SECONDS)

    schedule = Schedule([Job("stuck", 3600, 0.0, 0.0, hang), Job("quick", 0.05, 0.0, 0.0, runs)])
    schedule.start()
    runs.wait_for_more(3)
    hanging.set()
    schedule.stop()


def test_a_clock_set_back_an_hour_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SetBack, "by", timedelta())
    monkeypatch.setattr(apscheduler.schedulers.base, "datetime", SetBack)
    monkeypatch.setattr(inbox_loop.loop.schedule, "datetime", SetBack)
    monkeypatch.setattr(inbox_loop.loop.schedule, "PACE_SECONDS", 0.1)
    runs = Runs()
    schedule = Schedule([Job("quick", 0.05, 0.0, 0.0, runs)])
    schedule.start()
    runs.wait_for_more(2)
    SetBack.by = timedelta(hours=1)
    runs.wait_for_more(1)
    runs.wait_for_more(3)
    schedule.stop()


def test_only_a_run_that_is_further_off_than_the_interval_allows_is_brought_forward() -> None:
    ran = threading.Event()
    schedule = Schedule([Job("slow", 3600, 0.0, 3600, ran.set)])
    schedule.start()
    schedule.bring_forward(datetime.now(UTC))
    assert not ran.wait(0.3)
    schedule.bring_forward(datetime.now(UTC) - timedelta(minutes=1))
    assert ran.wait(SECONDS)
    schedule.stop()
