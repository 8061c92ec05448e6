"""The store as one mailbox's loop sees it: rows are held, settled and reopened."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta

import pytest
from support.ledger import (
    NOON,
    PENDING,
    SKIPPED,
    TASK,
    discover,
    known,
    lock,
    reopen,
    settle,
    the_due,
)
from support.rivals import open_connections, wait_until_blocked

from inbox_loop.loop.ledger import EVERY_DATE, DateRange, Known, MessageState, Outcome, SenderHour
from inbox_loop.loop.ports import StoreTransaction
from inbox_loop.repository.database import Database
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.repository.messages import MessageReader
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.upkeep import vacuum
from inbox_loop.task import TaskDraft


def test_an_outcome_settles_its_row(store: PostgresLoopStore, database: Database) -> None:
    discover(store, "a", "b")
    task = store.in_transaction(lambda tx: tx.upsert_tasks([TaskDraft("gmail:1#a", "A title")]))[0]
    outcome = Outcome("a", 1, TASK, task_id=task.task_id, thread_id="77", internal_date=NOON)
    assert settle(store, outcome, Outcome("b", 1, SKIPPED, "bulk")) == {"a", "b"}
    (row,) = MessageReader(database, tenant="acme").find_message("desk", "a")
    assert (row.state, row.task_number, row.thread_id, row.internal_date) == (TASK, 1, "77", NOON)
    assert row.settled_at is not None
    assert store.find_due(10) == ()


def test_a_pending_outcome_counts_an_attempt_and_waits(store: PostgresLoopStore, database: Database) -> None:
    discover(store, "a")
    assert settle(store, Outcome("a", 1, PENDING, "not_found", retry_in=timedelta(minutes=5))) == {"a"}
    assert (store.find_due(10), store.count_pending()) == ((), 1)
    (row,) = MessageReader(database, tenant="acme").find_message("desk", "a")
    assert (row.attempts, row.reason, row.settled_at) == (1, "not_found", None)
    assert timedelta(minutes=4) < row.next_attempt_at - row.seen_at < timedelta(minutes=6)
    settle(store, Outcome("a", 1, PENDING, "not_found", retry_in=timedelta()))
    assert the_due(store).attempts == 2


def test_a_row_that_another_settled_is_left_as_it_is(store: PostgresLoopStore) -> None:
    discover(store, "a", "b")
    settle(store, Outcome("a", 1, SKIPPED, "bulk"))
    assert settle(store, Outcome("a", 1, TASK), Outcome("b", 1, SKIPPED, "sent"), Outcome("z", 1, TASK)) == {"b"}
    assert known(store, "a").reason == "bulk"
    assert settle(store) == frozenset()


def test_what_was_read_before_a_reopening_can_not_settle_the_row(store: PostgresLoopStore) -> None:
    discover(store, "a")
    assert reopen(store, ["a"]) == 1
    assert settle(store, Outcome("a", 1, SKIPPED, "bulk")) == frozenset()
    assert the_due(store).revision == 2
    assert settle(store, Outcome("a", 2, SKIPPED, "bulk")) == {"a"}


def test_only_rows_still_pending_in_their_revision_are_held(store: PostgresLoopStore) -> None:
    discover(store, "c", "a", "b", "d")
    settle(store, Outcome("a", 1, SKIPPED, "bulk"))
    reopen(store, ["b"])
    settle(store, Outcome("d", 1, PENDING, "later", retry_in=timedelta(hours=1)))
    assert lock(store, dict.fromkeys("zdcba", 1)) == {"c", "d"}
    assert lock(store, {}) == frozenset()


def test_a_held_row_can_not_be_reopened_before_its_outcome_is_recorded(
    database_url: str, store: PostgresLoopStore
) -> None:
    discover(store, "a")

    with open_connections(database_url, 1) as (watcher,), ThreadPoolExecutor(1) as pool:

        def work(tx: StoreTransaction) -> tuple[frozenset[str], Future[int]]:
            assert tx.lock_pending({"a": 1}) == {"a"}
            reopening = pool.submit(reopen, store, ["a"])
            wait_until_blocked(watcher)
            return tx.record_outcomes([Outcome("a", 1, SKIPPED, "bulk")]), reopening

        settled, reopening = store.in_transaction(work)
        assert settled == {"a"}
        assert reopening.result(timeout=10) == 1
    assert the_due(store).revision == 2


def test_a_row_that_was_reopened_while_it_was_waited_for_is_not_held(
    database_url: str, store: PostgresLoopStore
) -> None:
    discover(store, "a", "b")

    with open_connections(database_url, 1) as (watcher,), ThreadPoolExecutor(1) as pool:

        def work(tx: StoreTransaction) -> Future[frozenset[str]]:
            tx.record_reopened(["a"], EVERY_DATE)
            holding = pool.submit(lock, store, {"b": 1, "a": 1})
            wait_until_blocked(watcher)
            return holding

        assert store.in_transaction(work).result(timeout=10) == {"b"}


def test_rows_are_held_in_the_order_of_their_ids_so_that_two_writers_can_not_wait_for_each_other(
    database_url: str, store: PostgresLoopStore, database: Database
) -> None:
    discover(store, "b")
    discover(store, "a")
    vacuum(database)  # a table this small is then read as it lies, which is "b" first

    with open_connections(database_url, 1) as (watcher,), ThreadPoolExecutor(1) as pool:

        def work(tx: StoreTransaction) -> Future[frozenset[str]]:
            tx.lock_pending({"a": 1})
            holding = pool.submit(lock, store, {"b": 1, "a": 1})
            wait_until_blocked(watcher)
            free = watcher.execute("select message_id from messages for update skip locked").fetchall()
            assert free == [("b",)]
            return holding

        assert store.in_transaction(work).result(timeout=10) == {"a", "b"}


def test_of_two_who_settle_the_same_rows_one_does(store: PostgresLoopStore) -> None:
    gate = threading.Barrier(4, timeout=10)
    ids = [f"{number:03x}" for number in range(100)]
    discover(store, *ids)

    def work(turn: int) -> int:
        outcomes = [Outcome(one, 1, SKIPPED, f"turn-{turn}") for one in ids]
        gate.wait()
        return len(settle(store, *(reversed(outcomes) if turn % 2 else outcomes)))

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(work, range(4))) == [0, 0, 0, 100]


@pytest.mark.parametrize("state", list(MessageState))
def test_a_row_of_any_state_can_be_reopened(store: PostgresLoopStore, state: MessageState) -> None:
    discover(store, "a")
    settle(store, Outcome("a", 1, state, "why", retry_in=timedelta(hours=1)))
    wanted = DateRange(after=NOON)
    assert reopen(store, ["a", "unknown"], wanted) == 1
    due = the_due(store)
    assert (due.attempts, due.revision, due.wanted, due.remint) == (0, 2, wanted, False)
    assert known(store, "a").reason is None


def test_remint_stays_until_the_row_is_settled(store: PostgresLoopStore) -> None:
    discover(store, "a")
    reopen(store, ["a"], remint=True)
    reopen(store, ["a"])
    assert the_due(store).remint
    settle(store, Outcome("a", 3, PENDING, "later", retry_in=timedelta()))
    assert the_due(store).remint
    settle(store, Outcome("a", 3, SKIPPED, "bulk"))
    reopen(store, ["a"])
    assert not the_due(store).remint


def test_what_a_person_said_of_a_message_holds_whenever_it_is_read_again(
    store: PostgresLoopStore, database: Database
) -> None:
    discover(store, "a")
    assert not the_due(store).insisted
    reopen(store, ["a"], insisted=True)
    settle(store, Outcome("a", 2, MessageState.QUARANTINED, "too_deep"))
    (row,) = MessageReader(database, tenant="acme").find_message("desk", "a")
    assert row.insisted
    reopen(store, ["a"])
    assert the_due(store).insisted


def test_named_messages_are_found_while_they_are_pending_whether_they_are_due_or_not(store: PostgresLoopStore) -> None:
    discover(store, "a", "b", "c")
    settle(store, Outcome("a", 1, PENDING, "later", retry_in=timedelta(hours=1)), Outcome("b", 1, SKIPPED, "bulk"))
    assert [due.message_id for due in store.find_pending(["a", "b", "z"])] == ["a"]
    assert store.find_pending([]) == ()


def test_the_rule_that_decided_is_kept_until_the_row_is_reopened(store: PostgresLoopStore, database: Database) -> None:
    discover(store, "a")
    settle(store, Outcome("a", 1, SKIPPED, "rule", rule="newsletters"))
    reader = MessageReader(database, tenant="acme")
    assert [row.rule for row in reader.list_messages()] == ["newsletters"]
    reopen(store, ["a"])
    assert [row.rule for row in reader.find_message("desk", "a")] == [None]


def test_the_tasks_of_a_sender_are_counted_by_the_clock_hour(store: PostgresLoopStore) -> None:
    sent = {"a": timedelta(), "b": timedelta(minutes=59, seconds=59.999), "c": timedelta(hours=1), "d": timedelta()}
    discover(store, *sent)
    for message_id, later in sent.items():
        state = SKIPPED if message_id == "d" else TASK
        outcome = Outcome(message_id, 1, state, internal_date=NOON + later, sender="ann@example.org")
        settle(store, outcome)
    noon, one = SenderHour("ann@example.org", NOON), SenderHour("ann@example.org", NOON + timedelta(hours=1))
    nobody = SenderHour("bob@example.org", NOON)
    counts = store.in_transaction(lambda tx: tx.count_sender_tasks([one, nobody, noon], 200))
    assert counts == {noon: 2, one: 1, nobody: 0}
    assert store.in_transaction(lambda tx: tx.count_sender_tasks([noon], 1)) == {noon: 1}
    assert store.in_transaction(lambda tx: tx.count_sender_tasks([], 1)) == {}


def test_a_sender_is_kept_when_a_later_try_could_not_read_the_message(store: PostgresLoopStore) -> None:
    discover(store, "a")
    settle(store, Outcome("a", 1, TASK, internal_date=NOON, sender="ann@example.org"))
    reopen(store, ["a"])
    settle(store, Outcome("a", 2, TASK))
    hour = SenderHour("ann@example.org", NOON)
    assert store.in_transaction(lambda tx: tx.count_sender_tasks([hour], 200)) == {hour: 1}


def test_the_age_counts_from_the_last_reopening(store: PostgresLoopStore, database: Database) -> None:
    discover(store, "a")
    database.row(b"update messages set pending_since = now() - interval '9 days' returning 1")
    assert the_due(store).age >= timedelta(days=9)
    reopen(store, ["a"])
    assert the_due(store).age < timedelta(minutes=1)


def test_a_task_stays_bound_through_a_reopening_and_its_deletion_shows(
    store: PostgresLoopStore, tasks: TaskStore
) -> None:
    discover(store, "a")
    task = tasks.upsert_task(TaskDraft("gmail:1#a", "A title"), actor="ann")
    settle(store, Outcome("a", 1, TASK, task_id=task.task_id))
    assert not known(store, "a").task_deleted
    tasks.delete_task(1, actor="ann")
    reopen(store, ["a"])
    assert known(store, "a") == Known(PENDING, None, task_deleted=True, internal_date=None, wanted=EVERY_DATE)
    settle(store, Outcome("a", 2, SKIPPED, "task_deleted"))
    assert not known(store, "a").task_deleted


def test_a_purged_task_leaves_its_row_in_the_ledger(
    store: PostgresLoopStore, tasks: TaskStore, database: Database
) -> None:
    discover(store, "a")
    task = tasks.upsert_task(TaskDraft("gmail:1#a", "A title"), actor="ann")
    settle(store, Outcome("a", 1, TASK, task_id=task.task_id))
    database.row(b"delete from tasks returning 1")
    (row,) = MessageReader(database, tenant="acme").find_message("desk", "a")
    assert (row.state, row.task_number, row.ref) == (TASK, None, None)  # "ta" is no thread id of Gmail's
    assert database.rows(b"select from task_activity union all select from notifications") == []
