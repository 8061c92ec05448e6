"""Every read of the store, and every write that has nothing to do: to be run, and looked at for traces."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from types import ModuleType
from uuid import uuid4

import inbox_loop.repository
from inbox_loop.loop.ledger import EVERY_DATE, FoundBy, MessageState, Outcome, SenderHour
from inbox_loop.loop.ports import MessageId, StoreTransaction
from inbox_loop.repository.database import Database
from inbox_loop.repository.health import list_mailbox_health, record_heartbeat
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.repository.messages import MessageReader
from inbox_loop.repository.migrate import check_schema, find_schema_status, list_migrations
from inbox_loop.repository.migrate import migrate as apply
from inbox_loop.repository.outbox import PostgresOutbox
from inbox_loop.repository.retention import count_purgeable
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import check_tenant, ensure_tenant, find_walls, list_tenants
from inbox_loop.repository.upkeep import find_write_position
from inbox_loop.task import NewTask, TaskChange, TaskDraft, TaskFilter, TaskStatus

KNOWN = TaskDraft("gmail:1#a", "Another title", body="drifted")
REPLAYED = NewTask("With a key", body="drifted")
EVERY_FILTER = TaskFilter(
    statuses=(TaskStatus.OPEN,), labels=("mail",), container_ref="GMAIL:1", mailbox="desk", text="title"
)
DAY = timedelta(days=1)
HOUR = SenderHour("ann@example.org", datetime(2026, 11, 30, tzinfo=UTC))

Read = Callable[[Database], object]


def fill(database: Database) -> None:
    """A bit of everything for the tenant ``acme``: tasks 1 open, 2 done, 3 cancelled, 4 deleted, 5 with a key."""
    ensure_tenant(database, "acme", ["inbox"])
    tasks = tasks_of(database)
    tasks.upsert_task(TaskDraft("gmail:1#a", "A title", labels=("mail",), container_ref="gmail:1"), actor="ann")
    for title in ("Done", "Cancelled", "Deleted"):
        tasks.create_task(NewTask(title), actor="ann")
    tasks.finish_task(2, actor="ann")
    tasks.cancel_task(3, actor="ann")
    tasks.delete_task(4, actor="ann")
    tasks.create_task(NewTask("With a key"), actor="ann", idempotency_key="key")
    PostgresOutbox(database).announce(100)
    PostgresOutbox(database).close_announced(100)
    store = store_of(database)
    store.create_mailbox("desk@example.com", 100, "sign-in 1")
    store.in_transaction(
        lambda tx: tx.record_discovered([MessageId("a", "1"), MessageId("b", "1")], FoundBy.POLL, EVERY_DATE)
    )
    store.in_transaction(lambda tx: tx.record_outcomes([Outcome("b", 1, MessageState.SKIPPED, "bulk")]))
    record_heartbeat(database, "acme", "desk", daemon="one", last_good_poll_at=None, last_error=None)


def tasks_of(database: Database) -> TaskStore:
    return TaskStore(database, tenant="acme")


def store_of(database: Database) -> PostgresLoopStore:
    return PostgresLoopStore(database, tenant="acme", mailbox="desk", project=None)


def in_store(database: Database, work: Callable[[StoreTransaction], object]) -> object:
    return store_of(database).in_transaction(work)


READS: dict[str, Read] = {
    "LoopTransaction.count_sender_tasks": lambda database: in_store(
        database, lambda tx: tx.count_sender_tasks([HOUR], 9)
    ),
    "LoopTransaction.find_known": lambda database: in_store(database, lambda tx: tx.find_known(["a", "b", "z"])),
    "LoopTransaction.find_ref_holders": lambda database: in_store(
        database, lambda tx: tx.find_ref_holders(["gmail:1#a", "none"])
    ),
    "MessageReader.find_message": lambda database: MessageReader(database, tenant="acme").find_message(None, "a"),
    "MessageReader.list_messages": lambda database: MessageReader(database, tenant="acme").list_messages(),
    "PostgresLoopStore.count_pending": lambda database: store_of(database).count_pending(),
    "PostgresLoopStore.find_due": lambda database: store_of(database).find_due(10),
    "PostgresLoopStore.find_pending": lambda database: store_of(database).find_pending(["a", "b"]),
    "PostgresLoopStore.find_mailbox": lambda database: store_of(database).find_mailbox(),
    "PostgresOutbox.find_closable": lambda database: PostgresOutbox(database).find_closable(),
    "PostgresOutbox.find_outbox_state": lambda database: PostgresOutbox(database).find_outbox_state(["acme"]),
    "PostgresOutbox.find_unannounced": lambda database: PostgresOutbox(database).find_unannounced(),
    "PostgresOutbox.list_undelivered": lambda database: PostgresOutbox(database).list_undelivered(["acme"]),
    "TaskStore.count_tasks": lambda database: tasks_of(database).count_tasks(EVERY_FILTER),
    "TaskStore.find_task": lambda database: tasks_of(database).find_task(1),
    "TaskStore.find_task_by_ref": lambda database: tasks_of(database).find_task_by_ref("GMAIL:1#A"),
    "TaskStore.find_task_or_tombstone": lambda database: tasks_of(database).find_task_or_tombstone("GMAIL:1#A"),
    "TaskStore.list_activity": lambda database: tasks_of(database).list_activity(uuid4()),
    "TaskStore.list_tasks": lambda database: tasks_of(database).list_tasks(EVERY_FILTER, before_number=9),
    "health.list_mailbox_health": lambda database: list_mailbox_health(database, "acme"),
    "migrate.find_schema_status": find_schema_status,
    "migrate.list_migrations": lambda _database: list_migrations(),
    "retention.count_purgeable": lambda database: count_purgeable(
        database, tenant="acme", deleted_after=DAY, finished_after=DAY
    ),
    "tenants.find_walls": find_walls,
    "tenants.list_tenants": list_tenants,
    "upkeep.find_write_position": find_write_position,
}


def in_sql(statement: bytes) -> Read:
    return lambda database: database.rows(statement)


FINDS: dict[str, Read] = {
    "upsert_task": lambda database: tasks_of(database).upsert_task(KNOWN, actor="bob"),
    "upsert_tasks": lambda database: tasks_of(database).upsert_tasks([KNOWN, KNOWN], actor="bob"),
    "upsert_tasks of the loop": lambda database: in_store(database, lambda tx: tx.upsert_tasks([KNOWN])),
    "create_task with a known key": lambda database: tasks_of(database).create_task(
        REPLAYED, actor="bob", idempotency_key="key"
    ),
    "task_upsert_by_external_ref": in_sql(b"select * from task_upsert_by_external_ref('acme', 'GMAIL:1#A', 'Another')"),
    "task_upsert_batch_by_external_ref": in_sql(
        b'select * from task_upsert_batch_by_external_ref(\'acme\', \'[{"external_ref": "gmail:1#A", "title": "B"}]\')'
    ),
    "task_find by number": in_sql(b"select * from task_find('acme', 4)"),
    "task_find by ref": in_sql(b"select * from task_find('acme', p_external_ref => 'Gmail:1#a')"),
    "task_find of nobody": in_sql(b"select * from task_find('acme', p_external_ref => 'none')"),
    "task_list": in_sql(b"select * from task_list('acme', p_text => 'e', p_include_deleted => true)"),
    "task_count": in_sql(b"select task_count('acme', p_container_ref => 'GMAIL:1')"),
    "task_rows": in_sql(b"select * from task_rows"),
}
NOTHING_TO_DO: dict[str, Read] = {
    "check_schema": check_schema,
    "migrate": apply,
    "check_tenant": lambda database: check_tenant(database, "acme"),
    "ensure_tenant": lambda database: ensure_tenant(database, "acme", ["inbox"]),
    "claim_due": lambda database: PostgresOutbox(database).claim_due(10, DAY),
    "update_task": lambda database: tasks_of(database).update_task(1, TaskChange(title="A title"), actor="bob"),
    "finish_task": lambda database: tasks_of(database).finish_task(2, actor="bob"),
    "cancel_task": lambda database: tasks_of(database).cancel_task(3, actor="bob"),
    "delete_task": lambda database: tasks_of(database).delete_task(4, actor="bob"),
    "restore_task": lambda database: tasks_of(database).restore_task(1, actor="bob"),
}


def own_callables(starting: str | tuple[str, ...] = "") -> Iterator[str]:
    """Every public function and method of ``repository/``, as ``module.name`` or ``Class.name``."""
    for found in pkgutil.iter_modules(inbox_loop.repository.__path__):
        module = importlib.import_module(f"inbox_loop.repository.{found.name}")
        owners: list[ModuleType | type] = [module]
        owners += [
            each for each in vars(module).values() if inspect.isclass(each) and each.__module__ == module.__name__
        ]
        for owner in owners:
            for name, value in vars(owner).items():
                is_own = inspect.isroutine(value) and value.__module__ == module.__name__
                if is_own and name.startswith(starting) and not name.startswith("_"):
                    yield f"{owner.__name__.rpartition('.')[2]}.{name}"
