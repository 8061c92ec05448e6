"""The store as one mailbox's loop sees it: the mailbox and its cursor."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from support.ledger import (
    NOON,
    SKIPPED,
    advance,
    cover,
    discover,
    due_ids,
    record_sign_in,
    settle,
    sign_in_of,
)

from inbox_loop.errors import NoSuchMailbox, NoSuchTenant
from inbox_loop.loop.ledger import Outcome
from inbox_loop.loop.ports import LoopStore
from inbox_loop.repository.database import Database
from inbox_loop.repository.health import list_mailbox_health, record_heartbeat
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant


def test_the_store_is_the_one_the_loop_is_handed(store: PostgresLoopStore) -> None:
    handed: LoopStore = store
    assert handed.find_mailbox() is not None


def test_a_mailbox_is_recorded_with_its_first_cursor(database: Database, tasks: TaskStore) -> None:
    assert tasks.list_tasks() == ()
    store = PostgresLoopStore(database, tenant="acme", mailbox="sales", project=None)
    assert store.find_mailbox() is None
    made = store.create_mailbox("Sales@example.com", 10**21, "sign-in 1")
    assert (made.name, made.address, made.cursor) == ("sales", "Sales@example.com", 10**21)
    assert made.sign_in == "sign-in 1"
    assert made.covered_since == made.cursor_moved_at
    found = store.find_mailbox()
    assert found is not None
    assert replace(found, cursor_age=made.cursor_age) == made


def test_whoever_comes_second_gets_the_row_of_the_first(store: PostgresLoopStore) -> None:
    assert store.create_mailbox("desk@example.com", 999, "sign-in 1").cursor == 100
    assert store.create_mailbox("someone.else@example.com", 999, "sign-in 1").address == "desk@example.com"


def test_of_many_who_create_a_mailbox_at_once_all_get_one_row(database: Database, tasks: TaskStore) -> None:
    assert tasks.list_tasks() == ()
    gate = threading.Barrier(6, timeout=10)

    def create(number: int) -> object:
        store = PostgresLoopStore(database, tenant="acme", mailbox=f"name-{number % 2}", project=None)
        gate.wait()
        return store.create_mailbox(
            "DESK@example.com" if number % 3 else "desk@example.com", number, "sign-in 1"
        ).mailbox_id

    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(create, range(6)))) == 1


def test_a_renamed_mailbox_keeps_its_ledger_and_cursor(database: Database, store: PostgresLoopStore) -> None:
    discover(store, "a")
    record_heartbeat(database, "acme", "desk", daemon="one", last_good_poll_at=NOON, last_error=None)
    renamed = PostgresLoopStore(database, tenant="acme", mailbox="support", project=None)
    row = renamed.create_mailbox("Desk@Example.com", 999, "sign-in 2")
    assert (row.name, row.cursor, row.sign_in) == ("support", 100, "sign-in 2")
    assert due_ids(renamed) == ["a"]
    assert store.find_mailbox() is None
    assert [health.name for health in list_mailbox_health(database, "acme")] == ["support"]


def test_an_address_may_be_read_for_two_tenants(database: Database, store: PostgresLoopStore) -> None:
    ensure_tenant(database, "other", [])
    other = PostgresLoopStore(database, tenant="other", mailbox="desk", project=None)
    assert other.create_mailbox("desk@example.com", 7, "sign-in 1").cursor == 7
    discover(store, "a")
    assert (other.count_pending(), store.count_pending()) == (0, 1)


def test_equal_message_ids_in_two_mailboxes_never_meet(database: Database, store: PostgresLoopStore) -> None:
    sales = PostgresLoopStore(database, tenant="acme", mailbox="sales", project=None)
    sales.create_mailbox("sales@example.com", 1, "sign-in 1")
    discover(store, "a")
    assert discover(sales, "a") == 1
    settle(store, Outcome("a", 1, SKIPPED, "bulk"))
    assert (store.count_pending(), sales.count_pending()) == (0, 1)


@pytest.mark.parametrize(("moves", "cursor"), [((150,), 150), ((150, 120), 150), ((100,), 100), ((10**22,), 10**22)])
def test_the_cursor_only_moves_forward(store: PostgresLoopStore, moves: tuple[int, ...], cursor: int) -> None:
    before = store.find_mailbox()
    for move in moves:
        advance(store, move)
    after = store.find_mailbox()
    assert before is not None
    assert after is not None
    assert after.cursor == cursor
    assert (after.cursor_moved_at > before.cursor_moved_at) is (cursor > 100)


def test_coverage_only_grows(store: PostgresLoopStore) -> None:
    for since in (NOON, NOON + timedelta(days=1)):
        cover(store, since)
    row = store.find_mailbox()
    assert row is not None
    assert row.covered_since == NOON


def test_the_sign_in_is_the_one_last_recorded(store: PostgresLoopStore) -> None:
    assert store.create_mailbox("desk@example.com", 100, "of the second").sign_in == "sign-in 1"
    for sign_in in ("sign-in 2", "sign-in 2", "sign-in 3"):
        record_sign_in(store, sign_in)
        assert sign_in_of(store) == sign_in


def test_a_sign_in_that_is_remembered_already_is_not_written_again(
    store: PostgresLoopStore, database: Database
) -> None:
    query = b"select xmin::text, ctid::text from mailboxes"
    before = database.row(query)
    record_sign_in(store, "sign-in 1")
    assert database.row(query) == before


@pytest.mark.parametrize(
    ("tenant", "mailbox", "error"), [("acme", "nobody", NoSuchMailbox), ("nobody", "desk", NoSuchTenant)]
)
def test_nothing_is_written_for_a_mailbox_that_does_not_exist(
    database: Database, store: PostgresLoopStore, tenant: str, mailbox: str, error: type[Exception]
) -> None:
    assert store.find_mailbox() is not None
    absent = PostgresLoopStore(database, tenant=tenant, mailbox=mailbox, project=None)
    with pytest.raises(error):
        discover(absent, "a")
    with pytest.raises(error), absent.ingesting():
        raise AssertionError("not reached")
    assert store.find_due(10) == ()


def test_a_mailbox_of_an_unknown_tenant_is_not_made(database: Database) -> None:
    with pytest.raises(NoSuchTenant):
        PostgresLoopStore(database, tenant="nobody", mailbox="desk", project=None).create_mailbox(
            "a@example.com", 1, "sign-in 1"
        )
