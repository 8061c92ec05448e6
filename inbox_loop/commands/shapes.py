"""The JSON of results: which fields a task and a ledger row are printed with.

Lives here: the shapes, which other programs rely on. Not here: printing them (``show.py``).
"""

from __future__ import annotations

from collections.abc import Iterable

from inbox_loop.message.model import Message
from inbox_loop.repository.messages import LedgerRow
from inbox_loop.repository.tasks import Activity
from inbox_loop.task import Task


def task_record(task: Task) -> dict[str, object]:
    """A task without its body, which can be long."""
    return {
        "id": task.task_id,
        "number": task.number,
        "tenant": task.tenant,
        "project": task.project,
        "title": task.title,
        "status": task.status,
        "labels": list(task.labels),
        "external_ref": task.external_ref,
        "container_ref": task.container_ref,
        "created_at": task.created_at,
        "updated_at": task.updated_at,
        "completed_at": task.completed_at,
        "deleted_at": task.deleted_at,
        "source": dict(task.source),
    }


def full_task_record(task: Task, activities: Iterable[Activity]) -> dict[str, object]:
    """A task with the number of its parent, its body and all that happened to it, oldest first."""
    return task_record(task) | {
        "parent": task.parent,
        "body": task.body,
        "activity": [activity_record(each) for each in activities],
    }


def activity_record(activity: Activity) -> dict[str, object]:
    """One thing that happened to a task."""
    return {"at": activity.at, "kind": activity.kind, "actor": activity.actor, "detail": dict(activity.detail)}


def full_message_record(message: Message) -> dict[str, object]:
    """A message with all of its text, and what is left of it without quotes, null when nothing was cut."""
    return {
        "subject": message.header("Subject"),
        "from": list(message.header_values("From")),
        "to": list(message.header_values("To")),
        "cc": list(message.header_values("Cc")),
        "attachments": [
            {"name": each.name, "mime_type": each.mime_type, "size": each.size} for each in message.attachments
        ],
        "text": message.text,
        "unquoted": None if message.unquoted is None else message.unquoted.text,
        "headers_only": message.headers_only,
    }


def message_record(row: LedgerRow) -> dict[str, object]:
    """A row of the ledger."""
    return {
        "mailbox": row.mailbox,
        "message_id": row.message_id,
        "thread_id": row.thread_id,
        "ref": row.ref,
        "state": row.state,
        "reason": row.reason,
        "rule": row.rule,
        "attempts": row.attempts,
        "next_attempt_at": row.next_attempt_at,
        "seen_at": row.seen_at,
        "task_number": row.task_number,
    }
