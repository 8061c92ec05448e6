"""Thirty-two sessions on one ref at once, at every isolation level: one task each time, whoever loses."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest
from support.crowd import GATE, Answer, Crowd
from support.rivals import open_connections

from inbox_loop.repository.database import Database
from inbox_loop.repository.tasks import TaskStore

SESSIONS = 32
ROUNDS = 500
MIXED_ROUNDS = 120
BATCH_SESSIONS = 16
BATCH_ROUNDS = 20
BATCH_SIZE = 25

BIND = "select set_config('inbox_loop.tenant_id', (select tenant_id::text from tenants where slug = 'acme'), false)"
NOW = "select (extract(epoch from clock_timestamp()) * 1000000)::bigint"
each_level = pytest.mark.parametrize("level", ["read committed", "repeatable read", "serializable"])


@pytest.fixture
def crowd(database_url: str, tasks: TaskStore) -> Iterator[Crowd]:  # noqa: ARG001 - makes the tenant
    """The sessions. Every other one is bound to the tenant, as the program's are; the rest is not, as at psql."""
    with open_connections(database_url, SESSIONS + 1) as connections:
        for connection in connections[::2]:
            connection.execute(BIND)
        yield Crowd(connections)


def upsert(ref: str) -> str:
    return f"select task_id, number, created from task_upsert_by_external_ref('acme', '{ref}', 'A title')"


def upsert_batch(refs: list[str]) -> str:
    items = ", ".join(f'{{"external_ref": "{ref}", "title": "A title"}}' for ref in refs)
    return f"select task_id, number, created from task_upsert_batch_by_external_ref('acme', '[{items}]') order by ord"


def assert_each_create_left_one_trace(database: Database, created: int) -> None:
    """Numbers without a gap, the counter right behind the last, an activity and a notification for each task."""
    row = database.row(b"""
        select (select array_agg(number order by number) from tasks) as numbers,
               (select next_number from task_counters) as next_number,
               (select count(distinct task_id) from task_activity where kind = 'created') as told,
               (select count(*) from task_activity where kind = 'created') as activities,
               (select count(distinct task_id) from notifications) as staged,
               (select count(*) from notifications) as notifications
    """)
    assert row == {
        "numbers": list(range(1, created + 1)),
        "next_number": created + 1,
        **dict.fromkeys(["told", "activities", "staged", "notifications"], created),
    }


