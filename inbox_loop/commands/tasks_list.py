"""``inbox-loop tasks list``: the tasks, newest first."""

from __future__ import annotations

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
from inbox_loop.commands.wiring import open_tenant
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import Task, TaskStatus

_COLUMNS = ("NUMBER", "STATUS", "CREATED", "MAILBOX", "PROJECT", "TITLE")


def list_tasks(
    context: typer.Context,
    *,
    status: Annotated[
        list[TaskStatus] | None, typer.Option("--status", help="Only tasks with this status. May be given again.")
    ] = None,
    mailbox: MailboxOption = None,
    deleted: Annotated[bool, typer.Option("--deleted", help="Deleted tasks as well.")] = False,
    limit: LimitOption = 50,
    tenant: TenantOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the tasks, newest first."""
    settings = read_settings(context, config)
    with open_tenant(settings, tenant) as (database, chosen):
        check_mailbox(database, settings, tenant=chosen, mailbox=mailbox)
        tasks = TaskStore(database, tenant=chosen).list_tasks(
            statuses=tuple(status or ()), mailbox=mailbox, include_deleted=deleted, limit=limit
        )
    if as_json:
        print_records(task_record(task) for task in tasks)
    else:
        print_table(_COLUMNS, (_row(task) for task in tasks))


def _row(task: Task) -> tuple[str, ...]:
    return (
        str(task.number),
        "deleted" if task.deleted_at else task.status.value,
        moment(task.created_at),
        str(task.source.get("mailbox", "-")),
        task.project or "-",
        task.title,
    )
