"""``inbox-loop tasks create``: a task that no message asked for."""

from __future__ import annotations

from typing import Annotated

import typer

from inbox_loop.commands.naming import find_actor, find_named_task
from inbox_loop.commands.options import ConfigOption, JsonOption, TenantOption, read_settings
from inbox_loop.commands.relay import announce_created
from inbox_loop.commands.task_answers import Warned, find_answer, print_answer
from inbox_loop.commands.task_options import (
    BodyFileOption,
    BodyOption,
    ContainerRefOption,
    LabelsOption,
    ProjectOption,
    TitleOption,
    read_body,
)
from inbox_loop.commands.wiring import open_tenant
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import NewTask, Upserted, UpsertOutcome


def create_task(
    context: typer.Context,
    *,
    title: TitleOption,
    body: BodyOption = None,
    body_file: BodyFileOption = None,
    project: ProjectOption = None,
    parent: Annotated[
        str | None, typer.Option("--parent", help="The task it is a part of.", metavar="NUMBER|REF")
    ] = None,
    label: LabelsOption = None,
    container_ref: ContainerRefOption = None,
    idempotency_key: Annotated[
        str | None,
        typer.Option(
            "--idempotency-key",
            help="1 to 200 characters. The same key again within 72 hours, with the same project, title and parent, "
            "answers the task it made; with others it is refused.",
            metavar="KEY",
        ),
    ] = None,
    tenant: TenantOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create a task. For one that can be named by what it is about, tasks upsert is the safer way.

    An idempotency key makes it safe to try again after a broken connection. It is forgotten after 72 hours, and a
    title that has changed makes the next try an error.
    """
    text = read_body(body, body_file)
    settings = read_settings(context, config)
    with open_tenant(settings, tenant) as (database, chosen):
        store = TaskStore(database, tenant=chosen)
        new = NewTask(
            title=title,
            body=text or "",
            project=project,
            parent=None if parent is None else find_named_task(store, parent).number,
            labels=tuple(label or ()),
            container_ref=container_ref,
        )
        answer = store.create_task(new, actor=find_actor(), idempotency_key=idempotency_key)
        if answer.outcome is UpsertOutcome.CREATED:
            announce_created(database)
        record = find_answer(store, answer) if as_json else None
    print_answer(record, _sentence(answer), _warning(answer))


def _sentence(answer: Upserted) -> str:
    if answer.outcome is UpsertOutcome.CREATED:
        return f"Task {answer.number} is created."
    standing = "was deleted since" if answer.deleted else f"is {answer.status}"
    return f"Task {answer.number} is found: this key made it before. It {standing}."


def _warning(answer: Upserted) -> Warned | None:
    if not answer.deleted:
        return None
    return Warned(
        f"task {answer.number}, which this key made, was deleted since; nothing was created",
        "Restore it with inbox-loop tasks restore, or use another key for a new task.",
    )