@each_level
def test_one_ref_is_created_once_and_its_losers_are_told_the_same_task(
    crowd: Crowd, database: Database, level: str
) -> None:
    losses: Counter[int] = Counter()
    for number in range(1, ROUNDS + 1):
        refs = [f"gmail:{number:x}#a", f"GMAIL:{number:X}#A"] * (SESSIONS // 2)
        answers = crowd.ask([f"begin isolation level {level}; {GATE}; {upsert(ref)}; commit" for ref in refs])
        told = [answer.rows[-1] for answer in answers]
        assert len({task_id for task_id, _, _ in told}) == 1
        assert Counter(row[1:] for row in told) == {(str(number), "f"): SESSIONS - 1, (str(number), "t"): 1}
        losses.update(answer.losses for answer in answers)
    assert_each_create_left_one_trace(database, ROUNDS)
    assert database.row(b"select last_value from task_activity_id_seq") == {"last_value": ROUNDS}
    assert database.row(b"select last_value from notifications_id_seq") == {"last_value": ROUNDS}
    if level == "read committed":
        assert losses.keys() == {0}
    else:
        # Who looked before the winner's commit can't see its task: running the transaction again, once, is enough.
        assert losses.keys() == {0, 1}
        assert losses[1] > ROUNDS


def ask_for(level: str, statement: str) -> str:
    """A script that says when it asks, before its transaction looks at anything."""
    return f"begin; {GATE}; {NOW}; commit; begin isolation level {level}; {statement}; commit"


ROLLED_BACK = f"begin; {GATE}; {upsert('hot')}; rollback"
DELETED = f"""
    begin; {GATE}; commit;
    begin;
    update tasks set deleted_at = now() where external_ref = 'hot' and deleted_at is null returning task_id;
    commit;
    {NOW}
"""


@each_level
def test_deleters_and_winners_that_roll_back_never_leave_anyone_without_a_live_task(
    crowd: Crowd, database: Database, level: str
) -> None:
    """Live: not deleted by a transaction that had ended before the question was put; and not one that was undone."""
    upserts = [ask_for(level, upsert("HOT"))] * 18 + [ask_for(level, upsert_batch(["hot"]))] * 6
    scripts = upserts + [ROLLED_BACK] * 4 + [DELETED] * 4
    order = random.Random(level)
    asked: list[tuple[int, str, bool]] = []
    gone: dict[str, int] = {}
    for _ in range(MIXED_ROUNDS):
        order.shuffle(scripts)
        for script, answer in zip(scripts, crowd.ask(scripts), strict=True):
            if script is DELETED:
                gone |= deletion_in(answer)
            elif script is not ROLLED_BACK:
                asked.append(question_in(answer))
    kept = {str(row["task_id"]) for row in database.rows(b"select task_id from tasks")}
    assert len(asked) == len(upserts) * MIXED_ROUNDS
    assert [task_id for _, task_id, _ in asked if task_id not in kept] == []
    assert [task_id for at, task_id, _ in asked if gone.get(task_id, at) < at] == []
    assert Counter(task_id for _, task_id, created in asked if created) == dict.fromkeys(kept, 1)
    assert_each_create_left_one_trace(database, len(kept))
    assert len(gone) > MIXED_ROUNDS / 2


def question_in(answer: Answer) -> tuple[int, str, bool]:
    """When it was put, the task that was the answer, and whether that was created."""
    _, (at,), (task_id, _, created) = answer.rows
    return int(str(at)), str(task_id), created == "t"


def deletion_in(answer: Answer) -> dict[str, int]:
    """The task that a deleter deleted, if any, and when that was over."""
    (at,) = answer.rows[-1]
    return {str(task_id): int(str(at)) for (task_id,) in answer.rows[1:-1]}


def test_batches_in_opposite_orders_neither_deadlock_nor_burn_numbers(crowd: Crowd, database: Database) -> None:
    for number in range(BATCH_ROUNDS):
        refs = [f"batch-{number}-{item}" for item in range(BATCH_SIZE)]
        scripts = [f"begin; {GATE}; {upsert_batch(refs)}; commit", f"begin; {GATE}; {upsert_batch(refs[::-1])}; commit"]
        answers = crowd.ask(scripts * (BATCH_SESSIONS // 2))
        assert {answer.losses for answer in answers} == {0}
        told = [dict(zip(refs, answer.rows[1:], strict=True)) for answer in answers[::2]]
        told += [dict(zip(refs[::-1], answer.rows[1:], strict=True)) for answer in answers[1::2]]
        for ref in refs:
            assert len({each[ref][:2] for each in told}) == 1
            assert [each[ref][2] for each in told].count("t") == 1
    assert_each_create_left_one_trace(database, BATCH_ROUNDS * BATCH_SIZE)
    assert database.row(b"select last_value from task_activity_id_seq") == {"last_value": BATCH_ROUNDS * BATCH_SIZE}


def test_transactions_of_several_upserts_in_opposite_orders_do_not_deadlock(crowd: Crowd, database: Database) -> None:
    for number in range(BATCH_ROUNDS):
        left, right = upsert(f"left-{number}"), upsert_batch([f"right-{number}", f"middle-{number}"])
        scripts = [f"begin; {GATE}; {left}; {right}; commit", f"begin; {GATE}; {right}; {left}; commit"]
        answers = crowd.ask(scripts * (BATCH_SESSIONS // 2))
        assert {answer.losses for answer in answers} == {0}
        assert [created for answer in answers for _, _, created in answer.rows[1:]].count("t") == 3
    assert_each_create_left_one_trace(database, BATCH_ROUNDS * 3)
