"""Looking tasks up, by number and by ref, and listing them by pages and filters."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from inbox_loop.errors import InvalidRef, InvalidValue, NoSuchTask
from inbox_loop.repository.database import Database
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.task import NewTask, TaskChange, TaskDraft, TaskFilter, TaskStatus


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
    "ref",
    [" \t\n\r\f\x0bZU\u0308RICH-1\x0b ", "\xa0Z\xdcRICH-1\u2028", "zu\u0308rich-1"],
    ids=["blanks around it", "wide blanks", "not in NFC"],
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
    assert (other.list_tasks(), other.count_tasks()) == ((), 0)
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


def test_a_renamed_mailbox_lists_the_tasks_of_its_earlier_name(
    tasks: TaskStore, store: PostgresLoopStore, database: Database
) -> None:
    assert store.find_mailbox() is not None
    make(tasks, "a", account="Desk@example.com")
    touch(database, "support", "desk@example.com")
    make(tasks, "b", mailbox="support", account="desk@example.com")
    make(tasks, "c", mailbox="sales", account="sales@example.com")
    assert numbers(*tasks.list_tasks(TaskFilter(mailbox="support"))) == [2, 1]


def test_a_name_that_another_account_has_now_lists_the_tasks_of_that_account(
    tasks: TaskStore, store: PostgresLoopStore, database: Database
) -> None:
    make(tasks, "a", account="desk@example.com")
    touch(database, "support", "desk@example.com")
    store.create_mailbox("new@example.com", 1, "sign-in 1")
    make(tasks, "b", account="new@example.com")
    assert numbers(*tasks.list_tasks(TaskFilter(mailbox="desk"))) == [2]
    assert numbers(*tasks.list_tasks(TaskFilter(mailbox="support"))) == [1]


def test_tasks_of_a_mailbox_without_a_row_are_listed_by_its_name(tasks: TaskStore) -> None:
    make(tasks, "a", account="desk@example.com")
    make(tasks, "b", mailbox="sales", account="desk@example.com")
    assert numbers(*tasks.list_tasks(TaskFilter(mailbox="desk"))) == [1]


# --- filters -----------------------------------------------------------------------------------------------------


@pytest.fixture
def mixed(tasks: TaskStore) -> TaskStore:
    """Six tasks: 1 done, 2 blocked, 3 open with labels, 4 deleted, 5 with another text, 6 in a thread."""
    for number in range(1, 7):
        labels = ("a", "b") if number == 3 else ("a",) if number == 5 else ()
        body = "100% Ärger_mit Rechnung" if number == 5 else ""
        container = "gmail:18C" if number in {1, 6} else None
        tasks.create_task(NewTask(f"Task {number}", body=body, labels=labels, container_ref=container), actor="ann")
    tasks.finish_task(1, actor="ann")
    tasks.update_task(2, TaskChange(status=TaskStatus.BLOCKED), actor="ann")
    tasks.delete_task(4, actor="ann")
    return tasks


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (TaskFilter(), [6, 5, 3, 2, 1]),
        (TaskFilter(include_deleted=True), [6, 5, 4, 3, 2, 1]),
        (TaskFilter(statuses=(TaskStatus.DONE,)), [1]),
        (TaskFilter(statuses=(TaskStatus.DONE, TaskStatus.BLOCKED)), [2, 1]),
        (TaskFilter(statuses=(TaskStatus.CANCELLED,)), []),
        (TaskFilter(labels=("a",)), [5, 3]),
        (TaskFilter(labels=("b", "a")), [3]),
        (TaskFilter(labels=("A",)), []),
        (TaskFilter(container_ref=" GMAIL:18c"), [6, 1]),
        (TaskFilter(container_ref="gmail:18c", statuses=(TaskStatus.OPEN,)), [6]),
        (TaskFilter(text="TASK 3"), [3]),
        (TaskFilter(text="ärger_"), [5]),
        (TaskFilter(text="100%"), [5]),
        (TaskFilter(text="1_0"), []),
        (TaskFilter(text="%"), [5]),
        (TaskFilter(since=datetime(2000, 1, 1, tzinfo=UTC)), [6, 5, 3, 2, 1]),
        (TaskFilter(since=datetime(2100, 1, 1, tzinfo=UTC)), []),
    ],
    ids=str,
)
def test_a_list_and_its_count_are_narrowed_by_all_filters(
    mixed: TaskStore, wanted: TaskFilter, expected: list[int]
) -> None:
    assert numbers(*mixed.list_tasks(wanted)) == expected
    assert mixed.count_tasks(wanted) == len(expected)
    assert numbers(*mixed.list_tasks(wanted, before_number=3)) == [number for number in expected if number < 3]


def test_since_is_the_moment_of_creation_and_included(mixed: TaskStore) -> None:
    created = [mixed.find_task(number).created_at for number in range(1, 7)]
    assert numbers(*mixed.list_tasks(TaskFilter(since=created[4]))) == [6, 5]


@pytest.mark.parametrize("limit", [0, -1, 10_001, 2**40])
def test_a_page_has_a_size(tasks: TaskStore, limit: int) -> None:
    with pytest.raises(InvalidValue, match="limit is 1 to 10000"):
        tasks.list_tasks(limit=limit)


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        (TaskFilter(text="a\x00"), "text"),
        (TaskFilter(labels=("\ud800",)), "labels"),
        (TaskFilter(container_ref="\x00"), "container_ref"),
        (TaskFilter(mailbox="\x00"), "mailbox"),
    ],
)
def test_a_filter_that_can_not_be_sent_is_refused_by_its_field(
    mixed: TaskStore, wanted: TaskFilter, field: str
) -> None:
    for ask in (mixed.list_tasks, mixed.count_tasks):
        with pytest.raises((InvalidValue, InvalidRef), match=field):
            ask(wanted)
