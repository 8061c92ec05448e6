"""The steps of a task's life: what each changes, what it tells, where it is refused, and when it changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from inbox_loop.errors import IllegalMove, InvalidValue, NoSuchTask, RefTaken
from inbox_loop.repository.database import Database
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import FINISHED, MOVES, NewTask, Task, TaskChange, TaskDraft, TaskStatus

Step = Callable[[TaskStore], Task]
STEPS: dict[str, Step] = {
    "update": lambda tasks: tasks.update_task(1, TaskChange(title="New"), actor="bob"),
    "finish": lambda tasks: tasks.finish_task(1, actor="bob"),
    "cancel": lambda tasks: tasks.cancel_task(1, actor="bob"),
    "delete": lambda tasks: tasks.delete_task(1, actor="bob"),
    "restore": lambda tasks: tasks.restore_task(1, actor="bob"),
}
each_step = pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)


@pytest.fixture
def task(tasks: TaskStore) -> Task:
    """Task 1, open."""
    tasks.upsert_task(TaskDraft("ref-1", "A title", body="A body"), actor="ann")
    return tasks.find_task(1)


def set_status(database: Database, status: TaskStatus) -> None:
    """As whoever may set any status: a claim, or an earlier day."""
    completed = "now()" if status in FINISHED else "null"
    database.rows(f"update tasks set status = '{status}', completed_at = {completed} returning 1".encode())


def history(tasks: TaskStore, task: Task) -> list[tuple[str, str, Mapping[str, object]]]:
    return [(each.kind, each.actor, each.detail) for each in tasks.list_activity(task.task_id)][1:]


def test_a_change_tells_from_what_to_what(tasks: TaskStore, task: Task) -> None:
    changed = tasks.update_task(1, TaskChange(title="Größer", body="Zwölf", status=TaskStatus.BLOCKED), actor="bob")
    assert (changed.title, changed.body, changed.status) == ("Größer", "Zwölf", TaskStatus.BLOCKED)
    assert changed.updated_at > task.updated_at
    assert changed == tasks.find_task(1)
    detail = {
        "title": {"from": "A title", "to": "Größer"},
        "status": {"from": "open", "to": "blocked"},
        "body_bytes": {"from": 6, "to": 6},
    }
    assert history(tasks, task) == [("updated", "bob", detail)]


def test_a_field_that_is_left_out_or_equal_is_not_told_of(tasks: TaskStore, task: Task) -> None:
    tasks.update_task(1, TaskChange(title="A title", status=TaskStatus.BLOCKED), actor="bob")
    assert history(tasks, task) == [("updated", "bob", {"status": {"from": "open", "to": "blocked"}})]


def test_finishing_marks_a_task_done_and_tells_who_and_what(tasks: TaskStore, task: Task) -> None:
    done = tasks.finish_task(1, actor="bob", summary="Answered.")
    assert done.status is TaskStatus.DONE
    assert done.completed_at == done.updated_at
    assert done.updated_at > task.created_at
    told = {"summary": "Answered.", "status": {"from": "open", "to": "done"}}
    assert history(tasks, task) == [("finished", "bob", told)]


def test_a_note_is_bounded_for_plain_sql_too(database: Database, tasks: TaskStore, task: Task) -> None:
    with pytest.raises(InvalidValue, match="at most 10000 characters"):
        database.rows(b"select * from task_finish('acme', 1, repeat('x', 10001))")
    assert history(tasks, task) == []
    assert tasks.finish_task(1, actor="bob", summary="x" * 10_000).status is TaskStatus.DONE


def test_cancelling_tells_the_reason(tasks: TaskStore, task: Task) -> None:
    cancelled = tasks.cancel_task(1, actor="bob", reason="A duplicate.")
    assert (cancelled.status, cancelled.completed_at) == (TaskStatus.CANCELLED, cancelled.updated_at)
    told = {"reason": "A duplicate.", "status": {"from": "open", "to": "cancelled"}}
    assert history(tasks, task) == [("cancelled", "bob", told)]


def test_a_reopened_task_is_not_complete(tasks: TaskStore, task: Task) -> None:
    tasks.finish_task(1, actor="bob")
    assert tasks.update_task(1, TaskChange(status=TaskStatus.OPEN), actor="bob").completed_at is None
    assert len(history(tasks, task)) == 2


def test_a_finished_task_keeps_its_moment_when_its_title_changes(tasks: TaskStore, task: Task) -> None:
    done = tasks.finish_task(1, actor="bob")
    assert tasks.update_task(1, TaskChange(title="New"), actor="bob").completed_at == done.completed_at
    assert history(tasks, task)[-1] == ("updated", "bob", {"title": {"from": "A title", "to": "New"}})


def test_a_deleted_task_keeps_its_status_and_ref_and_comes_back_as_it_was(tasks: TaskStore, task: Task) -> None:
    done = tasks.finish_task(1, actor="ann")
    deleted = tasks.delete_task(1, actor="bob")
    assert deleted.deleted_at is not None
    assert (deleted.status, deleted.external_ref) == (TaskStatus.DONE, "ref-1")
    restored = tasks.restore_task(1, actor="bob")
    assert (restored.status, restored.completed_at, restored.deleted_at) == (done.status, done.completed_at, None)
    assert tasks.find_task_by_ref("REF-1") == restored
    assert history(tasks, task)[1:] == [("deleted", "bob", {}), ("restored", "bob", {})]


@pytest.mark.parametrize("start", TaskStatus)
@pytest.mark.parametrize("goal", TaskStatus)
def test_a_status_moves_as_the_table_says(
    database: Database, tasks: TaskStore, task: Task, start: TaskStatus, goal: TaskStatus
) -> None:
    set_status(database, start)
    change = TaskChange(status=goal)
    if goal is start or goal in MOVES[start]:
        moved = tasks.update_task(1, change, actor="bob")
        assert (moved.status, moved.completed_at is not None) == (goal, goal in FINISHED)
        assert len(history(tasks, task)) == (goal is not start)
        return
    before = tasks.find_task(1)
    with pytest.raises(IllegalMove, match=r"task 1 can't be changed: (it is|only a claim)"):
        tasks.update_task(1, change, actor="bob")
    assert tasks.find_task(1) == before
    assert history(tasks, task) == []


def test_the_store_and_the_program_have_one_table_of_moves(database: Database) -> None:
    rows = database.rows(
        b"select f, t from unnest(%(all)s::text[]) as f, unnest(%(all)s::text[]) as t where status_move_allowed(f, t)",
        {"all": [str(status) for status in TaskStatus]},
    )
    assert {(row["f"], row["t"]) for row in rows} == {(start, goal) for start, goals in MOVES.items() for goal in goals}


@pytest.mark.parametrize("start", [TaskStatus.DONE, TaskStatus.CANCELLED])
def test_a_refusal_says_where_the_task_stands_and_what_it_can_become(
    database: Database, tasks: TaskStore, task: Task, start: TaskStatus
) -> None:
    set_status(database, start)
    other = tasks.cancel_task if start is TaskStatus.DONE else tasks.finish_task
    with pytest.raises(IllegalMove, match=f"it is {start}") as refused:
        other(1, actor="bob")
    assert refused.value.hint == "It can become open."
    assert refused.value.task_number == 1
    assert history(tasks, task) == []


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("update", "update"),
        ("finish", "finish"),
        ("cancel", "cancel"),
        ("delete", "delete"),
        (None, "restore"),
    ],
)
def test_a_step_whose_end_is_reached_changes_nothing(
    database: Database, tasks: TaskStore, task: Task, first: str | None, again: str
) -> None:
    if first is not None:
        STEPS[first](tasks)
    before, told = tasks.find_task(1), history(tasks, task)
    xmin = database.rows(b"select xmin, xmax from tasks")
    assert STEPS[again](tasks) == before
    assert history(tasks, task) == told
    assert database.rows(b"select xmin, xmax from tasks") == xmin


def test_a_change_of_nothing_at_all_changes_nothing(tasks: TaskStore, task: Task) -> None:
    assert tasks.update_task(1, TaskChange(), actor="bob") == task
    assert history(tasks, task) == []


@pytest.mark.parametrize("step", ["update", "finish", "cancel"])
def test_a_deleted_task_is_left_alone_until_it_is_restored(tasks: TaskStore, task: Task, step: str) -> None:
    deleted = tasks.delete_task(1, actor="ann")
    with pytest.raises(IllegalMove, match="it is deleted") as refused:
        STEPS[step](tasks)
    assert refused.value.hint == "Restore it first."
    assert tasks.find_task(1) == deleted
    tasks.restore_task(1, actor="ann")
    STEPS[step](tasks)
    assert [kind for kind, _, _ in history(tasks, task)][:2] == ["deleted", "restored"]


@each_step
def test_a_task_that_is_not_there_is_named(tasks: TaskStore, step: Step) -> None:
    with pytest.raises(NoSuchTask, match="tenant 'acme' has no task 1"):
        step(tasks)


@each_step
def test_no_step_but_a_create_notifies(database: Database, tasks: TaskStore, task: Task, step: Step) -> None:
    step(tasks)
    assert database.row(b"select count(*) from notifications where task_id = %(id)s", {"id": task.task_id}) == {
        "count": 1
    }


def test_a_restore_whose_ref_was_taken_names_the_live_task(tasks: TaskStore, task: Task) -> None:
    deleted = tasks.delete_task(1, actor="ann")
    tasks.upsert_task(TaskDraft("REF-1", "Another"), actor="ann")
    with pytest.raises(RefTaken, match="task 2 holds its external_ref") as refused:
        tasks.restore_task(1, actor="bob")
    assert refused.value.task_number == 2
    assert tasks.find_task(1) == deleted
    tasks.delete_task(2, actor="ann")
    assert tasks.restore_task(1, actor="bob").deleted_at is None
    assert tasks.find_task_by_ref("ref-1").task_id == task.task_id


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (TaskChange(title=""), "title"),
        (TaskChange(title="\n "), "title"),
        (TaskChange(title="x" * 1001), "title"),
        (TaskChange(title="a\x00"), "title"),
        (TaskChange(body="\ud800"), "body"),
        (TaskChange(body="ü" * (512 * 1024) + "x"), "body"),
    ],
    ids=["empty", "blank", "long", "nul", "surrogate", "over 1 MiB"],
)
def test_a_change_that_can_not_be_stored_is_refused_by_its_field(
    tasks: TaskStore, task: Task, change: TaskChange, field: str
) -> None:
    with pytest.raises(InvalidValue, match=field):
        tasks.update_task(1, change, actor="bob")
    assert tasks.find_task(1) == task


@pytest.mark.parametrize(
    ("actor", "summary", "field"),
    [
        ("a\x00", "", "actor"),
        ("ann", "\ud800", "summary"),
        ("ann", "x" * 10_001, "summary"),
        ("", "", "actor"),
        ("x" * 201, "", "actor"),
    ],
)
def test_text_that_can_not_be_stored_is_refused_by_its_field(
    tasks: TaskStore, task: Task, actor: str, summary: str, field: str
) -> None:
    with pytest.raises(InvalidValue, match=field):
        tasks.finish_task(1, actor=actor, summary=summary)
    assert tasks.find_task(1) == task


@pytest.mark.parametrize("number", [0, -1, 2**63, 10**30])
def test_a_number_that_no_task_can_have_is_refused_by_its_field(tasks: TaskStore, number: int) -> None:
    with pytest.raises(InvalidValue, match="number is 1 to"):
        tasks.find_task(number)
    with pytest.raises(InvalidValue, match="number is 1 to"):
        tasks.delete_task(number, actor="bob")
    with pytest.raises(InvalidValue, match="before_number is 1 to"):
        tasks.list_tasks(before_number=number)
    with pytest.raises(InvalidValue, match="parent is 1 to"):
        tasks.create_task(NewTask("A title", parent=number), actor="bob")
