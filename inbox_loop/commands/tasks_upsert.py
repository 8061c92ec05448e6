"""``inbox-loop tasks upsert``: find the task of a ref, or create it."""

from __future__ import annotations

from typing import Annotated

import typer

from inbox_loop.commands.naming import find_actor
from inbox_loop.commands.options import ConfigOption, TenantOption, read_settings
from inbox_loop.commands.relay import announce_created
from inbox_loop.commands.show import print_error
from inbox_loop.commands.task_answers import print_task, standing
from inbox_loop.commands.task_options import (
    BodyFileOption,
    BodyOption,
    ContainerRefOption,
    LabelsOption,
    ProjectOption,
    TaskJsonOption,
    TitleOption,
    read_body,
)
from inbox_loop.commands.wiring import open_tenant
from inbox_loop.ref import UNIT_OF_WORK_RULE
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import FINISHED, Task, TaskDraft, UpsertOutcome


def upsert_task(
    context: typer.Context,
    *,
    ref: Annotated[
        str,
        typer.Option(
            "--ref",
            help="What names this one unit of work, for example gmail:<threadId>#<messageId>. In capitals or not.",
            metavar="REF",
        ),
    ],
    title: TitleOption,
    body: BodyOption = None,
    body_file: BodyFileOption = None,
    project: ProjectOption = None,
    label: LabelsOption = None,
    container_ref: ContainerRefOption = None,
    allow_container: Annotated[
        bool, typer.Option("--allow-container", help="The whole thread is the unit of work: take gmail:<threadId>.")
    ] = False,
    tenant: TenantOption = None,
    config: ConfigOption = None,
    as_json: TaskJsonOption = False,
) -> None:
    """Find the task that holds this ref, or create it. Nothing but the ref decides which.

    However often and from wherever it is called, there is one live task a ref. A found task stays as it is. When it is
    done or cancelled, a warning says so: the ref may name a container that several asks share.
    """
    text = read_body(body, body_file)
    draft = TaskDraft(
        external_ref=ref,
        title=title,
        body=text or "",
        project=project,
        labels=tuple(label or ()),
        container_ref=container_ref,
    )
    settings = read_settings(context, config)
    with open_tenant(settings, tenant) as (database, chosen):
        store = TaskStore(database, tenant=chosen)
        answer = store.upsert_task(draft, actor=find_actor(), allow_container=allow_container)
        if answer.outcome is UpsertOutcome.CREATED:
            announce_created(database)
        task = store.find_task(answer.number)
    _print_answer(task, answer.outcome, as_json=as_json)


def _print_answer(task: Task, outcome: UpsertOutcome, *, as_json: bool) -> None:
    if outcome is UpsertOutcome.CREATED:
        print_task(task, f"Task {task.number} is created.", as_json=as_json, facts={"outcome": outcome})
        return
    facts: dict[str, object] = {"outcome": outcome}
    if task.status in FINISHED:
        warning = f"warning: task {task.number}, which holds this ref, is {task.status} already; nothing is left to do"
        print_error(warning, UNIT_OF_WORK_RULE)
        facts["warning"] = f"{warning.removeprefix('warning: ')}. {UNIT_OF_WORK_RULE}"
    print_task(task, f"Task {task.number} is found. It is {standing(task)}.", as_json=as_json, facts=facts)
