"""Idempotency keys: a create repeated within 72 hours is answered, not done again; then its key means nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb
from support.crowd import GATE, Crowd
from support.rivals import open_connections

from inbox_loop.errors import IdempotencyConflict, InvalidValue, NoSuchTask
from inbox_loop.repository.database import Database
from inbox_loop.repository.retention import purge_idempotency_keys
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.task import KEY_LIFETIME, NewTask, TaskChange, TaskStatus, Upserted, UpsertOutcome

CREATED, FOUND = UpsertOutcome.CREATED, UpsertOutcome.FOUND
MINUTE = timedelta(minutes=1)
RIVALS = 16

Create = Callable[[NewTask, str], Upserted]
"""Create a task under a key, as the tenant ``acme``; raises ``IdempotencyConflict``."""


@pytest.fixture(params=["python", "sql"])
def create(request: pytest.FixtureRequest, tasks: TaskStore, database_url: str) -> Create:
    """Through the program, and in plain SQL by somebody who knows nothing of it."""
    if request.param == "python":
        return lambda new, key: tasks.create_task(new, actor="ann", idempotency_key=key)
    return lambda new, key: create_in_sql(database_url, new, key)


def create_in_sql(url: str, new: NewTask, key: str) -> Upserted:
    query = """
        select *
          from task_create(p_tenant => 'acme', p_title => %s, p_body => %s, p_project => %s, p_parent => %s,
                           p_labels => %s, p_source => %s, p_idempotency_key => %s)
    """
    params = [new.title, new.body, new.project, new.parent, list(new.labels), Jsonb(dict(new.source)), key]
    with psycopg.connect(url, row_factory=dict_row) as connection:
        try:
            row = connection.execute(query, params).fetchone()
        except psycopg.errors.UniqueViolation as error:
            if error.diag.constraint_name != "idempotency_keys_content_ck":
                raise
            raise IdempotencyConflict(str(error)) from error
    assert row is not None
    outcome = CREATED if row["created"] else FOUND
    return Upserted(row["task_id"], row["number"], TaskStatus(row["status"]), outcome, deleted=row["deleted"])


def let_pass(database: Database, time: timedelta) -> None:
    """Make every key older than it is. The database's clock, which decides, can't be moved."""
    database.rows(b"update idempotency_keys set created_at = created_at - %(time)s returning 1", {"time": time})


def traces_of(database: Database) -> object:
    """How much a create leaves behind, in every table and sequence it writes to."""
    return database.row(b"""
        select (select jsonb_agg(to_jsonb(t) order by number) from tasks as t) as tasks,
               (select jsonb_agg(to_jsonb(k) order by key) from idempotency_keys as k) as keys,
               (select count(*) from task_activity) as activities,
               (select count(*) from notifications) as notifications,
               (select sum(next_number) from task_counters) as counters,
               (select sum(last_value) from pg_sequences) as sequences
    """)


def test_a_repeated_create_is_answered_with_the_first_ones_task_and_changes_nothing(
    create: Create, tasks: TaskStore, database: Database
) -> None:
    first = create(NewTask("Answer Ann", body="first", project="inbox", labels=("vip",)), "key")
    before = traces_of(database)
    again = create(NewTask("Answer Ann", body="drifted", project="inbox", labels=("x",), source={"a": 1}), "key")
    assert (first.number, first.outcome) == (1, CREATED)
    assert again == Upserted(first.task_id, 1, TaskStatus.OPEN, FOUND)
    assert traces_of(database) == before
    assert tasks.find_task(1).body == "first"


@pytest.mark.parametrize("title", ["Answer Ann", "Answer Bob"], ids=["same content", "other content"])
def test_a_key_counts_for_72_hours_whether_or_not_it_was_purged(create: Create, database: Database, title: str) -> None:
    first = create(NewTask("Answer Ann"), "key")
    let_pass(database, KEY_LIFETIME - MINUTE)
    assert create(NewTask("Answer Ann"), "key") == Upserted(first.task_id, 1, TaskStatus.OPEN, FOUND)
    let_pass(database, 2 * MINUTE)
    second = create(NewTask(title), "key")
    assert (second.number, second.outcome) == (2, CREATED)
    assert create(NewTask(title), "key") == Upserted(second.task_id, 2, TaskStatus.OPEN, FOUND)


def test_a_key_that_is_taken_over_counts_for_72_hours_from_then(create: Create, database: Database) -> None:
    create(NewTask("Answer Ann"), "key")
    let_pass(database, KEY_LIFETIME + MINUTE)
    create(NewTask("Answer Bob"), "key")
    let_pass(database, KEY_LIFETIME - MINUTE)
    assert create(NewTask("Answer Bob"), "key").number == 2
    with pytest.raises(IdempotencyConflict):
        create(NewTask("Answer Ann"), "key")


def test_the_purge_takes_the_keys_that_mean_nothing_and_no_others(
    create: Create, tasks: TaskStore, database: Database
) -> None:
    create(NewTask("Answer Ann"), "old")
    let_pass(database, 2 * MINUTE)
    create(NewTask("Answer Bob"), "young")
    let_pass(database, KEY_LIFETIME - MINUTE)
    assert purge_idempotency_keys(database) == 1
    assert purge_idempotency_keys(database) == 0
    assert database.rows(b"select key from idempotency_keys") == [{"key": "young"}]
    assert create(NewTask("Answer Bob"), "young").outcome is FOUND
    assert create(NewTask("Answer Ann"), "old").number == 3
    assert tasks.find_task(1).deleted_at is None


OTHERS = {
    "title": NewTask("Answer Bob", project="inbox", parent=1),
    "title in another case": NewTask("ANSWER ANN", project="inbox", parent=1),
    "title with a blank": NewTask("Answer Ann ", project="inbox", parent=1),
    "project": NewTask("Answer Ann", project="billing", parent=1),
    "no project": NewTask("Answer Ann", parent=1),
    "parent": NewTask("Answer Ann", project="inbox", parent=2),
    "no parent": NewTask("Answer Ann", project="inbox"),
    "unknown project": NewTask("Answer Ann", project="nowhere", parent=1),
    "unknown parent": NewTask("Answer Ann", project="inbox", parent=99),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS.keys())
def test_a_key_with_other_content_is_a_conflict_that_names_its_task(
    create: Create, tasks: TaskStore, database: Database, other: NewTask
) -> None:
    ensure_tenant(database, "acme", ["billing"])
    for title in ("Parent", "Other parent"):
        tasks.create_task(NewTask(title), actor="ann")
    create(NewTask("Answer Ann", project="inbox", parent=1), "key")
    before = traces_of(database)
    with pytest.raises(IdempotencyConflict, match="stands for task 3"):
        create(other, "key")
    assert traces_of(database) == before


def test_the_conflict_tells_a_program_the_tasks_number(tasks: TaskStore) -> None:
    tasks.create_task(NewTask("First"), actor="ann")
    tasks.create_task(NewTask("Second"), actor="ann", idempotency_key="key")
    with pytest.raises(IdempotencyConflict) as raised:
        tasks.create_task(NewTask("Third"), actor="ann", idempotency_key="key")
    assert (raised.value.task_number, raised.value.code, raised.value.retryable) == (2, "task.key_conflict", False)
    assert raised.value.hint


# Contents that an encoding by joining, by separators, by leaving out, or by folding would take for one another.
CONTENTS: list[tuple[str | None, str, int | None]] = [
    (None, "a", None),
    ("", "a", None),
    ("a", "a", None),
    ("a|b", "c", None),
    ("a", "b|c", None),
    ("a|", "b|c", None),
    ("a", "|b|c", None),
    ("ab", "c", None),
    ("a", "bc", None),
    ("a", "b", 1),
    ("a", "b1", None),
    ("a", "b|1", None),
    ("a", "b", 11),
    ("a", "b1", 1),
    ("null", "a", None),
    (None, "null", None),
    ('a","b', "c", None),
    ("a", 'b","c', None),
    ("a", 'b", 1]', None),
    ("a\\", "b", None),
    ("a", "\\b", None),
    ("a", "\u00fc", None),
    ("a", "u\u0308", None),
    ("a", "\\u00fc", None),
    ("a", "\U0001f4e8", None),
    ("a", "A", None),
    ("A", "a", None),
    ("a", "a\n", None),
    ("a", " a", None),
]


def test_no_two_contents_are_written_alike(database: Database) -> None:
    """The names of projects do not allow most of these; the hash does not lean on that."""
    hashes = {
        content: database.row(
            b"select idempotency_content_hash(%(project)s, %(title)s, %(parent)s) as hash",
            dict(zip(["project", "title", "parent"], content, strict=True)),
        )
        for content in CONTENTS
    }
    assert len({str(row) for row in hashes.values()}) == len(CONTENTS)


def test_a_title_can_not_reach_over_into_the_project_or_the_parent(create: Create, database: Database) -> None:
    ensure_tenant(database, "acme", ["a", "ab"])
    create(NewTask("Parent"), "parent")
    create(NewTask("bc", project="a"), "boundary")
    for other in (NewTask("c", project="ab"), NewTask("abc"), NewTask("bc1", project="a")):
        with pytest.raises(IdempotencyConflict):
            create(other, "boundary")


def test_the_key_of_a_deleted_task_answers_that_task_and_brings_nothing_back(
    create: Create, tasks: TaskStore, database: Database
) -> None:
    first = create(NewTask("Answer Ann"), "key")
    tasks.finish_task(1, actor="ann")
    tasks.delete_task(1, actor="ann")
    before = traces_of(database)
    assert create(NewTask("Answer Ann"), "key") == Upserted(first.task_id, 1, TaskStatus.DONE, FOUND, deleted=True)
    assert traces_of(database) == before


def test_a_key_stays_bound_to_the_content_of_the_create_whatever_the_task_became(
    create: Create, tasks: TaskStore
) -> None:
    create(NewTask("Answer Ann"), "key")
    tasks.update_task(1, TaskChange(title="Answer Bob"), actor="ann")
    assert create(NewTask("Answer Ann"), "key").outcome is FOUND
    with pytest.raises(IdempotencyConflict):
        create(NewTask("Answer Bob"), "key")


def test_a_key_is_told_apart_by_case_and_blanks(create: Create) -> None:
    assert [create(NewTask("Answer Ann"), key).number for key in ("key", "KEY", "key ")] == [1, 2, 3]


def test_a_create_that_failed_leaves_its_key_free(create: Create, tasks: TaskStore, database: Database) -> None:
    with pytest.raises((NoSuchTask, psycopg.errors.ForeignKeyViolation)):
        create(NewTask("Answer Ann", parent=7), "key")
    assert database.rows(b"select from idempotency_keys") == []
    assert create(NewTask("Answer Ann"), "key").number == 1
    assert tasks.count_tasks() == 1


def test_without_a_key_every_create_is_a_new_task(tasks: TaskStore) -> None:
    assert [tasks.create_task(NewTask("Answer Ann"), actor="ann").number for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize("key", ["", "x" * 201, "a\x00", "\ud800"], ids=["empty", "too long", "U+0000", "surrogate"])
def test_a_key_that_is_none_is_refused_by_its_name(tasks: TaskStore, key: str) -> None:
    with pytest.raises(InvalidValue, match="idempotency_key"):
        tasks.create_task(NewTask("Answer Ann"), actor="ann", idempotency_key=key)
    assert tasks.count_tasks() == 0


def test_tenants_do_not_share_keys(tasks: TaskStore, database: Database) -> None:
    ensure_tenant(database, "other", [])
    others = TaskStore(database, tenant="other")
    first = tasks.create_task(NewTask("Answer Ann"), actor="ann", idempotency_key="key")
    second = others.create_task(NewTask("Answer Bob"), actor="ann", idempotency_key="key")
    assert (second.number, second.outcome) == (1, CREATED)
    assert second.task_id != first.task_id


@pytest.mark.parametrize("level", ["read committed", "repeatable read", "serializable"])
@pytest.mark.parametrize("expired", [False, True], ids=["new key", "expired key"])
def test_rivals_with_one_key_make_one_task_and_burn_no_number(
    database_url: str, tasks: TaskStore, database: Database, level: str, *, expired: bool
) -> None:
    rounds = 10
    create_one = "select number, created from task_create('acme', 'Answer Ann', p_idempotency_key => 'key-{}')"
    already = 0
    if expired:
        for number in range(rounds):
            tasks.create_task(NewTask("Old"), actor="ann", idempotency_key=f"key-{number}")
        let_pass(database, KEY_LIFETIME + MINUTE)
        already = rounds
    with open_connections(database_url, RIVALS + 1) as connections:
        crowd = Crowd(connections)
        for number in range(rounds):
            script = f"begin isolation level {level}; {GATE}; {create_one.format(number)}; commit"
            told = sorted(answer.rows[-1] for answer in crowd.ask([script] * RIVALS))
            expected = str(already + number + 1)
            assert told == [(expected, "f")] * (RIVALS - 1) + [(expected, "t")]
    created = already + rounds
    assert [task.number for task in tasks.list_tasks()] == list(range(created, 0, -1))
    row = database.row(b"""
        select (select next_number from task_counters) as next_number,
               (select last_value from task_activity_id_seq) as activities,
               (select last_value from notifications_id_seq) as notifications
    """)
    assert row == {"next_number": created + 1, "activities": created, "notifications": created}
