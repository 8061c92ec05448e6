"""``inbox-loop tasks upsert``: find the task of a ref, or create it."""

from __future__ import annotations

from typing import Annotated

import typer

from inbox_loop.commands.naming import find_actor
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
from inbox_loop.ref import UNIT_OF_WORK_RULE
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import FINISHED, TaskDraft, Upserted, UpsertOutcome


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
    as_json: JsonOption = False,
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
        record = find_answer(store, answer) if as_json else None
    print_answer(record, _sentence(answer), _warning(answer))


def _sentence(answer: Upserted) -> str:
    if answer.outcome is UpsertOutcome.CREATED:
        return f"Task {answer.number} is created."
    return f"Task {answer.number} is found. It is {answer.status}."


def _warning(answer: Upserted) -> Warned | None:
    if answer.outcome is UpsertOutcome.CREATED or answer.status not in FINISHED:
        return None
    return Warned(
        f"task {answer.number}, which holds this ref, is {answer.status} already; nothing is left to do",
        UNIT_OF_WORK_RULE,
    )
