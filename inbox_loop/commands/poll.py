"""``inbox-loop poll``: one poll of every mailbox, ingest included."""

from __future__ import annotations

from dataclasses import asdict

import structlog
import typer

from inbox_loop.commands.options import ConfigOption, JsonOption, MailboxOption, read_settings
from inbox_loop.commands.passes import pass_over
from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.loop.poll import poll_once
from inbox_loop.loop.report import PassReport

log = structlog.get_logger()


def poll(
    context: typer.Context, *, config: ConfigOption = None, mailbox: MailboxOption = None, as_json: JsonOption = False
) -> int:
    """Poll every mailbox once and print a report for each."""
    return pass_over(read_settings(context, config), mailbox, _poll, as_json=as_json)


def _poll(mailbox: Mailbox) -> PassReport:
    report = poll_once(mailbox)
    log.info("poll.finished", **asdict(report))
    return report
