"""``inbox-loop backfill``: one-shot listing of the past, with progress; safe to stop and start again."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Annotated

import structlog
import typer

from inbox_loop.commands.endings import exit_code_of, print_endings, run_passes
from inbox_loop.commands.mailboxes import choose_mailboxes, open_mailboxes
from inbox_loop.commands.moments import MOMENT_FORMS, read_moment
from inbox_loop.commands.options import ConfigOption, JsonOption, MailboxOption, read_settings
from inbox_loop.commands.progress import Progress, show_progress
from inbox_loop.commands.relay import announce_created
from inbox_loop.commands.show import print_records, print_table
from inbox_loop.commands.signals import listening
from inbox_loop.commands.wiring import open_database
from inbox_loop.errors import EXIT_FINE, UsageError
from inbox_loop.loop.backfill import BackfillRequest, backfill_once, preview_backfill
from inbox_loop.loop.ledger import DateRange
from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.loop.report import PassReport

log = structlog.get_logger()


def backfill(
    context: typer.Context,
    *,
    config: ConfigOption = None,
    mailbox: MailboxOption = None,
    after: Annotated[str | None, typer.Option("--after", metavar="WHEN", help=f"From then on. {MOMENT_FORMS}")] = None,
    before: Annotated[str | None, typer.Option("--before", metavar="WHEN", help="Up to then, not included.")] = None,
    query: Annotated[str, typer.Option("--query", help="Only what this Gmail search finds.")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count what would be read; read and record no message.")
    ] = False,
    remint_deleted: Annotated[
        bool, typer.Option("--remint-deleted", help="Create the tasks anew that someone deleted.")
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Read the past of a mailbox. Never moves the cursor; safe to stop and to start again.

    A dry run leaves mailbox, ledger and tasks as they are. Like every command it first brings a private Postgres up to
    date and makes the tenants and projects that are configured.
    """
    settings = read_settings(context, config)
    chosen = choose_mailboxes(settings, mailbox)
    request = BackfillRequest(_range(after, before), query, remint_deleted=remint_deleted)
    with (
        listening() as requests,
        open_database(settings) as database,
        open_mailboxes(settings, chosen, database, requests.stop) as mailboxes,
    ):
        if dry_run:
            _print_previews(mailboxes, request, as_json=as_json)
            return EXIT_FINE
        with show_progress() as progress:
            passes = {name: partial(_backfill, opened, request, progress) for name, opened in mailboxes.items()}
            endings = run_passes(passes)
        announce_created(database)
    print_endings(endings, as_json=as_json)
    return exit_code_of(endings)


def _backfill(mailbox: Mailbox, request: BackfillRequest, progress: Progress) -> PassReport:
    report = backfill_once(mailbox, request, partial(progress.show, mailbox.name))
    log.info("backfill.finished", **asdict(report))
    return report


def _print_previews(mailboxes: dict[str, Mailbox], request: BackfillRequest, *, as_json: bool) -> None:
    previews = [asdict(preview_backfill(opened, request)) for opened in mailboxes.values()]
    if as_json:
        print_records(previews)
    else:
        print_table(("MAILBOX", "LISTED", "KNOWN", "TO READ"), [[str(v) for v in p.values()] for p in previews])


def _range(after: str | None, before: str | None) -> DateRange:
    wanted = DateRange(
        after=None if after is None else read_moment("--after", after),
        before=None if before is None else read_moment("--before", before),
    )
    if wanted.after is not None and wanted.before is not None and wanted.after > wanted.before:
        raise UsageError("--after is later than --before: no message lies between", hint="Exchange the two.")
    return wanted
