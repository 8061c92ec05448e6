"""Schedule: when the daemon's jobs run. The only importer of APScheduler.

APScheduler goes by the wall clock: set back an hour, it would sleep for an hour. So a thread of our own, which goes by
the monotonic clock, looks every few seconds for a run that is further off than a job's interval allows, and brings it
forward.

Every job has one instance at a time, a late one runs once instead of catching up, and none is dropped for being late:
the three options that say so are explicit, because their defaults say otherwise. Never call ``stop`` from a signal
handler: APScheduler can hang there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler

PACE_SECONDS = 5.0
SLACK = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Job:
    """Something the daemon does again and again."""

    name: str
    interval_seconds: float
    jitter_seconds: float
    delay_seconds: float
    """Of the first run after the start."""
    run: Callable[[], object]
    """Must return on its own soon after the daemon was told to stop, and must not raise."""


class Schedule:
    """Jobs that run in threads of their own, so that a slow one delays no other."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._scheduler = BackgroundScheduler(
            executors={"default": ThreadPoolExecutor(max_workers=max(1, len(jobs)))},
            timezone=UTC,
        )
        for job in jobs:
            self._scheduler.add_job(
                job.run,
                "interval",
                id=job.name,
                seconds=job.interval_seconds,
                jitter=job.jitter_seconds or None,
                next_run_time=datetime.now(UTC) + timedelta(seconds=job.delay_seconds),
                coalesce=True,
                max_instances=1,
                misfire_grace_time=None,
            )

        self._longest = {job.name: timedelta(seconds=job.interval_seconds + job.jitter_seconds) for job in jobs}
        self._stopping = threading.Event()
        self._pace = threading.Thread(target=self._keep_pace, name="schedule-pace", daemon=True)

    def start(self) -> None:
        """Run every job after its delay, then at its interval."""
        self._scheduler.start()
        self._pace.start()

    def stop(self) -> None:
        """Start no job any more, and wait for those that run."""
        self._stopping.set()
        self._pace.join()
        self._scheduler.shutdown(wait=True)

    def _keep_pace(self) -> None:
        while not self._stopping.wait(PACE_SECONDS):
            self.bring_forward(datetime.now(UTC))

    def bring_forward(self, now: datetime) -> None:
        """Run at once what would otherwise wait longer than its interval, seen from ``now``."""
        for job in self._scheduler.get_jobs():
            if job.next_run_time - now > self._longest[job.id] + SLACK:
                job.modify(next_run_time=now)
