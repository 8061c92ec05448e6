"""Tasks: looking them up, listing them by pages, and the steps of a task's life."""

from __future__ import annotations

import pytest

from inbox_loop.errors import IllegalMove, InvalidValue, NoSuchTask
from inbox_loop.repository.database import Database
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.task import TaskDraft, TaskStatus


def make(tasks: TaskStore, *refs: str, mailbox: str = "desk", account: str | None = None) -> None:
    source = {"mailbox": mailbox} if account is None else {"mailbox": mailbox, "account": account}
    tasks.upsert_tasks([TaskDraft(ref, f"Title of {ref}", source=source) for ref in refs], actor="ann")


def touch(database: Database, mailbox: str, address: str) -> None:
    PostgresLoopStore(database, tenant="acme", mailbox=mailbox, project=None).create_mailbox(address, 1, "sign-in 1")


def numbers(*found: object) -> list[int]:
    return [getattr(task, "number", 0) for task in found]


def test_a_task_is_found_by_number_and_by_ref_in_any_case(tasks: TaskStore) -> None:
    make(tasks, "gmail:1a#1", "gmail:1a#2")
    assert tasks.find_task(2) == tasks.find_task_by_ref("GMAIL:1A#2")


@pytest.mark.parametrize(
    "ref", [" \t\n\r\f\x0bZU\u0308RICH-1\x0b ", "zu\u0308rich-1"], ids=["blanks around it", "not in NFC"]
)
def test_a_ref_is_looked_for_in_the_form_it_is_kept_in(tasks: TaskStore, ref: str) -> None:
    make(tasks, ref)
    assert tasks.find_task_by_ref(ref) == tasks.find_task_by_ref("z\u00fcrich-1")
    tasks.delete_task(1, actor="ann")
    with pytest.raises(NoSuchTask, match="is deleted"):
        tasks.find_task_by_ref(ref)


def test_an_unknown_task_is_named_in_the_error(tasks: TaskStore) -> None:
    with pytest.raises(NoSuchTask, match="tenant 'acme' has no task 7"):
        tasks.find_task(7)
    with pytest.raises(NoSuchTask, match="no task with this external_ref"):
        tasks.find_task_by_ref("gmail:1#1")


def test_a_task_of_another_tenant_is_not_found(tasks: TaskStore, database: Database) -> None:
    make(tasks, "gmail:1#1")
    ensure_tenant(database, "other", [])
    other = TaskStore(database, tenant="other")
    with pytest.raises(NoSuchTask):
        other.find_task(1)
    with pytest.raises(NoSuchTask):
        other.delete_task(1, actor="ann")
    assert other.list_tasks() == ()
    assert other.list_activity(tasks.find_task(1).task_id) == ()


def test_a_deleted_task_is_found_by_number_and_hinted_at_by_ref(tasks: TaskStore) -> None:
    make(tasks, "gmail:1#1")
    deleted = tasks.delete_task(1, actor="ann")
    assert tasks.find_task(1) == deleted
    assert deleted.deleted_at is not None
    with pytest.raises(NoSuchTask, match="is deleted") as raised:
        tasks.find_task_by_ref("gmail:1#1")
    assert raised.value.hint == "It was task 1."


def test_tasks_are_listed_by_pages_newest_first(tasks: TaskStore) -> None:
    make(tasks, "a", "b", "c", "d", "e")
    first = tasks.list_tasks(limit=2)
    second = tasks.list_tasks(limit=2, before_number=first[-1].number)
    third = tasks.list_tasks(limit=2, before_number=second[-1].number)
    assert numbers(*first, *second, *third) == [5, 4, 3, 2, 1]


def test_a_list_can_be_narrowed(tasks: TaskStore) -> None:
    make(tasks, "a", "b")
    make(tasks, "c", "d", mailbox="sales")
    tasks.finish_task(1, actor="ann")
    tasks.delete_task(4, actor="ann")
    assert numbers(*tasks.list_tasks()) == [3, 2, 1]
    assert numbers(*tasks.list_tasks(include_deleted=True)) == [4, 3, 2, 1]
    assert numbers(*tasks.list_tasks(mailbox="sales")) == [3]
    assert numbers(*tasks.list_tasks(statuses=[TaskStatus.DONE])) == [1]
    assert numbers(*tasks.list_tasks(statuses=[TaskStatus.DONE, TaskStatus.OPEN], mailbox="desk")) == [2, 1]
    assert tasks.list_tasks(statuses=[TaskStatus.BLOCKED]) == ()


