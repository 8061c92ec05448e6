"""A restore takes a ref back, so it waits its turn like a create: no deadlock, and one live task whoever wins."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from support.rivals import Connection, open_connections, race, wait_until_blocked

from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import TaskDraft

RESTORE = "select number from task_restore('acme', %s)"
UPSERT = "select number, created from task_upsert_by_external_ref('acme', %s, 'A title')"
LIVE = "select number from tasks where external_ref = 'hot' and deleted_at is null"


@pytest.fixture
def connections(database_url: str, tasks: TaskStore) -> Iterator[list[Connection]]:
    """Twelve connections. Task 1 is deleted, and holds the ref ``hot`` for the record."""
    tasks.upsert_task(TaskDraft("hot", "A title"), actor="ann")
    tasks.delete_task(1, actor="ann")
    with open_connections(database_url, 12) as opened:
        yield opened


def test_an_upsert_waits_for_a_restore_and_finds_its_task(connections: list[Connection]) -> None:
    restorer, creator, watcher = connections[:3]
    with ThreadPoolExecutor(1) as background:
        with restorer.transaction():
            restorer.execute(RESTORE, [1])
            answer = background.submit(lambda: creator.execute(UPSERT, ["hot"]).fetchone())
            wait_until_blocked(watcher, creator)
            # Once it deadlocked here: the restorer wanted the lock of the one who waited for its task.
            assert restorer.execute(UPSERT, ["other"]).fetchone() == (2, True)
        assert answer.result(timeout=10) == (1, False)


def test_a_restore_waits_for_a_create_and_is_refused_by_name(connections: list[Connection]) -> None:
    creator, restorer, watcher = connections[:3]
    with ThreadPoolExecutor(1) as background:
        with creator.transaction():
            assert creator.execute(UPSERT, ["hot"]).fetchone() == (2, True)
            answer = background.submit(restorer.execute, RESTORE, [1])
            wait_until_blocked(watcher, restorer)
        with pytest.raises(psycopg.errors.UniqueViolation, match="task 2 holds its external_ref") as refused:
            answer.result(timeout=10)
    assert refused.value.diag.constraint_name == "tasks_tenant_external_ref_uq"


def test_restores_deletes_and_upserts_of_one_ref_leave_one_live_task_at_most(connections: list[Connection]) -> None:
    def work(connection: Connection, rival: int, _number: int) -> bool:
        if rival % 3 == 0:
            try:
                connection.execute(RESTORE, [1])
            except psycopg.errors.UniqueViolation:
                return False
            return True
        if rival % 3 == 1:
            connection.execute("select task_delete('acme', number) from tasks where external_ref = 'hot'")
            return True
        return connection.execute(UPSERT, ["hot"]).fetchone() is not None

    for answers in race(connections, 40, work):
        assert all(answers[rival] for rival in range(len(answers)) if rival % 3)
        assert len(connections[0].execute(LIVE).fetchall()) <= 1
