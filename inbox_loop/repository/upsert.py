"""Find-or-create by ref: the find first, by itself; whoever is missing goes to the one arbiter, which finds or creates.

A find needs the ref alone, so that is all it sends and all it checks. Where a create is likely, the arbiter is asked at
once. ``run`` executes a statement: on a connection, or on a whole database, where the two statements are two
transactions. That is as good as one: a task created in between is found, one that was deleted in between was live when
it was found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from uuid import UUID

from psycopg.rows import TupleRow
from psycopg.types.json import Jsonb

from inbox_loop.errors import InvalidValue
from inbox_loop.ref import check_external_ref
from inbox_loop.repository.clean import check_actor, draft_fields, draft_items
from inbox_loop.repository.database import Params
from inbox_loop.repository.statements import Statements
from inbox_loop.task import TaskDraft, TaskStatus, Upserted, UpsertOutcome

Run = Callable[[bytes, Params], list[TupleRow]]
_SQL = Statements("upsert")
_STATUSES = {status.value: status for status in TaskStatus}
_FIND_ONE, _FIND_MANY = _SQL["find_live_task"], _SQL["find_live_tasks"]


def upsert_task(run: Run, draft: TaskDraft, *, actor: str, allow_container: bool = False) -> Upserted:
    """Find or create the task of one ref; raises ``InvalidRef``, and ``InvalidValue`` before anything is created.

    ``allow_container`` is for a caller to whom a Gmail thread is the unit of work.
    """
    ref = check_external_ref(draft.external_ref, allow_container=allow_container)
    return _find(run, ref) or _find_or_create(run, _upsert_params(draft, ref, actor))


def upsert_new_task(run: Run, draft: TaskDraft, *, actor: str, allow_container: bool = False) -> Upserted:
    """``upsert_task`` where the ref is most likely new: the same answer in one round trip.

    A find takes longer this way, since the whole draft is made ready and sent.
    """
    ref = check_external_ref(draft.external_ref, allow_container=allow_container)
    try:
        params = _upsert_params(draft, ref, actor)
    except InvalidValue:
        found = _find(run, ref)
        if found is None:
            raise
        return found
    return _find_or_create(run, params)


def upsert_tasks(
    run: Run,
    drafts: Sequence[TaskDraft],
    *,
    actor: str,
    project: str | None = None,
    allow_container: bool = False,
) -> tuple[Upserted, ...]:
    """The same for many drafts: one answer a draft, in order; all that are missing are created, or none.

    ``project`` is for drafts that name none.
    """
    if not drafts:
        return ()
    refs = [check_external_ref(draft.external_ref, allow_container=allow_container) for draft in drafts]
    # As lines, for no ref has a line end in it: psycopg takes longer over a list of texts than Postgres over the finds.
    found = run(_FIND_MANY, {"refs": "\n".join(refs)})
    answers = [None if row[0] is None else upserted_of(*row) for row in found]
    missing = [
        replace(draft, external_ref=ref)
        for draft, ref, answer in zip(drafts, refs, answers, strict=True)
        if answer is None
    ]
    if missing:
        check_actor(actor)
        params = {"items": draft_items(missing, project=project), "actor": actor}
        upserted = iter([upserted_of(*row) for row in run(_SQL["upsert_tasks"], params)])
        answers = [next(upserted) if answer is None else answer for answer in answers]
    return tuple(answer for answer in answers if answer is not None)


def upserted_of(task_id: UUID, number: int, status: str, created: bool) -> Upserted:  # noqa: FBT001 - a row's columns
    """The answer of an upsert or a create, from the columns of its row."""
    return Upserted(task_id, number, _STATUSES[status], UpsertOutcome.CREATED if created else UpsertOutcome.FOUND)


def _find(run: Run, ref: str) -> Upserted | None:
    for row in run(_FIND_ONE, {"ref": ref}):
        return upserted_of(*row)
    return None


def _find_or_create(run: Run, params: Params) -> Upserted:
    (row,) = run(_SQL["upsert_task"], params)
    return upserted_of(*row)


def _upsert_params(draft: TaskDraft, ref: str, actor: str) -> Params:
    check_actor(actor)
    fields = draft_fields(replace(draft, external_ref=ref))
    return {**fields, "source": Jsonb(fields["source"]), "actor": actor}
