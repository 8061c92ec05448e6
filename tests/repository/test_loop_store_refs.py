"""The store as one mailbox's loop sees it: who holds a ref, and what is upserted."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from inbox_loop.errors import InvalidValue
from inbox_loop.loop.ledger import EVERY_DATE, FoundBy
from inbox_loop.loop.ports import MessageId, StoreTransaction
from inbox_loop.repository.database import Database
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import TaskDraft, TaskStatus, UpsertOutcome


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
