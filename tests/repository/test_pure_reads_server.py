"""Ten thousand finds, and the whole server stands where it stood: its WAL, transactions, sequences and statistics.

On a server of its own with nobody else on it, and set so that nothing in the background writes of its own accord.
"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from fixtures.database import superuser_url
from fixtures.embedded import reachable_folder
from psycopg.rows import DictRow
from support.reads import FINDS, READS, fill, tasks_of

from inbox_loop.embedded.folders import Place
from inbox_loop.embedded.server import use_embedded
from inbox_loop.embedded.throwaway import stop_when_unused
from inbox_loop.repository.database import Database
from inbox_loop.repository.migrate import migrate
from inbox_loop.task import TaskDraft

QUIET = {"autovacuum": "off", "wal_level": "minimal", "max_wal_senders": "0", "fsync": "off"}
TIMES = 10_000
TRACES = b"""
    select pg_current_wal_insert_lsn()::text as wal,
           pg_snapshot_xmin(pg_current_snapshot())::text as oldest_transaction,
           pg_snapshot_xmax(pg_current_snapshot())::text as next_transaction,
           (select jsonb_object_agg(sequencename, last_value) from pg_sequences) as sequences,
           (select jsonb_object_agg(relname, array[n_tup_ins, n_tup_upd, n_tup_hot_upd, n_tup_del, n_dead_tup])
              from pg_stat_user_tables) as rows_written,
           (select array[tup_inserted, tup_updated, tup_deleted, xact_rollback, conflicts, deadlocks]
              from pg_stat_database
             where datname = current_database()) as written
"""


@pytest.fixture(scope="module")
def quiet() -> Iterator[Database]:
    """The filled database on its quiet server. One session does everything, and tells the statistics at once."""
    with reachable_folder() as folder:
        with use_embedded(folder) as url, psycopg.connect(superuser_url(url), autocommit=True) as connection:
            for name, value in QUIET.items():
                change = psycopg.sql.SQL("alter system set {} = {}")
                connection.execute(change.format(psycopg.sql.Identifier(name), psycopg.sql.Literal(value)))
        stop_when_unused(Place(folder))
        with use_embedded(folder) as url, Database(url, pool_size=1) as database:
            migrate(database)
            fill(database)
            with psycopg.connect(superuser_url(url), autocommit=True) as connection:
                connection.execute("vacuum (freeze, analyze)")
                connection.execute("checkpoint")
            for read in (READS | FINDS).values():
                read(database)  # the first look at a page may settle what the page remembers of old transactions
            yield database


def traces_of(database: Database) -> DictRow:
    database.rows(b"select pg_stat_force_next_flush()")
    (row,) = database.rows(TRACES)
    return row


def test_ten_thousand_finds_leave_the_server_as_it_was(quiet: Database) -> None:
    before = traces_of(quiet)
    for _ in range(TIMES // len(FINDS) + 1):
        for find in FINDS.values():
            find(quiet)
    assert traces_of(quiet) == before
    for name, read in READS.items():
        for _ in range(20):
            read(quiet)
        assert traces_of(quiet) == before, name


def test_one_create_is_seen_in_every_trace(quiet: Database) -> None:
    before = traces_of(quiet)
    tasks_of(quiet).upsert_task(TaskDraft("another", "A title"), actor="bob")
    after = traces_of(quiet)
    assert [name for name in before if after[name] == before[name]] == []
