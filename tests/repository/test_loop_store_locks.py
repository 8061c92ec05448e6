"""The store as one mailbox's loop sees it: transactions that lose races, and the ingest lock."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from support.ledger import (
    discover,
    due_ids,
)
from support.rivals import open_connections, wait_until_blocked

from inbox_loop.errors import DatabaseConflict, MailboxBusy
from inbox_loop.loop.ledger import EVERY_DATE, FoundBy
from inbox_loop.loop.ports import MessageId, StoreTransaction
from inbox_loop.repository.database import Database
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.repository.session import TIMEOUTS


def test_a_transaction_that_lost_a_race_runs_again_from_its_start(store: PostgresLoopStore) -> None:
    runs: list[int] = []

    def work(tx: StoreTransaction) -> int:
        runs.append(tx.record_discovered([MessageId(f"a{len(runs)}", "1")], FoundBy.POLL, EVERY_DATE))
        if len(runs) < 3:
            raise psycopg.errors.SerializationFailure
        return len(runs)

    assert store.in_transaction(work) == 3
    assert due_ids(store) == ["a2"]


def test_a_transaction_that_loses_every_race_ends_in_a_conflict(store: PostgresLoopStore) -> None:
    def work(_tx: StoreTransaction) -> None:
        raise psycopg.errors.DeadlockDetected

    with pytest.raises(DatabaseConflict):
        store.in_transaction(work)


def test_one_process_at_a_time_ingests_a_mailbox(database: Database, store: PostgresLoopStore) -> None:
    rival = PostgresLoopStore(database, tenant="acme", mailbox="desk", project=None, ingest_wait_seconds=0.05)
    sales = PostgresLoopStore(database, tenant="acme", mailbox="sales", project=None)
    sales.create_mailbox("sales@example.com", 1, "sign-in 1")
    with store.ingesting(), sales.ingesting():
        refusal = "another process is reading the messages of mailbox 'desk'"
        with pytest.raises(MailboxBusy, match=refusal), rival.ingesting():
            raise AssertionError("not reached")
        assert discover(rival, "a") == 1  # only ingesting waits
    with rival.ingesting():
        assert due_ids(rival) == ["a"]


@pytest.mark.parametrize("wait_seconds", [0.1, 0.2])
def test_who_waits_for_the_ingest_lock_as_long_as_a_statement_may_take_is_told_that_the_mailbox_is_busy(
    database: Database, store: PostgresLoopStore, monkeypatch: pytest.MonkeyPatch, wait_seconds: float
) -> None:
    monkeypatch.setitem(TIMEOUTS, "statement_timeout", "100ms")
    rival = PostgresLoopStore(database, tenant="acme", mailbox="desk", project=None, ingest_wait_seconds=wait_seconds)
    with store.ingesting(), pytest.raises(MailboxBusy), rival.ingesting():
        raise AssertionError("not reached")


def test_who_waits_for_the_ingest_lock_gets_it_from_its_holder(database_url: str, store: PostgresLoopStore) -> None:
    def ingest() -> int:
        with store.ingesting():
            return store.count_pending()

    with open_connections(database_url, 1) as (watcher,), ThreadPoolExecutor(1) as pool:
        with store.ingesting():
            waiting = pool.submit(ingest)
            wait_until_blocked(watcher)
        assert waiting.result(timeout=10) == 0


def test_the_ingest_lock_is_freed_when_its_holder_is_killed(
    database_url: str, store: PostgresLoopStore, database: Database
) -> None:
    rival = PostgresLoopStore(database, tenant="acme", mailbox="desk", project=None, ingest_wait_seconds=10)
    with store.ingesting():
        with psycopg.connect(database_url, autocommit=True) as killer:
            query = """
                select pg_terminate_backend(pid)
                  from pg_locks
                 where locktype = 'advisory' and granted
                   and database = (select oid from pg_database where datname = current_database())
            """
            assert killer.execute(query).fetchall() == [(True,)]
        with rival.ingesting():
            assert rival.count_pending() == 0
