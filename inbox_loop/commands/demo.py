"""``inbox-loop demo``: the whole loop on a private Postgres and a simulated Gmail, told step by step.

Nothing of it stays, a signal that ends it included: database, mailbox and sign-in live in folders for temporary files.
No account and no network is needed.
"""

from __future__ import annotations

import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from inbox_loop.commands.demo_mail import DemoMail, find_demo_mail
from inbox_loop.commands.demo_table import print_what_became
from inbox_loop.commands.logs import configure_logs
from inbox_loop.commands.mailboxes import open_mailboxes
from inbox_loop.commands.show import print_line
from inbox_loop.commands.signals import tidying_up
from inbox_loop.embedded.throwaway import use_throwaway
from inbox_loop.errors import EXIT_FINE, EXIT_LOOK
from inbox_loop.loop.backfill import BackfillRequest, backfill_once
from inbox_loop.loop.ledger import EVERY_DATE
from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.loop.poll import poll_once
from inbox_loop.loop.report import PassReport
from inbox_loop.repository.database import Database
from inbox_loop.repository.migrate import migrate
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.repository.upkeep import find_write_position, vacuum
from inbox_loop.settings import GmailSettings, LogSettings, MailboxSettings, Settings
from inbox_loop.simulator.server import Simulator
from inbox_loop.simulator.store import Account
from inbox_loop.task import Task

NAME = "demo"
TENANT = "default"
ACTOR = "demo"

# The simulator sets no quota here, so that the demo takes seconds; the budget is as large as the settings allow.
UNITS_PER_MINUTE = 1_000_000_000


def demo(
    *,
    mail: Annotated[
        Path | None,
        typer.Option("--mail", metavar="PATH", help="Your own mail: an mbox, a Maildir, a folder of .eml, one .eml."),
    ] = None,
) -> int:
    """Watch a mailbox become tasks: sample mail, a private Postgres, a simulated Gmail. Leaves nothing behind."""
    configure_logs(LogSettings(level="error"))
    demo_mail = find_demo_mail(mail)
    with tidying_up() as ignore_signals, _stage(demo_mail) as stage:
        code = _play(stage, demo_mail)
        ignore_signals()
    return code


@dataclass(frozen=True, slots=True)
class Stage:
    """What the demo plays on."""

    simulator: Simulator
    account: Account
    database: Database
    mailbox: Mailbox
    tasks: TaskStore


@contextmanager
def _stage(demo_mail: DemoMail) -> Iterator[Stage]:
    with (
        tempfile.TemporaryDirectory(prefix="inbox-loop-demo-") as folder,
        use_throwaway() as url,
        Database(url) as database,
        Simulator() as simulator,
    ):
        migrate(database)
        ensure_tenant(database, TENANT, [])
        settings = Settings(
            gmail=GmailSettings(api_endpoint=simulator.url, units_per_minute=UNITS_PER_MINUTE),
            mailboxes=(
                MailboxSettings(
                    name=NAME, token_file=simulator.token_file(demo_mail.address, Path(folder, "token.json"))
                ),
            ),
        )
        with open_mailboxes(settings, settings.mailboxes, database, threading.Event()) as mailboxes:
            account = simulator.account(demo_mail.address)
            yield Stage(simulator, account, database, mailboxes[NAME], TaskStore(database, tenant=TENANT))


def _play(stage: Stage, demo_mail: DemoMail) -> int:
    count = demo_mail.deliver_first(stage.account)
    print_line(f"1. A mailbox with {count} messages. The loop reads it for the first time:")
    print_line()
    first = _backfill(stage)
    print_what_became(stage.database, TENANT, stage.mailbox)
    print_line()
    print_line(_sentence(first))
    print_line()
    done = _finish_a_task(stage)
    if done is not None:
        _tell_second_ask(stage, demo_mail, done)
    return _tell_second_run(stage)


def _backfill(stage: Stage) -> PassReport:
    return backfill_once(stage.mailbox, BackfillRequest(EVERY_DATE), lambda _progress: None)


def _finish_a_task(stage: Stage) -> Task | None:
    """Finish the first task of the busiest thread; None when the mail made none."""
    tasks = sorted(stage.tasks.list_tasks(limit=1000), key=lambda task: task.number)
    if not tasks:
        return None
    busiest, _count = Counter(task.container_ref for task in tasks).most_common(1)[0]
    first = next(task for task in tasks if task.container_ref == busiest)
    return stage.tasks.finish_task(first.number, actor=ACTOR, summary="Answered by mail.")


def _tell_second_ask(stage: Stage, demo_mail: DemoMail, done: Task) -> None:
    print_line(f'2. Task {done.number}, "{done.title}", is worked to done.')
    print_line("   Then the same thread brings something else, and the loop polls:")
    print_line()
    demo_mail.deliver_second_ask(stage.account, done)
    poll_once(stage.mailbox)
    _print_thread(stage, done)
    print_line()


def _print_thread(stage: Stage, done: Task) -> None:
    for task in sorted(stage.tasks.list_tasks(limit=1000), key=lambda task: task.number):
        if task.container_ref == done.container_ref:
            print_line(f'   task {task.number:<3} {task.status:<5} {task.external_ref}  "{task.title}"')


def _tell_second_run(stage: Stage) -> int:
    """Run the whole again, and tell what it cost; it must be nothing but the two questions to Gmail."""
    vacuum(stage.database)
    _backfill(stage)  # a page that was just vacuumed settles at its first reading
    read_before, written_before = _messages_read(stage), find_write_position(stage.database)
    reports = (_backfill(stage), poll_once(stage.mailbox))
    written = find_write_position(stage.database)
    read = _messages_read(stage) - read_before
    created = sum(report.created + report.found for report in reports)
    wal = written.wal_bytes - written_before.wal_bytes
    transactions = written.next_transaction - written_before.next_transaction
    print_line("3. The whole again, backfill and poll:")
    print_line()
    print_line(
        f"   tasks created {created} · messages read {read} · transactions that wrote {transactions} · WAL {wal} bytes"
    )
    return EXIT_FINE if (created, read, transactions) == (0, 0, 0) else EXIT_LOOK


def _messages_read(stage: Stage) -> int:
    return sum(call.method in {"messages.get", "threads.get"} for call in stage.simulator.calls)


def _sentence(report: PassReport) -> str:
    parts = [f"{report.created} tasks created", f"{report.skipped} skipped"]
    parts += [f"{report.quarantined} quarantined"] if report.quarantined else []
    return (
        f"{report.listed} messages: {', '.join(parts)}, in {report.duration_ms / 1000:.1f} s. "
        "Gmail lists no mail that is in spam or trash."
    )
