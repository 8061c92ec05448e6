"""Showing how a backfill comes along: a bar on a terminal, a log line every few seconds elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import structlog
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from inbox_loop.loop.backfill import BackfillProgress

LINE_EVERY_SECONDS = 10.0

log = structlog.get_logger()


class Progress(Protocol):
    """Told after each page and batch, from any thread."""

    def show(self, mailbox: str, progress: BackfillProgress) -> None:
        """Show how far the backfill of ``mailbox`` is."""


@contextmanager
def show_progress() -> Iterator[Progress]:
    """Bars when standard error is a terminal, else lines."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    columns = (
        TextColumn("{task.fields[mailbox]}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[step]}"),
    )
    with Bars(*columns, console=Console(stderr=True)) as bars:
        yield _Bars(bars)


class _Bars:
    """One bar a mailbox: pulsing while it lists, then filling as messages are read."""

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._ids: dict[str, TaskID] = {}
        self._lock = threading.Lock()

    def show(self, mailbox: str, progress: BackfillProgress) -> None:
        done = progress.tally.total
        with self._lock:
            if mailbox not in self._ids:
                self._ids[mailbox] = self._bars.add_task("", total=None, mailbox=mailbox, rate="", step="")
            bar = self._ids[mailbox]
            if not (done or progress.remaining):
                self._bars.update(bar, step=f"{progress.found.listed} listed")
                return
            speed = self._bars.tasks[self._bars.task_ids.index(bar)].speed
            self._bars.update(
                bar,
                completed=done,
                total=done + progress.remaining,
                rate=f"{speed:.1f}/s" if speed else "",
                step=f"{progress.tally.created} tasks",
            )


class _Lines:
    """One event every ten seconds a mailbox."""

    def __init__(self) -> None:
        self._next: dict[str, float] = {}
        self._lock = threading.Lock()

    def show(self, mailbox: str, progress: BackfillProgress) -> None:
        now = time.monotonic()
        with self._lock:
            if now < self._next.setdefault(mailbox, now + LINE_EVERY_SECONDS):
                return
            self._next[mailbox] = now + LINE_EVERY_SECONDS
        log.info(
            "backfill.progress",
            mailbox=mailbox,
            listed=progress.found.listed,
            known=progress.found.known,
            done=progress.tally.total,
            remaining=progress.remaining,
        )
