"""Races for one ref, arranged step by step: who loses waits, leaves no trace, and gets a row.

Not here: the same by the thousand (``test_upsert_crowds.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from psycopg import IsolationLevel
from support.rivals import Connection, open_connections, race, until_it_counts, wait_until_blocked

from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import TaskDraft, Upserted, UpsertOutcome

UPSERT = "select task_id, number, created from task_upsert_by_external_ref('acme', %s, 'A title')"
Answer = tuple[UUID, int, bool]


def upsert(connection: Connection, ref: str) -> Answer:
    row = connection.execute(UPSERT, [ref]).fetchone()
    assert row is not None
    return row  # type: ignore[return-value]  # the columns of UPSERT


def count(connection: Connection, what: str) -> object:
    row = connection.execute(what.encode()).fetchone()
    assert row is not None
    return row[0]


def assert_no_trace_of_losers(connection: Connection, created: int) -> None:
    """As many rows of each kind as creates, numbered without a gap, and the counter right behind the last."""
    assert count(connection, "select array_agg(number order by number) from tasks") == list(range(1, created + 1))
    assert count(connection, "select next_number from task_counters") == created + 1
    assert count(connection, "select count(*) from task_activity where kind = 'created'") == created
    assert count(connection, "select count(*) from notifications where topic = 'task.created'") == created
    assert count(connection, "select last_value from task_activity_id_seq") == created


@pytest.fixture
def connections(database_url: str, tasks: TaskStore) -> Iterator[list[Connection]]:  # noqa: ARG001 - makes the tenant
    """Twenty-four connections."""
    with open_connections(database_url, 24) as opened:
        yield opened


def test_losers_take_no_transaction_id(connections: list[Connection]) -> None:
    def work(connection: Connection, _rival: int, number: int) -> tuple[bool, bool]:
        with connection.transaction():
            _, _, created = upsert(connection, f"ref-{number}")
            return created, bool(count(connection, "select pg_current_xact_id_if_assigned() is not null"))

    for answers in race(connections, 10, work):
        assert sorted(answers) == [(False, False)] * (len(connections) - 1) + [(True, True)]


@pytest.fixture
def background() -> Iterator[ThreadPoolExecutor]:
    """A second thread, whose work is waited for."""
    with ThreadPoolExecutor(1) as pool:
        yield pool


each_level = pytest.mark.parametrize(
    "level",
    [IsolationLevel.READ_COMMITTED, IsolationLevel.REPEATABLE_READ, IsolationLevel.SERIALIZABLE],
    ids=lambda level: level.name.lower(),
)


def upsert_at(level: IsolationLevel, connection: Connection, ref: str) -> Answer:
    return until_it_counts(connection, level, lambda: upsert(connection, ref))[0]


@each_level
def test_a_loser_whose_winner_rolls_back_creates_the_task_itself(
    connections: list[Connection], background: ThreadPoolExecutor, level: IsolationLevel
) -> None:
    winner, loser, watcher = connections[:3]
    with winner.transaction(force_rollback=True):
        first = upsert(winner, "ref")
        answer = background.submit(upsert_at, level, loser, "ref")
        wait_until_blocked(watcher, loser)
    task_id, number, created = answer.result(timeout=10)
    assert (number, created) == (1, True)
    assert task_id != first[0]
    assert count(watcher, "select count(*) from tasks") == 1


@each_level
def test_a_loser_whose_winner_is_deleted_meanwhile_gets_a_new_task(
    connections: list[Connection], background: ThreadPoolExecutor, level: IsolationLevel
) -> None:
    winner, loser, watcher = connections[:3]
    with winner.transaction():
        first = upsert(winner, "ref")
        answer = background.submit(upsert_at, level, loser, "ref")
        wait_until_blocked(watcher, loser)
        winner.execute("update tasks set deleted_at = now()")
    task_id, number, created = answer.result(timeout=10)
    assert (number, created) == (2, True)
    assert task_id != first[0]


BY_HAND = TaskDraft("by-hand", "A title")
INSERT_BY_HAND = """
    insert into tasks (tenant_id, number, title, external_ref) select tenant_id, 1000, 'By hand', 'by-hand' from tenants
"""
EACH_FORM: list[Callable[[TaskStore], Upserted]] = [
    lambda tasks: tasks.upsert_task(BY_HAND, actor="test"),
    lambda tasks: tasks.upsert_tasks([BY_HAND], actor="test")[0],
]


@pytest.mark.parametrize("upsert_by_hand", EACH_FORM, ids=["single", "batch"])
def test_the_task_of_a_writer_that_takes_no_lock_is_found_once_it_commits(
    connections: list[Connection],
    background: ThreadPoolExecutor,
    tasks: TaskStore,
    upsert_by_hand: Callable[[TaskStore], Upserted],
) -> None:
    stranger, watcher = connections[:2]
    with stranger.transaction():
        stranger.execute(INSERT_BY_HAND)
        answer = background.submit(upsert_by_hand, tasks)
        wait_until_blocked(watcher)
    upserted = answer.result(timeout=10)
    assert (upserted.number, upserted.outcome) == (1000, UpsertOutcome.FOUND)
    assert count(watcher, "select next_number from task_counters") == 1


@pytest.mark.parametrize("upsert_by_hand", EACH_FORM, ids=["single", "batch"])
def test_a_writer_that_takes_no_lock_and_rolls_back_leaves_the_ref_to_us(
    connections: list[Connection],
    background: ThreadPoolExecutor,
    tasks: TaskStore,
    upsert_by_hand: Callable[[TaskStore], Upserted],
) -> None:
    stranger, watcher = connections[:2]
    with stranger.transaction(force_rollback=True):
        stranger.execute(INSERT_BY_HAND)
        answer = background.submit(upsert_by_hand, tasks)
        wait_until_blocked(watcher)
    assert answer.result(timeout=10).outcome is UpsertOutcome.CREATED
    assert_no_trace_of_losers(watcher, 1)
