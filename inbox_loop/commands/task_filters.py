"""The filters of ``tasks list`` and ``tasks count``: which tasks are meant.

Lives here: their options, and what they come to. Not here: how the store finds them (``repository/tasks.py``).
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from inbox_loop.commands.moments import AGE_FORMS, MOMENT_FORMS, read_moment_or_age
from inbox_loop.task import TaskFilter, TaskStatus

StatusFilter = Annotated[
    list[TaskStatus] | None, typer.Option("--status", help="Only tasks with this status. May be given again: any.")
]
LabelFilter = Annotated[
    list[str] | None,
    typer.Option("--label", help="Only tasks with this label. May be given again: all of them.", metavar="LABEL"),
]
ContainerRefFilter = Annotated[
    str | None, typer.Option("--container-ref", help="Only tasks of this thread or other container.", metavar="REF")
]
TextFilter = Annotated[
    str | None,
    typer.Option("--text", help="Only tasks with this in title or body, in capitals or not.", metavar="TEXT"),
]
SinceFilter = Annotated[
    str | None,
    typer.Option("--since", help=f"Only tasks created since then. {MOMENT_FORMS} {AGE_FORMS}", metavar="WHEN|AGE"),
]
DeletedFilter = Annotated[bool, typer.Option("--deleted", help="Deleted tasks as well.")]


def read_filter(
    *,
    statuses: list[TaskStatus] | None,
    labels: list[str] | None,
    container_ref: str | None,
    mailbox: str | None,
    text: str | None,
    since: str | None,
    deleted: bool,
    now: datetime,
) -> TaskFilter:
    """The filter that the options come to; ``now`` is what an age is counted back from. Raises ``UsageError``."""
    return TaskFilter(
        statuses=tuple(statuses or ()),
        labels=tuple(labels or ()),
        container_ref=container_ref,
        mailbox=mailbox,
        text=text,
        since=None if since is None else read_moment_or_age("--since", since, now),
        include_deleted=deleted,
    )
