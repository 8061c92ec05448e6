"""``inbox-loop reconcile``: compare Gmail's listing with the ledger, and repair what is missing."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime

import structlog
import typer

from inbox_loop.commands.options import ConfigOption, JsonOption, MailboxOption, read_settings
from inbox_loop.commands.passes import pass_over
from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.loop.reconcile import reconcile_once
from inbox_loop.loop.report import PassReport

log = structlog.get_logger()


def reconcile(
    context: typer.Context, *, config: ConfigOption = None, mailbox: MailboxOption = None, as_json: JsonOption = False
) -> int:
    """Compare Gmail's listing with the ledger, repair what is missing, and print the counts."""
    return pass_over(read_settings(context, config), mailbox, _reconcile, as_json=as_json)


def _reconcile(mailbox: Mailbox) -> PassReport:
    report = reconcile_once(mailbox, datetime.now(UTC))
    log.info("reconcile.finished", **asdict(report))
    return report
