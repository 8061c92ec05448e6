"""``inbox-loop tasks cancel``: a task that is not to be done after all."""

from __future__ import annotations

from typing import Annotated

import typer

from inbox_loop.commands.naming import TaskArgument, find_actor, find_named_task
from inbox_loop.commands.options import ConfigOption, JsonOption, TenantOption, read_settings
from inbox_loop.commands.task_answers import print_task
from inbox_loop.commands.wiring import open_tenant
from inbox_loop.repository.tasks import TaskStore


def cancel_task(
    context: typer.Context,
    task: TaskArgument,
    *,
    reason: Annotated[
        str, typer.Option("--reason", help="Why, in up to 10,000 characters. tasks show tells it.", metavar="TEXT")
    ] = "",
    tenant: TenantOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Cancel a task. It keeps its ref, so that nothing makes it again; one that is cancelled stays as it is."""
    with open_tenant(read_settings(context, config), tenant) as (database, chosen):
        store = TaskStore(database, tenant=chosen)
        cancelled = store.cancel_task(find_named_task(store, task).number, actor=find_actor(), reason=reason)
    print_task(cancelled, f"Task {cancelled.number} is cancelled.", as_json=as_json)
