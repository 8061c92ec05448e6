"""A page costs a page: what is listed in order is read in the order of an index, whatever lies behind it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from uuid import UUID

import pytest

from inbox_loop.loop.ledger import EVERY_DATE, FoundBy
from inbox_loop.loop.ports import MessageId
from inbox_loop.repository.database import Connection, Database
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.repository.statements import Statements
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.upkeep import vacuum
from inbox_loop.task import TaskDraft

PAGE = dict.fromkeys(["mailbox", "state", "before_seen", "before_mailbox", "before_message"])
PAGE |= {"tenant": "acme", "limit": 50}
HOURS = {"tenant_id": UUID(int=1), "mailbox_id": UUID(int=2), "at_most": 200}
HOURS |= {"senders": ["ann@example.org"], "hours": [datetime(2026, 11, 30, tzinfo=UTC)]}

READ = b"select seq_tup_read + idx_tup_fetch as rows from pg_stat_xact_user_tables where relname = 'tasks'"


@pytest.fixture
def full(database: Database, store: PostgresLoopStore, tasks: TaskStore) -> Database:
    """Three thousand messages and tasks, and what the planner needs to know of them."""
    messages = [MessageId(f"{number:x}", "1") for number in range(3000)]
    store.in_transaction(lambda tx: tx.record_discovered(messages, FoundBy.BACKFILL, EVERY_DATE))
    drafts = [TaskDraft(f"ref-{number}", "A title", container_ref=f"Thread-{number % 300}") for number in range(3000)]
    tasks.upsert_tasks(drafts, actor="ann")
    vacuum(database)
    return database


@pytest.mark.parametrize(
    ("statement", "params", "index"),
    [
        (Statements("messages")["list_messages"], PAGE, "messages_seen_ix"),
        (Statements("loop_store")["find_due"], {**PAGE, "mailbox": "desk"}, "messages_due_ix"),
        (Statements("loop_transaction")["count_sender_tasks"], HOURS, "messages_sender_ix"),
    ],
    ids=["list_messages", "find_due", "count_sender_tasks"],
)
def test_a_page_is_read_in_the_order_of_an_index(
    full: Database, statement: bytes, params: Mapping[str, object], index: str
) -> None:
    plan = [row["QUERY PLAN"] for row in full.rows(b"explain " + statement, params)]
    assert any(index in line for line in plan), plan
    assert not any("Sort" in line for line in plan), plan


@pytest.mark.parametrize(
    ("page", "listed", "read"),
    [
        (b"select * from task_list('acme')", 50, 100),
        (b"select * from task_list('acme', p_mailbox => 'no-such', p_before_number => 20)", 0, 19),
        (b"select * from task_list('acme', p_before_number => 1000, p_limit => 10)", 10, 20),
        (b"select * from task_list('acme', p_container_ref => 'THREAD-7')", 10, 20),
        (b"select * from task_find('acme', p_number => 7)", 1, 1),
        (b"select * from task_find('acme', p_external_ref => 'REF-7')", 1, 2),
    ],
    ids=["first page", "mailbox", "a later page", "container", "number", "ref"],
)
def test_a_look_up_reads_no_more_tasks_than_it_must(full: Database, page: bytes, listed: int, read: int) -> None:
    """Each listed task is read twice: once to see that it fits, once to be shown."""

    def work(connection: Connection) -> tuple[int, int]:
        before = rows_read(connection)  # of what this session did earlier and has not told yet
        found = len(connection.execute(page).fetchall())
        return found, rows_read(connection) - before

    assert full.in_transaction(work) == (listed, read)


def rows_read(connection: Connection) -> int:
    row = connection.execute(READ).fetchone()
    return 0 if row is None else int(row["rows"])
