"""Creating tasks without a ref: as asked for, with labels set once, numbered in one row with all others."""

from __future__ import annotations

import pytest

from inbox_loop.errors import InboxLoopError, InvalidRef, InvalidValue, NoSuchProject, NoSuchTask
from inbox_loop.repository.database import Database
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import NewTask, TaskDraft, TaskStatus, UpsertOutcome


def test_a_task_is_created_as_asked_for(tasks: TaskStore) -> None:
    tasks.upsert_task(TaskDraft("r", "A parent"), actor="ann")
    new = NewTask(
        title="Größe prüfen",
        body="Bitte…",
        project="inbox",
        parent=1,
        labels=("mail", "vip"),
        container_ref="crm:7",
        source={"desk": [1, None]},
    )
    created = tasks.create_task(new, actor="bob")
    assert (created.number, created.status, created.outcome) == (2, TaskStatus.OPEN, UpsertOutcome.CREATED)
    task = tasks.find_task(2)
    assert task.task_id == created.task_id
    assert task.external_ref is None
    kept = NewTask(task.title, task.body, task.project, task.parent, task.labels, task.container_ref, task.source)
    assert kept == new


def test_a_create_tells_of_itself_once(tasks: TaskStore, database: Database) -> None:
    created = tasks.create_task(NewTask("A title"), actor="bob")
    (activity,) = tasks.list_activity(created.task_id)
    assert (activity.kind, activity.actor, activity.detail) == ("created", "bob", {})
    (notification,) = database.rows(b"select topic, task_id, payload from notifications")
    assert notification == {"topic": "task.created", "task_id": created.task_id, "payload": {"number": 1}}


def test_without_a_ref_or_key_every_create_is_another_task(tasks: TaskStore) -> None:
    assert [tasks.create_task(NewTask("A title"), actor="bob").number for _ in range(3)] == [1, 2, 3]


def nested(depth: int) -> list[object]:
    value: list[object] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("new", "error", "field"),
    [
        (NewTask(""), InvalidValue, "title"),
        (NewTask("\t"), InvalidValue, "title"),
        (NewTask("x" * 1001), InvalidValue, "title"),
        (NewTask("a\x00"), InvalidValue, "title"),
        (NewTask("A title", body="\udfff"), InvalidValue, "body"),
        (NewTask("A title", body="x" * (1024 * 1024 + 1)), InvalidValue, "body"),
        (NewTask("A title", labels=("x",) * 51), InvalidValue, "labels"),
        (NewTask("A title", labels=("",)), InvalidValue, "labels"),
        (NewTask("A title", labels=("x" * 101,)), InvalidValue, "labels"),
        (NewTask("A title", labels=("a\x00",)), InvalidValue, "labels"),
        (NewTask("A title", project="a\x00"), InvalidValue, "project"),
        (NewTask("A title", project="no-such"), NoSuchProject, "project"),
        (NewTask("A title", container_ref="a\x00"), InvalidRef, "container_ref"),
        (NewTask("A title", container_ref="a\nb"), InvalidRef, "container_ref"),
        (NewTask("A title", container_ref=" "), InvalidRef, "container_ref"),
        (NewTask("A title", container_ref="x" * 513), InvalidRef, "container_ref"),
        (NewTask("A title", source={"a": float("nan")}), InvalidValue, "source"),
        (NewTask("A title", source={"a": 10**5000}), InvalidValue, "source"),
        (NewTask("A title", source={"a": "x" * (1024 * 1024)}), InvalidValue, "source"),
        (NewTask("A title", source={"a": nested(3000)}), InvalidValue, "nested more than 20 deep"),
        (NewTask("A title", parent=7), NoSuchTask, "no task 7 that could be a parent"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str) else "",
)
def test_what_breaks_a_rule_is_refused_by_its_field_and_burns_no_number(
    tasks: TaskStore, new: NewTask, error: type[InboxLoopError], field: str
) -> None:
    with pytest.raises(error, match=field):
        tasks.create_task(new, actor="bob")
    assert tasks.count_tasks() == 0
    assert tasks.create_task(NewTask("A title"), actor="bob").number == 1


def test_a_deleted_task_is_no_parent(tasks: TaskStore) -> None:
    tasks.create_task(NewTask("A parent"), actor="bob")
    tasks.delete_task(1, actor="bob")
    with pytest.raises(NoSuchTask, match="no task 1 that could be a parent"):
        tasks.create_task(NewTask("A child", parent=1), actor="bob")


@pytest.mark.parametrize("key", ["", "x" * 201, "a\x00", "\ud800"])
def test_a_key_that_can_not_be_kept_is_refused_by_its_name(tasks: TaskStore, key: str) -> None:
    with pytest.raises(InvalidValue, match="idempotency_key"):
        tasks.create_task(NewTask("A title"), actor="bob", idempotency_key=key)
    assert tasks.count_tasks() == 0
