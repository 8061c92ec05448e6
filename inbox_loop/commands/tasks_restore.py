"""``inbox-loop tasks restore``: bring a deleted task back."""

from __future__ import annotations

import typer

from inbox_loop.commands.naming import TaskArgument, find_actor, find_named_task_or_tombstone
from inbox_loop.commands.options import ConfigOption, JsonOption, TenantOption, read_settings
from inbox_loop.commands.task_answers import print_task
from inbox_loop.commands.wiring import open_tenant
from inbox_loop.repository.tasks import TaskStore


def restore_task(
    context: typer.Context,
    task: TaskArgument,
    *,
    tenant: TenantOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring a deleted task back as it was.

    A ref names the task that holds it; when there is none, the one deleted last of those that held it. Refused when
    another task holds the ref by now: the error names that one.
    """
    with open_tenant(read_settings(context, config), tenant) as (database, chosen):
        store = TaskStore(database, tenant=chosen)
        found = find_named_task_or_tombstone(store, task)
        restored = store.restore_task(found.number, actor=find_actor())
    done = "was not deleted" if found.deleted_at is None else "is restored"
    print_task(restored, f"Task {restored.number} {done}. It is {restored.status}.", as_json=as_json)
