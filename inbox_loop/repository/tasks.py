"""Tasks of one tenant: created, found, listed, and taken through the steps of their life. One activity row a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from inbox_loop.errors import IdempotencyConflict, IllegalMove, NoSuchTask, RefTaken
from inbox_loop.ref import normal_ref
from inbox_loop.repository.clean import (
    check_actor,
    check_body,
    check_idempotency_key,
    check_labels,
    check_limit,
    check_note,
    check_number,
    check_text,
    check_title,
    new_task_fields,
)
from inbox_loop.repository.database import Database
from inbox_loop.repository.statements import Statements
from inbox_loop.repository.upsert import upsert_new_task, upsert_task, upsert_tasks, upserted_of
from inbox_loop.task import MOVES, NewTask, Task, TaskChange, TaskDraft, TaskFilter, TaskStatus, Upserted, UpsertOutcome

_SQL = Statements("tasks")
# How a refusal names the step.
_STEPS = {
    "update_task": "changed",
    "finish_task": "finished",
    "cancel_task": "cancelled",
    "delete_task": "deleted",
    "restore_task": "restored",
}
ANY_TASK = TaskFilter()


@dataclass(frozen=True, slots=True)
class Activity:
    """One thing that happened to a task."""

    at: datetime
    kind: str
    """``created``, ``updated``, ``finished``, ``cancelled``, ``deleted`` or ``restored``."""
    actor: str
    detail: Mapping[str, object]
    """``from`` and ``to`` of what changed: ``title``, ``status``, ``body_bytes``; a ``summary`` or ``reason``."""


class TaskStore:
    """The tasks of one tenant, behind its walls. Safe to use from several threads.

    Every method raises ``NoSuchTenant`` when the tenant does not exist, and ``InvalidValue``, before any SQL, for a
    value that a field can't take. Refs are compared without regard to case. A step whose end is reached already, and a
    change that changes nothing, write nothing and answer the task.
    """

    def __init__(self, database: Database, *, tenant: str) -> None:
        self._database = database.for_tenant(tenant)
        self._tenant = tenant
        # Whoever creates mostly goes on creating. A guess at how to ask, which never changes the answer.
        self._is_creating = False

    def upsert_task(self, draft: TaskDraft, *, actor: str, allow_container: bool = False) -> Upserted:
        """Find the live task that holds the draft's ref, or create it. A find only reads, whatever else has drifted.

        The ref must name the unit of work: see ``ref.UNIT_OF_WORK_RULE``. Raises ``InvalidRef``, ``NoSuchProject``.
        """
        upsert = upsert_new_task if self._is_creating else upsert_task
        upserted = upsert(self._database.tuples, draft, actor=actor, allow_container=allow_container)
        self._is_creating = upserted.outcome is UpsertOutcome.CREATED
        return upserted

    def upsert_tasks(
        self, drafts: Sequence[TaskDraft], *, actor: str, allow_container: bool = False
    ) -> tuple[Upserted, ...]:
        """The same for many drafts: one answer a draft, in order; all that are missing are created, or none."""
        return upsert_tasks(self._database.tuples, drafts, actor=actor, allow_container=allow_container)

    def create_task(self, new: NewTask, *, actor: str, idempotency_key: str | None = None) -> Upserted:
        """Create a task, or find the one that the same call with the same key created within 72 hours.

        The key is bound to project, title and parent; with others it raises ``IdempotencyConflict``, which names the
        task it stands for. A task that was deleted meanwhile is answered too, as ``deleted``. Raises
        ``NoSuchProject``, and ``NoSuchTask`` for a parent that is not there or deleted.
        """
        check_actor(actor)
        if idempotency_key is not None:
            check_idempotency_key(idempotency_key)
        fields = new_task_fields(new)
        key = {"idempotency_key": idempotency_key}
        try:
            ((*row, deleted),) = self._database.tuples(
                _SQL["create_task"], {**fields, **key, "source": Jsonb(fields["source"]), "actor": actor}
            )
        except IdempotencyConflict as conflict:
            raise (self._find_key_conflict(key) or conflict) from None
        except NoSuchTask as error:
            raise NoSuchTask(f"tenant {self._tenant!r} has no task {new.parent} that could be a parent") from error
        return replace(upserted_of(*row), deleted=deleted)

    def find_task(self, number: int) -> Task:
        """The task of this number, deleted or not; raises ``NoSuchTask``."""
        check_number("number", number)
        row = self._database.row(_SQL["find_task"], {"number": number})
        if row is None:
            raise self._no_task(number)
        return _task(row)

    def find_task_by_ref(self, ref: str) -> Task:
        """The live task that holds this ref, written as an upsert may write it: trimmed and put into NFC, in any case.

        Raises ``NoSuchTask``, which names a deleted one that held it.
        """
        task = self.find_task_or_tombstone(ref)
        if task.deleted_at is not None:
            raise NoSuchTask("the task that held this external_ref is deleted", hint=f"It was task {task.number}.")
        return task

    def find_task_or_tombstone(self, ref: str) -> Task:
        """The live task that holds this ref, else the one deleted last of those that held it; raises ``NoSuchTask``."""
        row = self._database.row(_SQL["find_task_by_ref"], {"ref": normal_ref("external_ref", ref)})
        if row is None:
            raise NoSuchTask(f"tenant {self._tenant!r} has no task with this external_ref")
        return _task(row)

    def list_tasks(
        self, wanted: TaskFilter = ANY_TASK, *, before_number: int | None = None, limit: int = 50
    ) -> tuple[Task, ...]:
        """A page of tasks, newest number first; the next page is asked with ``before_number`` of the last one here."""
        if before_number is not None:
            check_number("before_number", before_number)
        check_limit(limit)
        params = {**_filter_params(wanted), "before_number": before_number, "limit": limit}
        return tuple(_task(row) for row in self._database.rows(_SQL["list_tasks"], params))

    def count_tasks(self, wanted: TaskFilter = ANY_TASK) -> int:
        """How many tasks there are on all pages of ``list_tasks``."""
        (row,) = self._database.rows(_SQL["count_tasks"], _filter_params(wanted))
        return int(row["tasks"])

    def list_activity(self, task_id: UUID) -> tuple[Activity, ...]:
        """What happened to the task, oldest first."""
        rows = self._database.rows(_SQL["list_activity"], {"task_id": task_id})
        return tuple(Activity(row["at"], row["kind"], row["actor"], row["detail"]) for row in rows)

    def update_task(self, number: int, change: TaskChange, *, actor: str) -> Task:
        """Change title, body or status of a live task. Raises ``NoSuchTask``, ``IllegalMove``."""
        if change.title is not None:
            check_title(change.title)
        if change.body is not None:
            check_body(change.body)
        params = {"title": change.title, "body": change.body, "status": change.status}
        return self._step("update_task", number, actor, params)

    def finish_task(self, number: int, *, actor: str, summary: str = "") -> Task:
        """Mark the task done; ``summary`` goes into its activity. Raises ``NoSuchTask``, ``IllegalMove``."""
        check_note("summary", summary)
        return self._step("finish_task", number, actor, {"note": summary})

    def cancel_task(self, number: int, *, actor: str, reason: str = "") -> Task:
        """Mark the task cancelled; ``reason`` goes into its activity. Raises ``NoSuchTask``, ``IllegalMove``."""
        check_note("reason", reason)
        return self._step("cancel_task", number, actor, {"note": reason})

    def delete_task(self, number: int, *, actor: str) -> Task:
        """Make the task a tombstone, which no longer holds its ref. Raises ``NoSuchTask``."""
        return self._step("delete_task", number, actor)

    def restore_task(self, number: int, *, actor: str) -> Task:
        """Bring a deleted task back. Raises ``NoSuchTask``, and ``RefTaken``, which names who holds its ref by now."""
        try:
            return self._step("restore_task", number, actor)
        except RefTaken as taken:
            raise (self._find_ref_conflict(number) or taken) from None

    def _step(self, statement: str, number: int, actor: str, params: Mapping[str, object] | None = None) -> Task:
        check_number("number", number)
        check_actor(actor)
        asked = {**(params or {}), "number": number, "actor": actor}
        try:
            (row,) = self._database.rows(_SQL[statement], asked)
        except NoSuchTask as error:
            raise self._no_task(number) from error
        except IllegalMove as error:
            raise self._illegal(number, _STEPS[statement], asked.get("status")) from error
        return _task(row)

    def _no_task(self, number: int) -> NoSuchTask:
        return NoSuchTask(f"tenant {self._tenant!r} has no task {number}")

    def _illegal(self, number: int, done: str, wanted: object) -> IllegalMove:
        """Why a step was refused, from the task as it is now."""
        task = self.find_task(number)
        if task.deleted_at is not None:
            return IllegalMove(
                f"task {number} can't be {done}: it is deleted", task_number=number, hint="Restore it first."
            )
        if wanted == TaskStatus.IN_PROGRESS:
            return IllegalMove(f"task {number} can't be {done}: only a claim leads to in_progress", task_number=number)
        nexts = " or ".join(sorted(MOVES[task.status]))
        return IllegalMove(
            f"task {number} can't be {done}: it is {task.status}", task_number=number, hint=f"It can become {nexts}."
        )

    def _find_key_conflict(self, key: Mapping[str, str | None]) -> IdempotencyConflict | None:
        """The conflict by name; None when the key was purged just now."""
        row = self._database.row(_SQL["find_key_holder"], key)
        if row is None:
            return None
        number = int(row["number"])
        return IdempotencyConflict(
            f"the idempotency key stands for task {number}, which has another project, title or parent",
            task_number=number,
            hint="Use a new key for a new task.",
        )

    def _find_ref_conflict(self, number: int) -> RefTaken | None:
        """The conflict by name; None when the holder was deleted just now."""
        row = self._database.row(_SQL["find_ref_holder"], {"number": number})
        if row is None:
            return None
        holder = int(row["number"])
        return RefTaken(
            f"task {number} can't be restored: task {holder} holds its external_ref",
            task_number=holder,
            hint=f"Work on task {holder}, or delete it first.",
        )


def _filter_params(wanted: TaskFilter) -> dict[str, object]:
    check_labels(wanted.labels)
    check_text("mailbox", wanted.mailbox or "")
    check_text("text", wanted.text or "")
    return {
        "statuses": [str(status) for status in wanted.statuses] or None,
        "labels": list(wanted.labels) or None,
        "container_ref": wanted.container_ref and normal_ref("container_ref", wanted.container_ref),
        "mailbox": wanted.mailbox,
        "text": wanted.text,
        "since": wanted.since,
        "include_deleted": wanted.include_deleted,
    }


def _task(row: DictRow) -> Task:
    """A task, from a row of ``task_rows``."""
    return Task(
        task_id=row["task_id"],
        number=row["number"],
        tenant=row["tenant"],
        project=row["project"],
        parent=row["parent"],
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
