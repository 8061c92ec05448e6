"""Rows of tasks, as values: the one place that knows the columns' names."""

from __future__ import annotations

from psycopg.rows import DictRow

from inbox_loop.task import Task, TaskStatus, Upserted, UpsertOutcome


def upserted_of(row: DictRow) -> Upserted:
    """The answer of an upsert, from a row of either upsert function."""
    return Upserted(
        task_id=row["task_id"],
        number=row["number"],
        status=TaskStatus(row["status"]),
        outcome=UpsertOutcome.CREATED if row["created"] else UpsertOutcome.FOUND,
    )


def task_of(row: DictRow) -> Task:
    """A task, from a row with every column of ``tasks`` and the names of its tenant and project."""
    return Task(
        task_id=row["task_id"],
        number=row["number"],
        tenant=row["tenant"],
        project=row["project"],
        title=row["title"],
        body=row["body"],
        status=TaskStatus(row["status"]),
        labels=tuple(row["labels"]),
        external_ref=row["external_ref"],
        container_ref=row["container_ref"],
        source=row["source"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        completed_at=row["completed_at"],
        deleted_at=row["deleted_at"],
    )
