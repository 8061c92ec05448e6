"""Find-or-create keyed on the ref alone: what is found, what is created, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import psycopg
import pytest

from inbox_loop.errors import InboxLoopError, InvalidRef, InvalidValue, NoSuchProject, NoSuchTenant
from inbox_loop.ref import UNIT_OF_WORK_RULE
from inbox_loop.repository.database import Database
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.task import TaskDraft, TaskFilter, TaskStatus, Upserted, UpsertOutcome

CREATED, FOUND = UpsertOutcome.CREATED, UpsertOutcome.FOUND


def single(tasks: TaskStore, draft: TaskDraft) -> Upserted:
    return tasks.upsert_task(draft, actor="ann")


def batch(tasks: TaskStore, draft: TaskDraft) -> Upserted:
    return tasks.upsert_tasks([draft], actor="ann")[0]


Upsert = Callable[[TaskStore, TaskDraft], Upserted]
each_form = pytest.mark.parametrize("upsert", [single, batch])


@each_form
def test_a_task_is_created_as_drafted(tasks: TaskStore, upsert: Upsert) -> None:
    draft = TaskDraft(
        external_ref="gmail:18c#19a",
        title="Größe prüfen",
        body="Bitte…",
        project="inbox",
        labels=("mail", "vip"),
        container_ref="gmail:18c",
        source={"mailbox": "desk", "attachments": [{"name": "a.pdf", "size": 3}], "cc": []},
    )
    upserted = upsert(tasks, draft)
    assert (upserted.number, upserted.status, upserted.outcome) == (1, TaskStatus.OPEN, CREATED)
    task = tasks.find_task(1)
    assert task.task_id == upserted.task_id
    assert (task.tenant, task.status, task.completed_at, task.deleted_at) == ("acme", TaskStatus.OPEN, None, None)
    assert task.created_at == task.updated_at
    kept = TaskDraft(
        str(task.external_ref), task.title, task.body, task.project, task.labels, task.container_ref, task.source
    )
    assert kept == draft


@each_form
def test_a_create_tells_of_itself_once(tasks: TaskStore, database: Database, upsert: Upsert) -> None:
    upserted = upsert(tasks, TaskDraft("gmail:1#2", "A title"))
    upsert(tasks, TaskDraft("gmail:1#2", "A title"))
    (activity,) = tasks.list_activity(upserted.task_id)
    assert (activity.kind, activity.actor) == ("created", "ann")
    (notification,) = database.rows(b"select topic, task_id, payload, delivered_at, attempts from notifications")
    assert notification == {
        "topic": "task.created",
        "task_id": upserted.task_id,
        "payload": {"number": 1, "external_ref": "gmail:1#2"},
        "delivered_at": None,
        "attempts": 0,
    }


@each_form
def test_nothing_but_the_ref_decides_and_a_find_keeps_the_first_draft(tasks: TaskStore, upsert: Upsert) -> None:
    first = upsert(tasks, TaskDraft("gmail:1#2", "A title", body="first", labels=("x",)))
    again = upsert(
        tasks, TaskDraft("gmail:1#2", "Another", body="second", project="no-such", labels=("y",), source={"a": 1})
    )
    assert again == Upserted(first.task_id, first.number, TaskStatus.OPEN, FOUND)
    task = tasks.find_task(1)
    assert (task.title, task.body, task.labels, task.source) == ("A title", "first", ("x",), {})


@each_form
@pytest.mark.parametrize(
    "spelling", ["GMAIL:1A#2B", "gmail:1A#2b", "  gmail:1a#2b\n"], ids=["upper", "mixed", "not trimmed"]
)
def test_a_ref_is_found_in_any_case_and_trimmed(tasks: TaskStore, upsert: Upsert, spelling: str) -> None:
    first = upsert(tasks, TaskDraft("gmail:1a#2b", "A title"))
    assert upsert(tasks, TaskDraft(spelling, "A title")) == Upserted(first.task_id, 1, TaskStatus.OPEN, FOUND)
    assert tasks.find_task(1).external_ref == "gmail:1a#2b"


@each_form
def test_a_ref_is_found_in_any_normal_form(tasks: TaskStore, upsert: Upsert) -> None:
    upsert(tasks, TaskDraft("crm:u\u0308ber", "A title"))
    assert upsert(tasks, TaskDraft("crm:\u00fcber", "A title")).outcome is FOUND


@each_form
def test_two_messages_of_one_thread_are_two_units_of_work(tasks: TaskStore, upsert: Upsert) -> None:
    upsert(tasks, TaskDraft("gmail:1#1", "First ask", container_ref="gmail:1"))
    tasks.finish_task(1, actor="ann")
    second = upsert(tasks, TaskDraft("gmail:1#2", "Second ask", container_ref="gmail:1"))
    assert (second.number, second.status, second.outcome) == (2, TaskStatus.OPEN, CREATED)


@each_form
def test_a_found_task_says_that_it_is_done(tasks: TaskStore, upsert: Upsert) -> None:
    upsert(tasks, TaskDraft("gmail:1#1", "A title"))
    tasks.finish_task(1, actor="ann")
    found = upsert(tasks, TaskDraft("gmail:1#1", "A title"))
    assert (found.status, found.outcome) == (TaskStatus.DONE, FOUND)


@each_form
def test_a_deleted_task_does_not_hold_its_ref(tasks: TaskStore, upsert: Upsert) -> None:
    first = upsert(tasks, TaskDraft("gmail:1#1", "A title"))
    tasks.delete_task(1, actor="ann")
    second = upsert(tasks, TaskDraft("gmail:1#1", "A title"))
    assert (second.number, second.outcome) == (2, CREATED)
    assert second.task_id != first.task_id
    assert upsert(tasks, TaskDraft("gmail:1#1", "A title")) == Upserted(second.task_id, 2, TaskStatus.OPEN, FOUND)


@each_form
def test_tenants_share_neither_refs_nor_numbers(tasks: TaskStore, database: Database, upsert: Upsert) -> None:
    ensure_tenant(database, "other", [])
    first = upsert(tasks, TaskDraft("gmail:1#1", "A title"))
    second = upsert(TaskStore(database, tenant="other"), TaskDraft("gmail:1#1", "A title"))
    assert (second.number, second.outcome) == (1, CREATED)
    assert second.task_id != first.task_id


@each_form
@pytest.mark.parametrize(
    ("draft", "error"),
    [
        (TaskDraft("", "A title"), InvalidRef),
        (TaskDraft(" \n", "A title"), InvalidRef),
        (TaskDraft("x" * 513, "A title"), InvalidRef),
        (TaskDraft("a\x07b", "A title"), InvalidRef),
        (TaskDraft("r", "A title", container_ref="x" * 513), InvalidRef),
        (TaskDraft("r", ""), InvalidValue),
        (TaskDraft("r", "x" * 1001), InvalidValue),
        (TaskDraft("r", "A title", body="ü" * (512 * 1024) + "x"), InvalidValue),
        (TaskDraft("r", "A title", labels=("x",) * 51), InvalidValue),
        (TaskDraft("r", "A title", labels=("x" * 101,)), InvalidValue),
        (TaskDraft("r", "A title", labels=("",)), InvalidValue),
        (TaskDraft("r", "A title", project="no-such"), NoSuchProject),
        (TaskDraft("r\x00", "A title"), InvalidRef),
        (TaskDraft("gmail:18c", "A title"), InvalidRef),
        (TaskDraft("r", " \n"), InvalidValue),
        (TaskDraft("r", "\ud800"), InvalidValue),
        (TaskDraft("r", "A title", source={"to": ["a", {"b\x00": 1}]}), InvalidValue),
    ],
    ids=repr,
)
def test_a_draft_that_breaks_a_rule_creates_nothing(
    tasks: TaskStore, database: Database, upsert: Upsert, draft: TaskDraft, error: type[InboxLoopError]
) -> None:
    with pytest.raises(error) as raised:
        upsert(tasks, draft)
    assert type(raised.value) is error
    assert database.rows(b"select from tasks") == []
    assert database.row(b"select next_number from task_counters") == {"next_number": 1}


@each_form
@pytest.mark.parametrize(
    "draft",
    [
        TaskDraft("x" * 512, "x" * 1000, container_ref="x" * 512),
        TaskDraft("\U0001f4e8" * 512, "A title", container_ref="\U0001f4e8" * 512),
        TaskDraft("r", "A title", body="ü" * (512 * 1024), labels=tuple(f"{n:0100}" for n in range(50))),
    ],
    ids=["longest refs and title", "refs of wide characters", "longest body and labels"],
)
def test_a_draft_at_the_limits_is_created_and_found(tasks: TaskStore, upsert: Upsert, draft: TaskDraft) -> None:
    assert upsert(tasks, draft).outcome is CREATED
    assert upsert(tasks, draft).outcome is FOUND
    tasks.delete_task(1, actor="ann")
    assert upsert(tasks, draft).outcome is CREATED


@each_form
def test_an_unknown_tenant_is_told_apart(database: Database, upsert: Upsert) -> None:
    with pytest.raises(NoSuchTenant):
        upsert(TaskStore(database, tenant="nobody"), TaskDraft("r", "A title"))


def test_a_batch_answers_each_item_in_order_and_creates_a_repeated_ref_once(tasks: TaskStore) -> None:
    single(tasks, TaskDraft("known", "A title"))
    refs = ["new-b", "KNOWN", "new-a", "New-B", "known", "new-c"]
    answers = tasks.upsert_tasks([TaskDraft(ref, f"Title of {ref}") for ref in refs], actor="ann")
    assert [(one.number, one.outcome) for one in answers] == [
        (2, CREATED),
        (1, FOUND),
        (3, CREATED),
        (2, FOUND),
        (1, FOUND),
        (4, CREATED),
    ]
    assert tasks.find_task(2).title == "Title of new-b"
    assert len({one.task_id for one in answers}) == 4


def test_a_batch_is_all_or_nothing(tasks: TaskStore) -> None:
    with pytest.raises(InvalidValue):
        tasks.upsert_tasks([TaskDraft("good", "A title"), TaskDraft("bad", "")], actor="ann")
    assert tasks.list_tasks(TaskFilter(include_deleted=True)) == ()
    assert tasks.upsert_tasks([], actor="ann") == ()


def test_a_batch_of_five_thousand_is_one_round_trip(tasks: TaskStore) -> None:
    drafts = [TaskDraft(f"gmail:{n:x}#{n:x}", "A title") for n in range(5000)]
    assert [one.number for one in tasks.upsert_tasks(drafts, actor="ann")] == list(range(1, 5001))
    assert {one.outcome for one in tasks.upsert_tasks(drafts, actor="ann")} == {FOUND}


def test_plain_sql_needs_only_the_tenant_the_ref_and_a_title(database_url: str, tasks: TaskStore) -> None:
    query = "select * from task_upsert_by_external_ref(p_tenant => 'acme', p_external_ref => 'r', p_title => 'A title')"
    with psycopg.connect(database_url) as connection:
        created = connection.execute(query)
        assert [column.name for column in created.description or ()] == ["task_id", "number", "status", "created"]
        assert [row[1:] for row in created] == [(1, "open", True)]
        assert [row[1:] for row in connection.execute(query)] == [(1, "open", False)]
    assert tasks.list_activity(tasks.find_task(1).task_id)[0].actor == "inbox_loop"  # the role that called


def test_the_batch_is_called_in_plain_sql_with_a_json_array(database_url: str, tasks: TaskStore) -> None:
    query = """
        select number, status, created
          from task_upsert_batch_by_external_ref(
                 p_tenant => 'acme',
                 p_items => '[{"external_ref": "a", "title": "A", "labels": null, "source": null},
                              {"external_ref": "b", "title": "B", "labels": ["x"], "project": "inbox"}]')
    """
    with psycopg.connect(database_url) as connection:
        assert connection.execute(query).fetchall() == [(1, "open", True), (2, "open", True)]
    assert tasks.find_task(2).project == "inbox"


@pytest.mark.parametrize("items", ["{}", "3", "null", '["r"]', '[{"title": "no ref"}]', '[{"external_ref": "r"}]'])
def test_a_batch_of_another_shape_is_refused(database_url: str, tasks: TaskStore, items: str) -> None:
    query = "select * from task_upsert_batch_by_external_ref('acme', %s::jsonb)"
    refused = (psycopg.errors.DataError, psycopg.errors.IntegrityError)
    with psycopg.connect(database_url) as connection, pytest.raises(refused):
        connection.execute(query, [items])
    assert tasks.list_tasks() == ()


def test_the_functions_explain_the_unit_of_work_where_they_are_looked_up(database: Database) -> None:
    rows = database.rows(
        b"select proname, obj_description(oid) as text from pg_proc where proname like 'task_upsert%' order by proname"
    )
    assert [row["proname"] for row in rows] == ["task_upsert_batch_by_external_ref", "task_upsert_by_external_ref"]
    assert all(UNIT_OF_WORK_RULE in row["text"] for row in rows)


@each_form
def test_a_find_looks_at_nothing_but_the_ref(tasks: TaskStore, upsert: Upsert) -> None:
    """What a create would refuse does not matter to a task that is there, whether a create or a find came before."""
    upsert(tasks, TaskDraft("r", "A title"))
    drifted = TaskDraft("R", "", body="\x00", labels=("x" * 101,), project="no-such", source={"a": object()})
    assert [upsert(tasks, drifted).outcome for _ in range(2)] == [FOUND, FOUND]
    upsert(tasks, TaskDraft("another", "A title"))
    assert upsert(tasks, replace(drifted, title="B", body="", labels=(), source={})).outcome is FOUND


@each_form
def test_what_can_not_be_created_is_refused_whatever_came_before(tasks: TaskStore, upsert: Upsert) -> None:
    for ref in ("r", "s"):
        with pytest.raises(InvalidValue, match="title"):
            upsert(tasks, TaskDraft(ref, ""))
        with pytest.raises(NoSuchProject):
            upsert(tasks, TaskDraft(ref, "A title", project="no-such"))
        upsert(tasks, TaskDraft(ref, "A title"))
    assert [task.number for task in tasks.list_tasks()] == [2, 1]


def test_a_thread_is_a_unit_of_work_for_who_says_so(tasks: TaskStore) -> None:
    draft = TaskDraft("gmail:18c", "The whole thread")
    assert tasks.upsert_task(draft, actor="ann", allow_container=True).outcome is CREATED
    assert tasks.upsert_tasks([draft], actor="ann", allow_container=True)[0].outcome is FOUND


def test_a_foreign_search_path_does_not_make_the_functions_compare_by_case(database_url: str, tasks: TaskStore) -> None:
    single(tasks, TaskDraft("gmail:1a#2b", "A title"))
    with psycopg.connect(database_url) as connection:
        connection.execute("create schema elsewhere")
        connection.execute("set search_path = elsewhere")
        query = "select created from public.task_upsert_by_external_ref('acme', 'GMAIL:1A#2B', 'A title')"
        assert connection.execute(query).fetchone() == (False,)
