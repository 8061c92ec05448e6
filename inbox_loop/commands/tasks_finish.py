"""``inbox-loop tasks finish``: mark a task done."""

from __future__ import annotations

from typing import Annotated

import typer

from inbox_loop.commands.naming import TaskArgument, find_actor, find_named_task
from inbox_loop.commands.options import ConfigOption, JsonOption, TenantOption, read_settings
from inbox_loop.commands.task_answers import print_task
from inbox_loop.commands.wiring import open_tenant
from inbox_loop.repository.tasks import TaskStore


def finish_task(
    context: typer.Context,
    task: TaskArgument,
    *,
    summary: Annotated[
        str,
        typer.Option(
            "--summary", help="What came of it, in up to 10,000 characters. tasks show tells it.", metavar="TEXT"
        ),
    ] = "",
    tenant: TenantOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Mark a task done. One that is done already stays as it is."""
    with open_tenant(read_settings(context, config), tenant) as (database, chosen):
        store = TaskStore(database, tenant=chosen)
        finished = store.finish_task(find_named_task(store, task).number, actor=find_actor(), summary=summary)
    print_task(finished, f"Task {finished.number} is done.", as_json=as_json)
