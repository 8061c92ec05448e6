"""``inbox-loop tasks delete``: make a task a tombstone."""

from __future__ import annotations

import typer

from inbox_loop.commands.naming import TaskArgument, find_actor, find_named_task_or_tombstone
from inbox_loop.commands.options import ConfigOption, JsonOption, TenantOption, read_settings
from inbox_loop.commands.task_answers import print_task
from inbox_loop.commands.wiring import open_tenant
from inbox_loop.repository.tasks import TaskStore


def delete_task(
    context: typer.Context,
    task: TaskArgument,
    *,
    tenant: TenantOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Delete a task. It stays in the database, and no poll or backfill makes it again.

    Its ref is free again: the next tasks upsert with it creates another task.
    """
    with open_tenant(read_settings(context, config), tenant) as (database, chosen):
        store = TaskStore(database, tenant=chosen)
        deleted = store.delete_task(find_named_task_or_tombstone(store, task).number, actor=find_actor())
    print_task(deleted, f"Task {deleted.number} is deleted.", as_json=as_json)
