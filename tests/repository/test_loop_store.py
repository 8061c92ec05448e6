"""The store as one mailbox's loop sees it: the ledger, the cursor, and who holds a ref."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from support.rivals import open_connections, wait_until_blocked

from inbox_loop.errors import DatabaseConflict, InvalidValue, MailboxBusy, NoSuchMailbox, NoSuchTenant
from inbox_loop.loop.ports import (
    EVERY_DATE,
    DateRange,
    Due,
    FoundBy,
    Known,
    LoopStore,
    MessageId,
    MessageState,
    Outcome,
    StoreTransaction,
)
from inbox_loop.repository.database import TIMEOUTS, Database
from inbox_loop.repository.health import list_mailbox_health, record_heartbeat
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.repository.messages import MessageReader
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.repository.upkeep import vacuum
from inbox_loop.task import TaskDraft, TaskStatus, UpsertOutcome

PENDING, SKIPPED, TASK = MessageState.PENDING, MessageState.SKIPPED, MessageState.TASK
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def discover(
    store: LoopStore,
    *message_ids: str,
    found_by: FoundBy = FoundBy.POLL,
    wanted: DateRange = EVERY_DATE,
    remint: bool = False,
) -> int:
    messages = [MessageId(message_id, f"t{message_id}") for message_id in message_ids]
    return store.in_transaction(lambda tx: tx.record_discovered(messages, found_by, wanted, remint=remint))


def settle(store: LoopStore, *outcomes: Outcome) -> frozenset[str]:
    return store.in_transaction(lambda tx: tx.record_outcomes(outcomes))


def lock(store: LoopStore, revisions: Mapping[str, int]) -> frozenset[str]:
    return store.in_transaction(lambda tx: tx.lock_pending(revisions))


def sign_in_of(store: LoopStore) -> str | None:
    row = store.find_mailbox()
    assert row is not None
    return row.sign_in


def reopen(
    store: LoopStore, message_ids: Sequence[str], wanted: DateRange = EVERY_DATE, *, remint: bool = False
) -> int:
    return store.in_transaction(lambda tx: tx.record_reopened(message_ids, wanted, remint=remint))


def record_sign_in(store: LoopStore, sign_in: str) -> None:
    store.in_transaction(lambda tx: tx.record_sign_in(sign_in))


def advance(store: LoopStore, cursor: int) -> None:
    store.in_transaction(lambda tx: tx.advance_cursor(cursor))


def cover(store: LoopStore, since: datetime) -> None:
    store.in_transaction(lambda tx: tx.record_coverage(since))


def known(store: LoopStore, message_id: str) -> Known:
    return store.in_transaction(lambda tx: tx.find_known([message_id]))[message_id]


def due_ids(store: LoopStore) -> list[str]:
    return [due.message_id for due in store.find_due(100)]


def the_due(store: LoopStore) -> Due:
    (due,) = store.find_due(10)
    return due


# --- the mailbox and its cursor --------------------------------------------------------------------------------------


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
    ("tenant", "mailbox", "error"), [("acme", "nobody", NoSuchMailbox), ("nobody", "desk", NoSuchMailbox)]
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
    assert absent.find_due(10) == ()


def test_a_mailbox_of_an_unknown_tenant_is_not_made(database: Database) -> None:
    with pytest.raises(NoSuchTenant):
        PostgresLoopStore(database, tenant="nobody", mailbox="desk", project=None).create_mailbox(
            "a@example.com", 1, "sign-in 1"
        )


# --- discovering -----------------------------------------------------------------------------------------------------


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


# --- settling --------------------------------------------------------------------------------------------------------


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


# --- refs ------------------------------------------------------------------------------------------------------------


def test_the_holder_of_a_ref_is_the_live_task_else_the_newest_tombstone(
    store: PostgresLoopStore, tasks: TaskStore
) -> None:
    source = {"mailbox": "desk", "account": "desk@example.com"}
    for ref in ("live", "dead", "dead", "again", "again"):
        number = tasks.upsert_task(TaskDraft(ref, "A title", source=source), actor="ann").number
        if number != 5:
            tasks.delete_task(number, actor="ann")
    tasks.upsert_task(TaskDraft("live", "A title"), actor="ann")
    holders = store.in_transaction(lambda tx: tx.find_ref_holders(["LIVE", "dead", "again", "nobody"]))
    assert {ref: (one.external_ref, one.number, one.deleted) for ref, one in holders.items()} == {
        "LIVE": ("live", 6, False),
        "dead": ("dead", 3, True),
        "again": ("again", 5, False),
    }
    assert (holders["dead"].source_mailbox, holders["dead"].source_account) == ("desk", "desk@example.com")
    assert (holders["LIVE"].source_mailbox, holders["LIVE"].source_account) == (None, None)
    assert holders["LIVE"].status is TaskStatus.OPEN


def test_a_holder_is_found_by_any_writing_of_its_ref(store: PostgresLoopStore, tasks: TaskStore) -> None:
    for ref in ("z\u00fcrich", "gone-\u00fc"):
        tasks.upsert_task(TaskDraft(ref, "A title"), actor="ann")
    tasks.delete_task(2, actor="ann")
    asked = ["zu\u0308rich", " Z\u00dcRICH\n", "\x0bgone-u\u0308"]
    holders = store.in_transaction(lambda tx: tx.find_ref_holders(asked))
    assert [(ref, holders[ref].number) for ref in asked] == [(asked[0], 1), (asked[1], 1), (asked[2], 2)]


def test_the_loop_upserts_in_the_name_of_its_mailbox_and_into_its_project(database: Database, tasks: TaskStore) -> None:
    store = PostgresLoopStore(database, tenant="acme", mailbox="desk", project="inbox")
    store.create_mailbox("desk@example.com", 1, "sign-in 1")
    drafts = [TaskDraft("gmail:1#b", "Second"), TaskDraft("gmail:1#a", "First")]
    answers = store.in_transaction(lambda tx: tx.upsert_tasks(drafts))
    assert [(one.number, one.outcome) for one in answers] == [(1, UpsertOutcome.CREATED), (2, UpsertOutcome.CREATED)]
    assert tasks.find_task(1).project == "inbox"
    assert tasks.list_activity(answers[0].task_id)[0].actor == "mailbox desk"
    assert store.in_transaction(lambda tx: tx.upsert_tasks([])) == ()


@pytest.mark.parametrize(
    "work",
    [
        lambda tx: tx.find_ref_holders(["a\x00"]),
        lambda tx: tx.upsert_tasks([TaskDraft("r", "A title", source={"subject": "\udc80"})]),
    ],
    ids=["ref", "nested in the source"],
)
def test_text_that_can_not_be_stored_is_refused_before_any_sql(
    store: PostgresLoopStore, work: Callable[[StoreTransaction], object]
) -> None:
    def try_and_go_on(tx: StoreTransaction) -> int:
        with pytest.raises(InvalidValue):
            work(tx)
        return tx.record_discovered([MessageId("a", "1")], FoundBy.POLL, EVERY_DATE)  # the transaction still stands

    assert store.in_transaction(try_and_go_on) == 1


# --- transactions and the ingest lock --------------------------------------------------------------------------------


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
