"""``inbox-loop tasks delete``: make a task a tombstone."""

from __future__ import annotations

import typer

from inbox_loop.commands.naming import TaskArgument, find_actor, find_named_task
from inbox_loop.commands.options import ConfigOption, JsonOption, TenantOption, read_settings
from inbox_loop.commands.shapes import task_record
from inbox_loop.commands.show import print_line, print_records
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
    """Delete a task. It stays in the database, and no poll or backfill makes it again."""
    with open_tenant(read_settings(context, config), tenant) as (database, chosen):
        store = TaskStore(database, tenant=chosen)
        deleted = store.delete_task(find_named_task(store, task).number, actor=find_actor())
    if as_json:
        print_records([task_record(deleted)])
    else:
        print_line(f"Task {deleted.number} is deleted.")
