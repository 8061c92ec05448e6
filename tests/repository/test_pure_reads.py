"""A read writes nothing: every find_, list_ and count_, and the find path of both upserts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import uuid4

import psycopg
import pytest
from fixtures.database import superuser_url
from psycopg.rows import DictRow, dict_row

from inbox_loop.errors import DatabaseUnreachable
from inbox_loop.loop.ports import EVERY_DATE, FoundBy, MessageId, MessageState, Outcome, StoreTransaction
from inbox_loop.repository import health, loop_store, loop_transaction, messages, migrate, tasks, tenants, upsert
from inbox_loop.repository.database import Connection, Database
from inbox_loop.repository.health import list_mailbox_health, record_heartbeat
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.repository.messages import MessageReader
from inbox_loop.repository.migrate import check_schema, find_schema_status, list_migrations
from inbox_loop.repository.migrate import migrate as apply
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import check_tenant, ensure_tenant
from inbox_loop.task import TaskDraft

MODULES = [health, loop_store, loop_transaction, messages, migrate, tasks, tenants, upsert]
COUNTS_WAL_BY_SESSION = 180000
KNOWN = TaskDraft("gmail:1#a", "Another title", body="drifted")


def a_store(database: Database) -> PostgresLoopStore:
    return PostgresLoopStore(database, tenant="acme", mailbox="desk", project=None)


def in_store(database: Database, work: Callable[[StoreTransaction], object]) -> object:
    return a_store(database).in_transaction(work)


READS: dict[str, Callable[[Database], object]] = {
    "find_schema_status": find_schema_status,
    "list_migrations": lambda _database: list_migrations(),
    "find_task": lambda database: TaskStore(database, tenant="acme").find_task(1),
    "find_task_by_ref": lambda database: TaskStore(database, tenant="acme").find_task_by_ref("GMAIL:1#A"),
    "list_tasks": lambda database: TaskStore(database, tenant="acme").list_tasks(mailbox="desk"),
    "list_activity": lambda database: TaskStore(database, tenant="acme").list_activity(uuid4()),
    "list_messages": lambda database: MessageReader(database, tenant="acme").list_messages(),
    "find_message": lambda database: MessageReader(database, tenant="acme").find_message(None, "a"),
    "list_mailbox_health": lambda database: list_mailbox_health(database, "acme"),
    "find_mailbox": lambda database: a_store(database).find_mailbox(),
    "find_due": lambda database: a_store(database).find_due(10),
    "count_pending": lambda database: a_store(database).count_pending(),
    "find_known": lambda database: in_store(database, lambda tx: tx.find_known(["a", "b", "z"])),
    "find_ref_holders": lambda database: in_store(database, lambda tx: tx.find_ref_holders(["gmail:1#a", "none"])),
}
FINDS: dict[str, Callable[[Database], object]] = {
    "upsert_task": lambda database: TaskStore(database, tenant="acme").upsert_task(KNOWN, actor="bob"),
    "upsert_tasks": lambda database: TaskStore(database, tenant="acme").upsert_tasks([KNOWN, KNOWN], actor="bob"),
    "upsert_tasks of the loop": lambda database: in_store(database, lambda tx: tx.upsert_tasks([KNOWN])),
}
NOTHING_TO_DO: dict[str, Callable[[Database], object]] = {
    "check_schema": check_schema,
    "migrate": apply,
    "check_tenant": lambda database: check_tenant(database, "acme"),
    "ensure_tenant": lambda database: ensure_tenant(database, "acme", ["inbox"]),
}
every_read = pytest.mark.parametrize("read", [*READS, *FINDS, *NOTHING_TO_DO])


def run(read: str, database: Database) -> object:
    return (READS | FINDS | NOTHING_TO_DO)[read](database)


class PinnedDatabase(Database):
    """Every call on one connection, within one transaction, so that its traces can be looked at."""

    def __init__(self, url: str, pinned: Connection) -> None:
        super().__init__(url)
        self._pinned = pinned

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """The one connection."""
        yield self._pinned


@pytest.fixture(scope="module")
def filled_url(make_module_database: Callable[[str], str], template: str) -> str:
    """A database with a bit of everything in it, which the tests here only read or roll back."""
    url = make_module_database(template)
    with Database(url) as database:
        ensure_tenant(database, "acme", ["inbox"])
        TaskStore(database, tenant="acme").upsert_task(TaskDraft("gmail:1#a", "A title"), actor="ann")
        store = a_store(database)
        store.create_mailbox("desk@example.com", 100, "sign-in 1")
        store.in_transaction(
            lambda tx: tx.record_discovered([MessageId("a", "1"), MessageId("b", "1")], FoundBy.POLL, EVERY_DATE)
        )
        store.in_transaction(lambda tx: tx.record_outcomes([Outcome("b", 1, MessageState.SKIPPED, "bulk")]))
        record_heartbeat(database, "acme", "desk", daemon="one", last_good_poll_at=None, last_error=None)
    return url


@pytest.fixture
def pinned(filled_url: str) -> Iterator[PinnedDatabase]:
    """The filled database, within one read-only transaction."""
    with psycopg.Connection[DictRow].connect(filled_url, row_factory=dict_row) as connection:
        connection.read_only = True
        yield PinnedDatabase(filled_url, connection)


def test_every_read_of_the_store_is_proved_here() -> None:
    found = set()
    for module in MODULES:
        own = [value for value in vars(module).values() if getattr(value, "__module__", None) == module.__name__]
        for owner in (module, *(value for value in own if isinstance(value, type))):
            found |= {
                name for name, value in vars(owner).items() if getattr(value, "__module__", "") == module.__name__
            }
    assert {name for name in found if name.startswith(("find_", "list_", "count_"))} == READS.keys()


@every_read
def test_a_read_works_in_a_read_only_transaction_and_takes_no_transaction_id(pinned: PinnedDatabase, read: str) -> None:
    run(read, pinned)
    with pinned.connection() as connection:
        row = connection.execute("select pg_current_xact_id_if_assigned() as xid").fetchone()
    assert row == {"xid": None}


TOUCHED = """
    select relname, n_tup_ins, n_tup_upd, n_tup_del
      from pg_stat_xact_user_tables
     where n_tup_ins + n_tup_upd + n_tup_del > 0
    union all
    select sequencename, last_value, 0, 0 from pg_sequences
