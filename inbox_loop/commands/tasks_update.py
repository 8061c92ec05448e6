"""``inbox-loop tasks update``: another title, body or status."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from inbox_loop.commands.naming import TaskArgument, find_actor, find_named_task
from inbox_loop.commands.options import ConfigOption, JsonOption, TenantOption, read_settings
from inbox_loop.commands.task_answers import print_task
from inbox_loop.commands.task_options import BodyFileOption, BodyOption, read_body
from inbox_loop.commands.wiring import open_tenant
from inbox_loop.errors import UsageError
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import TaskChange, TaskStatus


class NextStatus(StrEnum):
    """The statuses a person may set: all but ``in_progress``, which comes with a claim."""

    OPEN = TaskStatus.OPEN
    DONE = TaskStatus.DONE
    BLOCKED = TaskStatus.BLOCKED
    CANCELLED = TaskStatus.CANCELLED


def update_task(
    context: typer.Context,
    task: TaskArgument,
    *,
    title: Annotated[
        str | None, typer.Option("--title", help="The new title, in 1 to 1000 characters.", metavar="TEXT")
    ] = None,
    body: BodyOption = None,
    body_file: BodyFileOption = None,
    status: Annotated[
        NextStatus | None, typer.Option("--status", help="The new status. A done or cancelled task can be opened.")
    ] = None,
    tenant: TenantOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change a task's title, body or status. What is not given stays; what is the same already writes nothing."""
    change = TaskChange(
        title=title,
        body=read_body(body, body_file),
        status=None if status is None else TaskStatus(status.value),
    )
    if change == TaskChange():
        raise UsageError("nothing is given to change", hint="Give --title, --body, --body-file or --status.")
    with open_tenant(read_settings(context, config), tenant) as (database, chosen):
        store = TaskStore(database, tenant=chosen)
        updated = store.update_task(find_named_task(store, task).number, change, actor=find_actor())
    print_task(updated, f"Task {updated.number} is {updated.status}: {updated.title}", as_json=as_json)