def test_a_renamed_mailbox_lists_the_tasks_of_its_earlier_name(
    tasks: TaskStore, store: PostgresLoopStore, database: Database
) -> None:
    assert store.find_mailbox() is not None
    make(tasks, "a", account="Desk@example.com")
    touch(database, "support", "desk@example.com")
    make(tasks, "b", mailbox="support", account="desk@example.com")
    make(tasks, "c", mailbox="sales", account="sales@example.com")
    assert numbers(*tasks.list_tasks(mailbox="support")) == [2, 1]


def test_a_name_that_another_account_has_now_lists_the_tasks_of_that_account(
    tasks: TaskStore, store: PostgresLoopStore, database: Database
) -> None:
    make(tasks, "a", account="desk@example.com")
    touch(database, "support", "desk@example.com")
    store.create_mailbox("new@example.com", 1, "sign-in 1")
    make(tasks, "b", account="new@example.com")
    assert numbers(*tasks.list_tasks(mailbox="desk")) == [2]
    assert numbers(*tasks.list_tasks(mailbox="support")) == [1]


def test_tasks_of_a_mailbox_without_a_row_are_listed_by_its_name(tasks: TaskStore) -> None:
    make(tasks, "a", account="desk@example.com")
    make(tasks, "b", mailbox="sales", account="desk@example.com")
    assert numbers(*tasks.list_tasks(mailbox="desk")) == [1]


def test_finishing_marks_a_task_done_and_tells_who_and_what(tasks: TaskStore) -> None:
    make(tasks, "a")
    done = tasks.finish_task(1, actor="bob", summary="Answered.")
    assert done.status is TaskStatus.DONE
    assert done.completed_at == done.updated_at
    assert done.updated_at > done.created_at
    assert done == tasks.find_task(1)
    created, finished = tasks.list_activity(done.task_id)
    assert (created.kind, created.actor, created.detail) == ("created", "ann", {})
    assert (finished.kind, finished.actor, finished.detail) == ("finished", "bob", {"summary": "Answered."})


@pytest.mark.parametrize("status", [TaskStatus.OPEN, TaskStatus.IN_PROGRESS, TaskStatus.BLOCKED])
def test_a_task_can_be_finished_from(database: Database, tasks: TaskStore, status: TaskStatus) -> None:
    make(tasks, "a")
    database.row(b"update tasks set status = %(status)s returning 1", {"status": status})
    assert tasks.finish_task(1, actor="bob").status is TaskStatus.DONE


@pytest.mark.parametrize("status", [TaskStatus.DONE, TaskStatus.CANCELLED])
def test_a_task_can_not_be_finished_from(database: Database, tasks: TaskStore, status: TaskStatus) -> None:
    make(tasks, "a")
    database.row(b"update tasks set status = %(status)s, completed_at = now() returning 1", {"status": status})
    before = tasks.find_task(1)
    with pytest.raises(IllegalMove, match=f"task 1 can't be finished: it is {status}"):
        tasks.finish_task(1, actor="bob")
    assert tasks.find_task(1) == before
    assert len(tasks.list_activity(before.task_id)) == 1


def test_a_deleted_task_can_be_neither_finished_nor_deleted_again(tasks: TaskStore) -> None:
    make(tasks, "a")
    deleted = tasks.delete_task(1, actor="ann")
    for step in (tasks.finish_task, tasks.delete_task):
        with pytest.raises(IllegalMove, match="it is deleted"):
            step(1, actor="bob")
    assert tasks.find_task(1) == deleted
    assert [activity.kind for activity in tasks.list_activity(deleted.task_id)] == ["created", "deleted"]


def test_a_deleted_task_keeps_its_status_and_ref_for_the_record(tasks: TaskStore) -> None:
    make(tasks, "a")
    tasks.finish_task(1, actor="ann")
    deleted = tasks.delete_task(1, actor="ann")
    assert (deleted.status, deleted.external_ref) == (TaskStatus.DONE, "a")


@pytest.mark.parametrize(
    ("actor", "summary", "field"), [("a\x00", "", "actor"), ("ann", "\ud800", "summary"), ("", "", "actor")]
)
def test_text_that_can_not_be_stored_is_refused_by_its_field(
    tasks: TaskStore, actor: str, summary: str, field: str
) -> None:
    make(tasks, "a")
    with pytest.raises(InvalidValue, match=field):
        tasks.finish_task(1, actor=actor, summary=summary)
    assert tasks.find_task(1).status is TaskStatus.OPEN
