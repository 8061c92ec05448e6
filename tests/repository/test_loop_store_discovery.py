"""The store as one mailbox's loop sees it: what is discovered, and what is due."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from support.ledger import (
    NOON,
    SKIPPED,
    discover,
    due_ids,
    known,
    reopen,
    settle,
    the_due,
)

from inbox_loop.loop.ledger import EVERY_DATE, DateRange, FoundBy, Known, Outcome
from inbox_loop.loop.ports import MessageId, StoreTransaction
from inbox_loop.repository.database import Database
from inbox_loop.repository.loop_store import PostgresLoopStore


def test_unknown_ids_become_pending_and_known_ones_are_left_alone(store: PostgresLoopStore) -> None:
    assert discover(store, "b", "a", "b") == 2
    settle(store, Outcome("a", 1, SKIPPED, "bulk"))
    assert discover(store, "a", "c", found_by=FoundBy.BACKFILL) == 1
    assert known(store, "a") == Known(SKIPPED, "bulk", task_deleted=False, internal_date=None, wanted=EVERY_DATE)
    assert store.in_transaction(lambda tx: sorted(tx.find_known(["a", "b", "c", "d"]))) == ["a", "b", "c"]


def test_the_ledger_tells_the_range_a_message_was_last_listed_for(store: PostgresLoopStore) -> None:
    first, second = DateRange(after=NOON), DateRange(before=NOON)
    discover(store, "a", wanted=first)
    assert known(store, "a").wanted == first
    discover(store, "a", wanted=second)
    assert known(store, "a").wanted == first
    reopen(store, ["a"], second)
    assert known(store, "a").wanted == second


def test_remint_at_discovery_is_for_new_rows_and_stays_until_they_are_settled(store: PostgresLoopStore) -> None:
    discover(store, "a")
    assert discover(store, "a", "b", remint=True) == 1
    assert {due.message_id: due.remint for due in store.find_due(10)} == {"a": False, "b": True}
    reopen(store, ["b"])
    assert [due.remint for due in store.find_due(10)] == [False, True]
    settle(store, Outcome("b", 2, SKIPPED, "bulk"))
    reopen(store, ["b"])
    assert [due.remint for due in store.find_due(10)] == [False, False]


def test_ids_and_cursor_land_together_or_not_at_all(store: PostgresLoopStore) -> None:
    def work(tx: StoreTransaction) -> None:
        tx.record_discovered([MessageId("a", "1")], FoundBy.POLL, EVERY_DATE)
        tx.advance_cursor(500)
        raise LookupError

    with pytest.raises(LookupError):
        store.in_transaction(work)
    row = store.find_mailbox()
    assert row is not None
    assert (row.cursor, store.count_pending()) == (100, 0)


def test_many_who_discover_the_same_ids_in_any_order_do_not_deadlock(store: PostgresLoopStore) -> None:
    gate = threading.Barrier(4, timeout=10)
    ids = [f"{number:03x}" for number in range(200)]

    def work(turn: int) -> int:
        gate.wait()
        return discover(store, *(ids[turn * 50 :] + ids[: turn * 50]))

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(work, range(4))) == 200
    assert store.count_pending() == 200


def test_what_is_due_comes_polled_before_backfilled_and_oldest_first(
    store: PostgresLoopStore, database: Database
) -> None:
    discover(store, "5", "4", found_by=FoundBy.BACKFILL)
    discover(store, "9", "1")
    discover(store, "2", found_by=FoundBy.RECONCILE)
    database.row(b"update messages set seen_at = seen_at - interval '1 hour' where message_id = '9' returning 1")
    assert due_ids(store) == ["9", "1", "2", "4", "5"]
    assert [due.message_id for due in store.find_due(2)] == ["9", "1"]


def test_a_due_row_says_what_it_was_listed_for(store: PostgresLoopStore) -> None:
    wanted = DateRange(NOON, NOON + timedelta(days=1))
    discover(store, "a", found_by=FoundBy.BACKFILL, wanted=wanted)
    due = the_due(store)
    assert (due.thread_id, due.attempts, due.revision, due.remint, due.wanted) == ("ta", 0, 1, False, wanted)
    assert timedelta() <= due.age < timedelta(minutes=1)
