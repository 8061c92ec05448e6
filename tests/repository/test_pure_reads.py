"""A read writes nothing: every find_, list_ and count_, the find path of all upserts, a step whose end is reached.

Not here: what the whole server shows of it (``test_pure_reads_server.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from psycopg.rows import dict_row
from support.reads import FINDS, NOTHING_TO_DO, READS, fill, own_callables

from inbox_loop.errors import DatabaseUnreachable
from inbox_loop.repository.database import Database
from inbox_loop.repository.session import Session
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import TaskDraft

every_read = pytest.mark.parametrize("read", [*READS, *FINDS, *NOTHING_TO_DO])


def run(read: str, database: Database) -> object:
    return (READS | FINDS | NOTHING_TO_DO)[read](database)


class PinnedDatabase(Database):
    """Every call on one session, within one transaction, so that its traces can be looked at."""

    def __init__(self, url: str, session: Session) -> None:
        super().__init__(url)
        self._session = session

    def _take(self) -> Session:
        return self._session

    def _give_back(self, session: Session) -> None:
        """It stays where it is."""
        assert session is self._session


@pytest.fixture(scope="module")
def filled_url(make_module_database: Callable[[str], str], template: str) -> str:
    """A database with a bit of everything in it, which the tests here only read or roll back."""
    url = make_module_database(template)
    with Database(url) as database:
        fill(database)
    return url


def test_every_read_of_the_store_is_proved_here() -> None:
    assert sorted(own_callables(("find_", "list_", "count_"))) == sorted(READS)


@every_read
def test_a_read_works_in_a_read_only_transaction_and_takes_no_transaction_id(filled_url: str, read: str) -> None:
    with Session.connect(filled_url, row_factory=dict_row) as session:
        session.read_only = True
        run(read, PinnedDatabase(filled_url, session))
        row = session.execute("select pg_current_xact_id_if_assigned() as xid").fetchone()
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
    with Session.connect(filled_url, row_factory=dict_row) as session:
        before = session.execute(TOUCHED.encode()).fetchall()
        run(read, PinnedDatabase(filled_url, session))
        assert session.execute(TOUCHED.encode()).fetchall() == before


# The functions that may write. Postgres itself keeps all others from it: a function that is stable or immutable is
# refused every insert, update, delete and lock.
WRITERS = {
    "idempotency_key_purge",
    "task_cancel",
    "task_create",
    "task_delete",
    "task_finish",
    "task_purge",
    "task_restore",
    "task_step",
    "task_update",
    "task_upsert_batch_by_external_ref",
    "task_upsert_by_external_ref",
}


@pytest.fixture
def filled(filled_url: str) -> Iterator[Database]:
    """The filled database, open."""
    with Database(filled_url) as database:
        yield database


def test_all_functions_but_the_writers_are_kept_from_writing_by_postgres(filled: Database) -> None:
    rows = filled.rows(b"""
        select p.proname
          from pg_proc as p
         where p.pronamespace = 'public'::regnamespace and p.provolatile = 'v'
           and not exists (select from pg_depend as d where d.objid = p.oid and d.deptype = 'e')
    """)
    assert {row["proname"] for row in rows} == WRITERS


def test_a_create_on_a_standby_is_told_as_such(filled_url: str) -> None:
    read_only = f"{filled_url}&options=-c%20default_transaction_read_only%3Don"
    with Database(read_only) as database:
        tasks = TaskStore(database, tenant="acme")
        assert tasks.upsert_task(TaskDraft("gmail:1#a", "Another"), actor="bob").number == 1
        with pytest.raises(DatabaseUnreachable, match="only allows reads"):
            tasks.upsert_task(TaskDraft("gmail:1#b", "A title"), actor="bob")
