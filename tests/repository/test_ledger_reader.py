"""The ledger and the mailboxes' health, as people see them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from inbox_loop.errors import InvalidValue, NoSuchTenant
from inbox_loop.loop.ledger import EVERY_DATE, FoundBy, MessageState, Outcome
from inbox_loop.loop.ports import MessageId
from inbox_loop.repository.database import Database
from inbox_loop.repository.health import list_mailbox_health, record_heartbeat
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.repository.messages import MessageReader
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import TaskDraft, TaskStatus

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def reader(database: Database) -> MessageReader:
    """The ledger of the tenant ``acme``."""
    return MessageReader(database, tenant="acme")


def discover(store: PostgresLoopStore, *message_ids: str) -> None:
    messages = [MessageId(message_id, "77") for message_id in message_ids]
    store.in_transaction(lambda tx: tx.record_discovered(messages, FoundBy.POLL, EVERY_DATE))


def settle(store: PostgresLoopStore, *outcomes: Outcome) -> None:
    store.in_transaction(lambda tx: tx.record_outcomes(outcomes))


def test_a_message_is_shown_with_its_task(store: PostgresLoopStore, tasks: TaskStore, reader: MessageReader) -> None:
    discover(store, "a")
    task = tasks.upsert_task(TaskDraft("gmail:5#a", "A title"), actor="ann")
    settle(store, Outcome("a", 1, MessageState.TASK, task_id=task.task_id, internal_date=NOON))
    tasks.finish_task(1, actor="ann")
    (row,) = reader.find_message("desk", "a")
    assert (row.mailbox, row.message_id, row.thread_id, row.ref) == ("desk", "a", "77", "gmail:5#a")
    assert (row.state, row.reason, row.attempts, row.found_by) == (MessageState.TASK, None, 0, FoundBy.POLL)
    assert (row.task_number, row.task_status, row.task_deleted_at) == (1, TaskStatus.DONE, None)
    assert row.internal_date == NOON
    deleted = tasks.delete_task(1, actor="ann")
    assert reader.find_message(None, "a")[0].task_deleted_at == deleted.deleted_at


def test_what_the_task_leaves_out_is_shown_and_nothing_that_is_no_count(
    store: PostgresLoopStore, tasks: TaskStore, reader: MessageReader
) -> None:
    sources: dict[str, dict[str, object]] = {
        "a": {"quote_cut_characters": 120, "headers_only": True},
        "b": {"quote_cut_characters": "all of it"},
    }
    discover(store, "a", "b", "c")
    for message_id, source in sources.items():
        task = tasks.upsert_task(TaskDraft(f"gmail:77#{message_id}", "A title", source=source), actor="ann")
        settle(store, Outcome(message_id, 1, MessageState.TASK, task_id=task.task_id))
    shown = {row.message_id: (row.quote_cut_characters, row.headers_only) for row in reader.list_messages()}
    assert shown == {"a": (120, True), "b": (0, False), "c": (0, False)}


def test_a_message_without_a_task_is_shown_with_the_ref_it_would_get(
    store: PostgresLoopStore, reader: MessageReader
) -> None:
    discover(store, "a", "no-id-of-gmail's")
    assert [row.ref for row in reader.list_messages()] == [None, "gmail:77#a"]


def test_a_message_id_is_found_in_each_mailbox_that_has_seen_it(
    database: Database, store: PostgresLoopStore, reader: MessageReader
) -> None:
    sales = PostgresLoopStore(database, tenant="acme", mailbox="sales", project=None)
    sales.create_mailbox("sales@example.com", 1, "sign-in 1")
    discover(store, "a")
    discover(sales, "a")
    assert [row.mailbox for row in reader.find_message(None, "a")] == ["desk", "sales"]
    assert [row.mailbox for row in reader.find_message("sales", "a")] == ["sales"]
    assert reader.find_message("desk", "b") == ()


def test_the_ledger_is_listed_by_pages_even_when_all_was_seen_at_one_moment(
    store: PostgresLoopStore, reader: MessageReader
) -> None:
    discover(store, *"abcdefg")
    pages = []
    last = None
    while page := reader.list_messages(limit=3, before=last):
        pages.append("".join(row.message_id for row in page))
        last = page[-1]
    assert pages == ["gfe", "dcb", "a"]


def test_the_ledger_can_be_narrowed_by_mailbox_and_state(store: PostgresLoopStore, reader: MessageReader) -> None:
    discover(store, "a", "b")
    settle(store, Outcome("a", 1, MessageState.QUARANTINED, "nul"))
    assert [row.message_id for row in reader.list_messages(state=MessageState.QUARANTINED)] == ["a"]
    assert [row.message_id for row in reader.list_messages(mailbox="desk", state=MessageState.PENDING)] == ["b"]
    assert reader.list_messages(mailbox="sales") == ()


def test_a_heartbeat_keeps_the_last_good_poll_until_a_better_one(database: Database, store: PostgresLoopStore) -> None:
    discover(store, "a")
    for at, error in ((NOON, None), (None, "mailbox.needs_auth"), (NOON - timedelta(hours=1), "late")):
        record_heartbeat(database, "acme", "desk", daemon="one", last_good_poll_at=at, last_error=error)
    (health,) = list_mailbox_health(database, "acme")
    assert (health.name, health.cursor, health.last_good_poll_at, health.last_error) == ("desk", 100, NOON, "late")
    assert health.beat_at is not None
    assert health.messages[MessageState.PENDING] == 1


def test_a_mailbox_without_a_heartbeat_and_a_heartbeat_without_a_mailbox_are_both_shown(
    database: Database, store: PostgresLoopStore
) -> None:
    assert store.count_pending() == 0
    record_heartbeat(database, "acme", "never-read", daemon="one", last_good_poll_at=None, last_error="no sign-in")
    desk, never_read = list_mailbox_health(database, "acme")
    assert (desk.name, desk.cursor, desk.beat_at) == ("desk", 100, None)
    assert (never_read.name, never_read.cursor, never_read.last_error) == ("never-read", None, "no sign-in")
    assert set(never_read.messages.values()) == {0}


def test_a_heartbeat_is_refused_for_an_unknown_tenant_and_cut_when_too_long(
    database: Database, store: PostgresLoopStore
) -> None:
    assert store.count_pending() == 0
    record_heartbeat(database, "acme", "desk", daemon="one", last_good_poll_at=None, last_error="x" * 3000)
    assert len(list_mailbox_health(database, "acme")[0].last_error or "") == 2000
    with pytest.raises(NoSuchTenant):
        record_heartbeat(database, "nobody", "desk", daemon="one", last_good_poll_at=None, last_error=None)
    with pytest.raises(InvalidValue, match="last_error"):
        record_heartbeat(database, "acme", "desk", daemon="one", last_good_poll_at=None, last_error="\x00")
