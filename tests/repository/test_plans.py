"""A page costs a page: what is listed in order is read in the order of an index, whatever lies behind it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from inbox_loop.loop.ports import EVERY_DATE, FoundBy, MessageId
from inbox_loop.repository.database import Database
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.repository.statements import Statements
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.upkeep import vacuum
from inbox_loop.task import TaskDraft

NO_FILTERS = dict.fromkeys(
    ["statuses", "mailbox", "before_number", "state", "before_seen", "before_mailbox", "before_message"]
)
PAGE = {**NO_FILTERS, "tenant": "acme", "limit": 50, "include_deleted": False}


@pytest.fixture
def full(database: Database, store: PostgresLoopStore, tasks: TaskStore) -> Database:
    """Three thousand messages and tasks, and what the planner needs to know of them."""
    messages = [MessageId(f"{number:x}", "1") for number in range(3000)]
    store.in_transaction(lambda tx: tx.record_discovered(messages, FoundBy.BACKFILL, EVERY_DATE))
    tasks.upsert_tasks([TaskDraft(f"ref-{number}", "A title") for number in range(3000)], actor="ann")
    vacuum(database)
    return database


@pytest.mark.parametrize(
    ("statement", "params", "index"),
    [
        (Statements("tasks")["list_tasks"], PAGE, "tasks_number_uq"),
        (Statements("tasks")["list_tasks"], {**PAGE, "mailbox": "desk"}, "tasks_number_uq"),
        (Statements("messages")["list_messages"], PAGE, "messages_seen_ix"),
        (Statements("loop_store")["find_due"], {**PAGE, "mailbox": "desk"}, "messages_due_ix"),
    ],
    ids=["list_tasks", "list_tasks of a mailbox", "list_messages", "find_due"],
)
def test_a_page_is_read_in_the_order_of_an_index(
    full: Database, statement: bytes, params: Mapping[str, object], index: str
) -> None:
    plan = [row["QUERY PLAN"] for row in full.rows(b"explain " + statement, params)]
    assert any(index in line for line in plan), plan
    assert not any("Sort" in line for line in plan), plan
