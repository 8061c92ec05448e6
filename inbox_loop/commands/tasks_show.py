"""``inbox-loop tasks show``: one task, whole."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from inbox_loop.commands.naming import TaskArgument, find_named_task
from inbox_loop.commands.options import ConfigOption, JsonOption, TenantOption, read_settings
from inbox_loop.commands.shapes import full_task_record
from inbox_loop.commands.show import moment, print_line, print_records, print_text
from inbox_loop.commands.wiring import open_tenant
from inbox_loop.repository.tasks import Activity, TaskStore
from inbox_loop.task import Task


def show_task(
    context: typer.Context,
    task: TaskArgument,
    *,
    tenant: TenantOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a task with its body and all that happened to it."""
    with open_tenant(read_settings(context, config), tenant) as (database, chosen):
        store = TaskStore(database, tenant=chosen)
        found = find_named_task(store, task)
        activities = store.list_activity(found.task_id)
    if as_json:
        print_records([full_task_record(found, activities)])
    else:
        _print_task(found, activities)


def _print_task(task: Task, activities: Sequence[Activity]) -> None:
    print_line(f"Task {task.number}: {task.title}")
    for name, value in _facts(task):
        print_line(f"  {name:14} {value}")
    for activity in activities:
        print_line(f"  {moment(activity.at)}  {activity.kind} by {activity.actor}")
        for field, change in activity.detail.items():
            print_line(f"    {field}: {_in_words(change)}")
    if task.body:
        print_line()
        print_text(task.body)


def _in_words(value: object) -> str:
    """What an activity tells of a field: what it was and became, or a text."""
    match value:
        case {"from": before, "to": after}:
            return f"{before} -> {after}"
        case _:
            return str(value)


def _facts(task: Task) -> list[tuple[str, str]]:
    """What is known of it, without what is empty."""
    facts = [
        ("status", task.status.value),
        ("project", task.project),
        ("part of", task.parent and f"task {task.parent}"),
        ("labels", ", ".join(task.labels)),
        ("ref", task.external_ref),
        ("container", task.container_ref),
        ("from", task.source.get("from")),
        ("in Gmail", task.source.get("gmail_url")),
        ("created", moment(task.created_at)),
        ("completed", task.completed_at and moment(task.completed_at)),
        ("deleted", task.deleted_at and moment(task.deleted_at)),
    ]
    return [(name, str(value)) for name, value in facts if value]
