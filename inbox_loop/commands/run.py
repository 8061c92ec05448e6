"""``inbox-loop run``: the daemon.

It takes every mailbox's turns at their interval, tells others of new tasks, purges what is over, and tells the database
once a minute how its mailboxes do. It listens to signals: SIGTERM and SIGINT end it after what is under way, SIGHUP
reads the configuration again. A configuration that the daemon could not run with is logged, and the earlier one stays
in force.
"""

from __future__ import annotations

import os
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import structlog
import typer

from inbox_loop import __version__
from inbox_loop.commands import heartbeat
from inbox_loop.commands.daemon_outbox import relaying
from inbox_loop.commands.daemon_purge import purges
from inbox_loop.commands.heartbeat import Heartbeat
from inbox_loop.commands.logs import configure_logs
from inbox_loop.commands.mailboxes import HINT, list_enabled, open_mailboxes
from inbox_loop.commands.options import ConfigOption, find_given_settings, read_settings
from inbox_loop.commands.relay import announce_created
from inbox_loop.commands.signals import Requests, listening
from inbox_loop.commands.wiring import open_database
from inbox_loop.errors import EXIT_FINE, InboxLoopError
from inbox_loop.loop.schedule import Job, Schedule
from inbox_loop.loop.watch import Watch
from inbox_loop.settings import PollSettings, Settings

log = structlog.get_logger()


def run(context: typer.Context, *, config: ConfigOption = None) -> int:
    """Poll every mailbox, tell others of new tasks and purge what is over, day and night, until told to stop.

    Without a mailbox it does the rest.
    """
    began = time.monotonic()
    settings = read_settings(context, config)
    names = [mailbox.name for mailbox in list_enabled(settings)]
    log.info("daemon.started", version=__version__, pid=os.getpid(), mailboxes=names)
    with listening() as requests:
        while True:
            following = _serve(settings, requests, context, config)
            if following is None:
                break
            settings = following
            configure_logs(settings.log)
            log.info("daemon.reloaded", mailboxes=[mailbox.name for mailbox in list_enabled(settings)])
    log.info("daemon.stopped", uptime_seconds=round(time.monotonic() - began))
    return EXIT_FINE


def _serve(settings: Settings, requests: Requests, context: typer.Context, config: Path | None) -> Settings | None:
    """Run the daemon with these settings; the next ones to run with, or None when it is to stop."""
    chosen = list_enabled(settings)
    ending = threading.Event()
    with (
        open_database(settings) as database,
        open_mailboxes(settings, chosen, database, ending) as mailboxes,
        relaying(settings, database, ending),
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
        pulse = Heartbeat(database, watches)
        turns = [_turns(watch, settings.poll) for watch in watches]
        schedule = Schedule([*turns, _beats(pulse), purges(settings, database, ending)])
        if not chosen:
            log.warning("daemon.no_mailbox", hint=HINT)
        log.info("daemon.ready", mailboxes=[mailbox.name for mailbox in chosen])
        schedule.start()
        following = _wait(requests, context, config)
        if following is None:
            log.info("daemon.stopping")
        ending.set()
        schedule.stop()
        # A database that is away is waited for once, not twice.
        if pulse.beat():
            announce_created(database)
    return following


def _turns(watch: Watch, poll: PollSettings) -> Job:
    return Job(f"poll {watch.health.name}", poll.interval_seconds, poll.jitter_seconds, 0.0, watch.take_turn)


def _beats(pulse: Heartbeat) -> Job:
    return Job("heartbeat", heartbeat.INTERVAL_SECONDS, 0.0, heartbeat.FIRST_SECONDS, pulse.beat)


def _wait(requests: Requests, context: typer.Context, config: Path | None) -> Settings | None:
    """Wait until the operator wants something: the settings to go on with, or None to stop."""
    while True:
        requests.any.wait()
        requests.any.clear()
        if requests.stop.is_set():
            return None
        requests.reload.clear()
        settings = _read_again(context, config)
        if settings is not None:
            return settings


def _read_again(context: typer.Context, config: Path | None) -> Settings | None:
    """The settings as they are now, or None, with a line in the log, when the daemon could not run with them.

    That is found out by opening and closing what they name, beside the daemon as it runs.
    """
    try:
        settings = find_given_settings(context, config)
        chosen = list_enabled(settings)
        with open_database(settings) as database, open_mailboxes(settings, chosen, database, threading.Event()):
            return settings
    except InboxLoopError as error:
        log.error("config.invalid", problems=str(error).splitlines(), hint=error.hint)  # noqa: TRY400 - no fault of ours
        return None
