"""Find-or-create by ref, for whoever holds a connection or a whole database: ``run`` executes a statement there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from inbox_loop.repository.clean import check_text, draft_fields, draft_items
from inbox_loop.repository.database import Params
from inbox_loop.repository.statements import Statements
from inbox_loop.task import TaskDraft, TaskStatus, Upserted, UpsertOutcome

Run = Callable[[bytes, Params], list[DictRow]]
_SQL = Statements("upsert")


def upsert_task(run: Run, draft: TaskDraft, *, tenant: str, actor: str) -> Upserted:
    """Find or create the task of one ref; raises ``InvalidValue`` before anything runs."""
    check_text("actor", actor)
    fields = draft_fields(draft)
    params = {**fields, "source": Jsonb(fields["source"]), "tenant": tenant, "actor": actor}
    (row,) = run(_SQL["upsert_task"], params)
    return _upserted(row)


def upsert_tasks(
    run: Run, drafts: Sequence[TaskDraft], *, tenant: str, actor: str, project: str | None = None
) -> tuple[Upserted, ...]:
    """The same for many drafts in one round trip: one answer a draft, in order. ``project`` is for those without."""
    check_text("actor", actor)
    if not drafts:
        return ()
    params = {"tenant": tenant, "items": draft_items(drafts, project=project), "actor": actor}
    return tuple(_upserted(row) for row in run(_SQL["upsert_tasks"], params))


def _upserted(row: DictRow) -> Upserted:
    return Upserted(
        task_id=row["task_id"],
        number=row["number"],
        status=TaskStatus(row["status"]),
        outcome=UpsertOutcome.CREATED if row["created"] else UpsertOutcome.FOUND,
    )
