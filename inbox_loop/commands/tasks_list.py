"""``inbox-loop tasks list``: the tasks, newest first, a page at a time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from inbox_loop.commands.known import check_mailbox
from inbox_loop.commands.options import (
    ConfigOption,
    JsonOption,
    LimitOption,
    MailboxOption,
    TenantOption,
    read_settings,
)
from inbox_loop.commands.shapes import task_record
from inbox_loop.commands.show import moment, print_records, print_table
from inbox_loop.commands.streams import write_aside
from inbox_loop.commands.task_answers import standing
from inbox_loop.commands.task_filters import (
    ContainerRefFilter,
    DeletedFilter,
    LabelFilter,
    SinceFilter,
    StatusFilter,
    TextFilter,
    read_filter,
)
from inbox_loop.commands.wiring import open_tenant
from inbox_loop.repository.clean import MAX_NUMBER
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import Task

_COLUMNS = ("NUMBER", "STATUS", "CREATED", "MAILBOX", "PROJECT", "TITLE")


def list_tasks(
    context: typer.Context,
    *,
    status: StatusFilter = None,
    label: LabelFilter = None,
    container_ref: ContainerRefFilter = None,
    mailbox: MailboxOption = None,
    text: TextFilter = None,
    since: SinceFilter = None,
    deleted: DeletedFilter = False,
    limit: LimitOption = 50,
    before: Annotated[
        int | None,
        typer.Option(
            "--before",
            help="Only tasks with a lower number: the page that follows the one which ends with it.",
            metavar="NUMBER",
            min=1,
            max=MAX_NUMBER,
        ),
    ] = None,
    tenant: TenantOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the tasks, newest first: those that every given filter fits.

    For the next page, give --before the last number of this one: no task is left out or told twice, whatever is created
    meanwhile.
    """
    wanted = read_filter(
        statuses=status,
        labels=label,
        container_ref=container_ref,
        mailbox=mailbox,
        text=text,
        since=since,
        deleted=deleted,
        now=datetime.now(UTC),
    )
    settings = read_settings(context, config)
    with open_tenant(settings, tenant) as (database, chosen):
        check_mailbox(database, settings, tenant=chosen, mailbox=mailbox)
        tasks = TaskStore(database, tenant=chosen).list_tasks(wanted, before_number=before, limit=limit)
    if as_json:
        print_records(task_record(task) for task in tasks)
        return
    print_table(_COLUMNS, (_row(task) for task in tasks))
    if len(tasks) == limit:
        write_aside(f"There may be more: the same again with --before {tasks[-1].number}\n")


def _row(task: Task) -> tuple[str, ...]:
    return (
        str(task.number),
        standing(task),
        moment(task.created_at),
        str(task.source.get("mailbox", "-")),
        task.project or "-",
        task.title,
    )
