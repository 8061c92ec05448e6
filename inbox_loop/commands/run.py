"""``inbox-loop run``: the daemon.

It takes every mailbox's turns at their interval, tells the database once a minute how they do, and listens to
signals: SIGTERM and SIGINT end it after what is under way, SIGHUP reads the configuration again. A configuration with
mistakes is logged, and the earlier one stays in force.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import structlog
import typer

from inbox_loop import __version__
from inbox_loop.commands.mailboxes import choose_mailboxes, open_mailboxes
from inbox_loop.commands.options import ConfigOption, read_settings
from inbox_loop.commands.signals import Requests, listening
from inbox_loop.commands.wiring import open_database
from inbox_loop.errors import EXIT_FINE, ConfigError, InboxLoopError
from inbox_loop.loop.schedule import Job, Schedule
from inbox_loop.loop.watch import Watch
from inbox_loop.repository.database import Database
from inbox_loop.repository.health import record_heartbeat
from inbox_loop.settings import Settings

HEARTBEAT_SECONDS = 60.0

log = structlog.get_logger()


def run(context: typer.Context, *, config: ConfigOption = None) -> int:
    """Poll every mailbox, day and night, until told to stop."""
    settings: Settings | None = read_settings(context, config)
    began = time.monotonic()
    with listening() as requests:
        while settings is not None:
            settings = _serve(settings, requests, context, config)
    log.info("daemon.stopped", uptime_seconds=round(time.monotonic() - began))
    return EXIT_FINE


def _serve(settings: Settings, requests: Requests, context: typer.Context, config: Path | None) -> Settings | None:
    """Run the daemon with these settings; the next ones to run with, or None when it is to stop."""
    chosen = choose_mailboxes(settings, None)
    names = [mailbox.name for mailbox in chosen]
    log.info("daemon.started", version=__version__, pid=os.getpid(), mailboxes=names)
    ending = threading.Event()
    with (
        open_database(settings) as database,
        open_mailboxes(settings, chosen, database, ending) as mailboxes,
    ):
        watches = [
            Watch(
                mailbox,
                reconcile_every=settings.poll.reconcile_every,
                monotonic=time.monotonic,
                now=lambda: datetime.now(UTC),
            )
            for mailbox in mailboxes.values()
        ]
        schedule = Schedule(_jobs(settings, watches, database))
        schedule.start()
        log.info("daemon.ready", mailboxes=names)
        following = _wait(requests, context, config)
        log.info("daemon.stopping", reload=following is not None)
        ending.set()
        schedule.stop()
    return following


def _wait(requests: Requests, context: typer.Context, config: Path | None) -> Settings | None:
    """Wait until the operator wants something: the settings to go on with, or None to stop."""
    while True:
        requests.any.wait()
        requests.any.clear()
        if requests.stop.is_set():
            return None
        if requests.reload.is_set():
            requests.reload.clear()
            try:
                return read_settings(context, config)
            except ConfigError as error:
                log.error("config.invalid", problems=[f"{p.key}: {p.message}" for p in error.problems])  # noqa: TRY400


def _jobs(settings: Settings, watches: Sequence[Watch], database: Database) -> list[Job]:
    poll = settings.poll
    turns = [
        Job(f"poll {watch.health.name}", poll.interval_seconds, poll.jitter_seconds, watch.take_turn)
        for watch in watches
    ]
    tenants = {mailbox.name: mailbox.tenant for mailbox in settings.mailboxes}
    daemon = f"{socket.gethostname()}:{os.getpid()}"

    def beat() -> None:
        for watch in watches:
            health = watch.health
            try:
                record_heartbeat(
                    database,
                    tenants[health.name],
                    health.name,
                    daemon=daemon,
                    last_good_poll_at=health.last_good_poll_at,
                    last_error=health.last_error,
                )
            except InboxLoopError as error:
                log.warning("heartbeat.failed", mailbox=health.name, error=error.code)

    return [*turns, Job("heartbeat", HEARTBEAT_SECONDS, 0.0, beat)]