"""


@every_read
def test_a_read_changes_no_row_and_takes_no_sequence_value(filled_url: str, read: str) -> None:
    with psycopg.Connection[DictRow].connect(filled_url, row_factory=dict_row) as connection:
        before = connection.execute(TOUCHED.encode()).fetchall()
        run(read, PinnedDatabase(filled_url, connection))
        assert connection.execute(TOUCHED.encode()).fetchall() == before


def test_the_find_path_writes_no_wal(filled_url: str) -> None:
    with psycopg.connect(superuser_url(filled_url), autocommit=True) as connection:
        if connection.info.server_version < COUNTS_WAL_BY_SESSION:
            pytest.skip("before version 18 Postgres does not say how much WAL one session wrote")
        connection.execute("vacuum (freeze, analyze)")
        connection.execute("checkpoint")
    with psycopg.Connection[DictRow].connect(filled_url, row_factory=dict_row, autocommit=True) as connection:
        database = PinnedDatabase(filled_url, connection)
        for find in FINDS:
            run(find, database)  # the first look at a page after a checkpoint may settle what the page remembers
        before = wal_bytes_of(connection)
        for _ in range(100):
            for find in FINDS:
                run(find, database)
        assert wal_bytes_of(connection) == before
        TaskStore(database, tenant="acme").upsert_task(TaskDraft("gmail:1#c", "A title"), actor="bob")
        assert wal_bytes_of(connection) > before  # the measure itself works


def wal_bytes_of(connection: Connection) -> int:
    """How much WAL this session has written, other sessions of the shared server apart."""
    connection.execute("select pg_stat_force_next_flush()")
    row = connection.execute("select wal_bytes from pg_stat_get_backend_wal(pg_backend_pid())").fetchone()
    assert row is not None
    return int(row["wal_bytes"])


def test_a_create_on_a_standby_is_told_as_such(filled_url: str) -> None:
    read_only = f"{filled_url}&options=-c%20default_transaction_read_only%3Don"
    with Database(read_only) as database:
        store = TaskStore(database, tenant="acme")
        assert store.upsert_task(KNOWN, actor="bob").number == 1
        with pytest.raises(DatabaseUnreachable, match="only allows reads"):
            store.upsert_task(TaskDraft("gmail:1#new", "A title"), actor="bob")
