"""Two tenants in one database, ``acme`` and ``beta``, and what the second one has that the first must not see."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from inbox_loop.loop.ledger import EVERY_DATE, FoundBy, MessageState, Outcome
from inbox_loop.loop.ports import MessageId
from inbox_loop.repository.database import Database
from inbox_loop.repository.health import record_heartbeat
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.repository.outbox import PostgresOutbox
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.task import NewTask, TaskDraft

SECRET = "hush"
"""In every text of ``beta`` that nobody asks by. What is asked by has ``zebra`` in it."""

SENT_AT = datetime(2020, 1, 1, tzinfo=UTC)
"""The internalDate of each mailbox's first message, which the address of the mailbox's name at example.org sent."""

# Every table that holds rows of a tenant, in an order in which all of them can be emptied.
TABLES = (
    "idempotency_keys",
    "messages",
    "mailbox_health",
    "mailboxes",
    "notifications",
    "task_activity",
    "tasks",
    "projects",
    "task_counters",
    "tenants",
)


@dataclass(frozen=True, slots=True)
class Beta:
    """What ``beta`` has: tasks 1 (live), 2 (deleted), 3 (done), 4 (live, with a key), one mailbox and two messages.

    The notification of task 4 was given up.
    """

    tenant_id: UUID
    mailbox_id: UUID
    task_ids: tuple[UUID, ...]
    everything: object
    """All of its rows."""


def fill_both(database: Database) -> Beta:
    """Give each tenant rows in every table. ``acme`` has the task 1 and a mailbox called desk, with one message."""
    _fill(database, "acme", "desk", "own", ["mine:1"])
    outbox = PostgresOutbox(database)
    outbox.announce(100)
    outbox.close_announced(100)
    _fill(database, "beta", "zebra", SECRET, ["zebra:1", "zebra:2", "zebra:3"])
    tasks = TaskStore(database, tenant="beta")
    tasks.delete_task(2, actor=SECRET)
    tasks.finish_task(3, actor=SECRET, summary=SECRET)
    outbox.announce(3)
    outbox.close_announced(3)
    database.rows(b"update notifications set gave_up_at = now() where announced_at is null returning 1")
    mailbox = PostgresLoopStore(database, tenant="beta", mailbox="zebra", project=None).find_mailbox()
    assert mailbox is not None
    tenant_id = database.for_tenant("beta").tenant_id
    ids = tuple(tasks.find_task(number).task_id for number in (1, 2, 3, 4))
    return Beta(tenant_id, mailbox.mailbox_id, ids, everything_of(database, tenant_id))


def _fill(database: Database, tenant: str, mailbox: str, word: str, refs: list[str]) -> None:
    ensure_tenant(database, tenant, [mailbox])
    tasks = TaskStore(database, tenant=tenant)
    source = {"mailbox": mailbox, "account": f"{mailbox}@example.com", "from": word}
    drafts = [TaskDraft(ref, word, word, mailbox, (word,), f"{mailbox}:thread", source) for ref in refs]
    answers = tasks.upsert_tasks(drafts, actor=word)
    tasks.create_task(NewTask(word, word, mailbox), actor=word, idempotency_key=f"{mailbox}-key")
    store = PostgresLoopStore(database, tenant=tenant, mailbox=mailbox, project=None)
    store.create_mailbox(f"{mailbox}@example.com", 100, word)
    messages = [MessageId(f"{mailbox}1", word), MessageId(f"{mailbox}2", word)]
    store.in_transaction(lambda tx: tx.record_discovered(messages, FoundBy.POLL, EVERY_DATE))
    outcome = Outcome(
        f"{mailbox}1",
        1,
        MessageState.TASK,
        word,
        answers[0].task_id,
        internal_date=SENT_AT,
        sender=f"{mailbox}@example.org",
    )
    store.in_transaction(lambda tx: tx.record_outcomes([outcome]))
    record_heartbeat(database, tenant, mailbox, daemon=word, last_good_poll_at=None, last_error=word)


def everything_of(database: Database, tenant_id: UUID) -> object:
    """All rows of a tenant, by table, as someone who is bound to none sees them."""
    found = {}
    for table in TABLES:
        statement = f"select to_jsonb(t) as row from {table} as t where tenant_id = %(tenant_id)s order by 1".encode()
        found[table] = [row["row"] for row in database.rows(statement, {"tenant_id": tenant_id})]
        assert found[table], f"{table} has no row of the tenant, and proves nothing"
    return found
