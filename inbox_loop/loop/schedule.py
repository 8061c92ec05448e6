"""Schedule: when the daemon's jobs run. The only importer of APScheduler.

Every job has one instance at a time, a late one runs once instead of catching up, and none is dropped for being late:
the three options that say so are explicit, because their defaults say otherwise. Never call ``stop`` from a signal
handler: APScheduler can hang there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.schedulers.background import BackgroundScheduler


@dataclass(frozen=True, slots=True)
class Job:
    """Something the daemon does again and again."""

    name: str
    interval_seconds: float
    jitter_seconds: float
    delay_seconds: float
    """Of the first run after the start."""
    run: Callable[[], None]
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

    def start(self) -> None:
        """Run every job after its delay, then at its interval."""
        self._scheduler.start()

    def stop(self) -> None:
        """Start no job any more, and wait for those that run."""
        self._scheduler.shutdown(wait=True)
