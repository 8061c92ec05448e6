"""Tasks of one tenant: find-or-create by ref, look-ups, and the steps of a task's life. One activity row a change."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from inbox_loop.errors import IllegalMove, InboxLoopError, NoSuchTask
from inbox_loop.repository.clean import check_json, check_text
from inbox_loop.repository.database import Database
from inbox_loop.repository.statements import Statements
from inbox_loop.repository.upsert import upsert_task, upsert_tasks
from inbox_loop.task import MOVES, Task, TaskDraft, TaskStatus, Upserted

_SQL = Statements("tasks")


@dataclass(frozen=True, slots=True)
class Activity:
    """One thing that happened to a task."""

    at: datetime
    kind: str
    """``created``, ``finished`` or ``deleted``."""
    actor: str
    detail: Mapping[str, object]


class TaskStore:
    """The tasks of one tenant. Every call is one statement; safe to use from several threads.

    Raises ``NoSuchTenant`` from the upserts when the tenant does not exist, ``InvalidValue`` for a text that can't be
    stored. Refs are compared without regard to case.
    """

    def __init__(self, database: Database, *, tenant: str) -> None:
        self._database = database
        self._tenant = tenant

    def upsert_task(self, draft: TaskDraft, *, actor: str) -> Upserted:
        """Find the live task that holds the draft's ref, or create it. A find only reads, whatever else has drifted.

        The ref must name the unit of work: see ``ref.UNIT_OF_WORK_RULE``. Raises ``InvalidRef``, ``InvalidValue``,
        ``NoSuchProject``, ``NoSuchTenant``.
        """
        return upsert_task(self._database.rows, draft, tenant=self._tenant, actor=actor)

    def upsert_tasks(self, drafts: Sequence[TaskDraft], *, actor: str) -> tuple[Upserted, ...]:
        """The same for many drafts in one round trip: one answer a draft, in order; all or none."""
        return upsert_tasks(self._database.rows, drafts, tenant=self._tenant, actor=actor)

    def find_task(self, number: int) -> Task:
        """The task of this number, deleted or not; raises ``NoSuchTask``."""
        row = self._database.row(_SQL["find_task"], {"tenant": self._tenant, "number": number})
        if row is None:
            raise NoSuchTask(f"tenant {self._tenant!r} has no task {number}")
        return _task(row)

    def find_task_by_ref(self, ref: str) -> Task:
        """The live task that holds this ref, written as an upsert may write it: trimmed and put into NFC, in any case.

        Raises ``NoSuchTask``, which names a deleted one that held it.
        """
        check_text("external_ref", ref)
        rows = self._database.rows(_SQL["find_tasks_by_ref"], {"tenant": self._tenant, "ref": ref})
        tasks = [_task(row) for row in rows]
        if not tasks:
            raise NoSuchTask(f"tenant {self._tenant!r} has no task with this external_ref")
        if tasks[0].deleted_at is not None:
            raise NoSuchTask("the task that held this external_ref is deleted", hint=f"It was task {tasks[0].number}.")
        return tasks[0]

    def list_tasks(
        self,
        *,
        statuses: Collection[TaskStatus] = (),
        mailbox: str | None = None,
        include_deleted: bool = False,
        before_number: int | None = None,
        limit: int = 50,
    ) -> tuple[Task, ...]:
        """A page of tasks, newest number first; the next page is asked with ``before_number`` of the last one here.

        No ``statuses`` means any. ``mailbox`` is the name of the mailbox the tasks came from: all tasks of its account,
        those it gave under an earlier name too.
        """
        params = {
            "tenant": self._tenant,
            "statuses": [str(status) for status in statuses] or None,
            "mailbox": mailbox,
            "include_deleted": include_deleted,
            "before_number": before_number,
            "limit": limit,
        }
        return tuple(_task(row) for row in self._database.rows(_SQL["list_tasks"], params))

    def list_activity(self, task_id: UUID) -> tuple[Activity, ...]:
        """What happened to the task, oldest first."""
        rows = self._database.rows(_SQL["list_activity"], {"tenant": self._tenant, "task_id": task_id})
        return tuple(Activity(row["at"], row["kind"], row["actor"], row["detail"]) for row in rows)

    def finish_task(self, number: int, *, actor: str, summary: str = "") -> Task:
        """Mark the task done; ``summary`` goes into its activity. Raises ``NoSuchTask``, ``IllegalMove``."""
        check_text("actor", actor)
        detail = {"summary": summary} if summary else {}
        check_json("summary", detail)
        row = self._database.row(
            _SQL["finish_task"],
            {
                "tenant": self._tenant,
                "number": number,
                "actor": actor,
                "detail": Jsonb(detail),
                "statuses": [status for status, moves in MOVES.items() if TaskStatus.DONE in moves],
            },
        )
        if row is None:
            raise self._illegal(number, "finished")
        return _task(row)

    def delete_task(self, number: int, *, actor: str) -> Task:
        """Make the task a tombstone, which no longer holds its ref. Raises ``NoSuchTask``, ``IllegalMove``."""
        check_text("actor", actor)
        row = self._database.row(_SQL["delete_task"], {"tenant": self._tenant, "number": number, "actor": actor})
        if row is None:
            raise self._illegal(number, "deleted")
        return _task(row)

    def _illegal(self, number: int, step: str) -> InboxLoopError:
        """Why a step changed nothing, from the task as it is now; raises ``NoSuchTask`` when there is none."""
        task = self.find_task(number)
        stands = "deleted" if task.deleted_at is not None else str(task.status)
        return IllegalMove(f"task {number} can't be {step}: it is {stands}")


def _task(row: DictRow) -> Task:
    """A task, from a row with every column of ``tasks`` and the names of its tenant and project."""
    return Task(
        task_id=row["task_id"],
        number=row["number"],
        tenant=row["tenant"],
        project=row["project"],
        parent=None,
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
