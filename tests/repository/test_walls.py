"""Tenants are walls: a session that is bound to one sees and writes its rows alone, whatever the statement forgets.

Not here: the same for every function of the store (``test_walls_functions.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

import psycopg
import pytest
from psycopg.rows import DictRow, dict_row
from support.tenants import TABLES, everything_of, fill_both

from inbox_loop.errors import DatabaseRefused, DatabaseUnreachable, InboxLoopError, NoSuchTask
from inbox_loop.repository.database import Connection, Database
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import TaskDraft

each_table = pytest.mark.parametrize("table", TABLES)
WITHOUT_TENANT = {"inbox_loop_migrations"}


@pytest.fixture(scope="module")
def shared_url(make_module_database: Callable[[str], str], template: str) -> str:
    """A database with both tenants, in which nothing is changed for good."""
    url = make_module_database(template)
    with Database(url) as database:
        fill_both(database)
    return url


@pytest.fixture
def both(shared_url: str) -> Iterator[Database]:
    """That database, open, through one pooled session."""
    with Database(shared_url, pool_size=1) as opened:
        yield opened


@pytest.fixture
def acme(shared_url: str) -> Iterator[psycopg.Connection[DictRow]]:
    """A session of anybody's, bound to ``acme`` in plain SQL."""
    with bound_to_acme(shared_url) as connection:
        yield connection


@contextmanager
def bound_to_acme(url: str) -> Iterator[psycopg.Connection[DictRow]]:
    with psycopg.Connection[DictRow].connect(url, autocommit=True, row_factory=dict_row) as connection:
        connection.execute("""
            select set_config('inbox_loop.tenant_id', (select tenant_id::text from tenants where slug = 'acme'), false)
        """)
        yield connection


def own_id(database: Database) -> UUID:
    return database.for_tenant("acme").tenant_id


def others_id(database: Database) -> UUID:
    return database.for_tenant("beta").tenant_id


def test_every_table_has_its_wall(both: Database) -> None:
    """And each of them is tried here: a new table, too, must be added."""
    rows = both.rows(b"""
        select c.relname, c.relrowsecurity and c.relforcerowsecurity as is_forced, w.cmd, w.roles::text, w.permissive,
               w.qual, w.with_check,
               exists (select from pg_attribute as a where a.attrelid = c.oid and a.attname = 'tenant_id') as has_tenant
          from pg_class as c
          left join pg_policies as w on w.schemaname = 'public' and w.tablename = c.relname
         where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
    """)
    assert {row["relname"] for row in rows if not row["has_tenant"]} == WITHOUT_TENANT
    walled = [row for row in rows if row["has_tenant"]]
    assert sorted(row["relname"] for row in walled) == sorted(TABLES)
    wall = "COALESCE((tenant_id = ( SELECT bound_tenant() AS bound_tenant)), true)"
    for row in walled:
        assert row["is_forced"], row
        assert (row["cmd"], row["roles"], row["permissive"]) == ("ALL", "{public}", "PERMISSIVE"), row
        assert (row["qual"], row["with_check"]) == (wall, None), row


def test_the_role_that_the_program_uses_passes_by_no_wall(both: Database) -> None:
    row = both.row(b"select rolsuper, rolbypassrls from pg_roles where rolname = current_user")
    assert row == {"rolsuper": False, "rolbypassrls": False}


@each_table
def test_a_select_without_a_condition_shows_the_tenants_own_rows(
    acme: psycopg.Connection[DictRow], both: Database, table: str
) -> None:
    rows = acme.execute(f"select tenant_id from {table}".encode()).fetchall()
    assert {row["tenant_id"] for row in rows} == {own_id(both)}
    assert len(rows) < len(both.rows(f"select from {table}".encode()))


def test_a_view_shows_the_tenants_own_rows(acme: psycopg.Connection[DictRow], both: Database) -> None:
    assert {row["tenant_id"] for row in acme.execute("select tenant_id from task_rows")} == {own_id(both)}


@each_table
def test_an_update_without_a_condition_leaves_other_tenants_alone(
    acme: psycopg.Connection[DictRow], both: Database, table: str
) -> None:
    all_rows = f"select ctid, tenant_id from {table} order by ctid".encode()
    before = both.rows(all_rows)
    done = acme.execute(f"update {table} set tenant_id = tenant_id".encode())
    after = both.rows(all_rows)
    moved = [row["tenant_id"] for row in before if row not in after]
    assert moved == [own_id(both)] * done.rowcount
    assert done.rowcount > 0


@each_table
def test_a_row_for_another_tenant_is_refused(acme: psycopg.Connection[DictRow], both: Database, table: str) -> None:
    """Even one that is there already: the wall comes before what would tell so."""
    (columns,) = both.rows(
        b"select string_agg(quote_ident(column_name), ', ') as names from information_schema.columns"
        b" where table_schema = 'public' and table_name = %(table)s and is_generated = 'NEVER'",
        {"table": table},
    )
    others = {"tenant_id": others_id(both)}
    one = f"select to_jsonb(t)::text as row from {table} as t where tenant_id = %(tenant_id)s limit 1".encode()
    names, values = columns["names"], f"jsonb_populate_record(null::{table}, %(row)s)"
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
        acme.execute(f"insert into {table} ({names}) select {names} from {values}".encode(), both.row(one, others))
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
        acme.execute(f"update {table} set tenant_id = %(tenant_id)s".encode(), others)


def test_deletes_without_a_condition_leave_other_tenants_alone(database: Database, database_url: str) -> None:
    beta = fill_both(database)
    with bound_to_acme(database_url) as acme:
        for table in TABLES:
            acme.execute(f"delete from {table}".encode())
    assert everything_of(database, beta.tenant_id) == beta.everything
    for table in TABLES:
        left = database.rows(f"select distinct tenant_id from {table}".encode())
        assert left == [{"tenant_id": beta.tenant_id}], table


def test_a_session_bound_to_a_tenant_that_is_not_there_sees_nothing(
    acme: psycopg.Connection[DictRow],
) -> None:
    acme.execute("select set_config('inbox_loop.tenant_id', gen_random_uuid()::text, false)")
    assert [table for table in TABLES if acme.execute(f"select from {table}".encode()).rowcount] == []


def test_a_session_bound_to_something_that_is_no_tenant_can_not_read(acme: psycopg.Connection[DictRow]) -> None:
    acme.execute("select set_config('inbox_loop.tenant_id', 'acme', false)")
    with pytest.raises(psycopg.errors.InvalidTextRepresentation):
        acme.execute("select from tasks")


# --- one session in turn for two tenants --------------------------------------------------------------------------


def assert_each_sees_its_own(database: Database) -> None:
    for tenant, numbers in (("acme", [2, 1]), ("beta", [4, 3, 1]), ("acme", [2, 1])):
        found = TaskStore(database, tenant=tenant).list_tasks()
        assert [(task.tenant, task.number) for task in found] == [(tenant, number) for number in numbers]
        forgetful = database.for_tenant(tenant).rows(b"select distinct tenant_id from tasks", {})
        assert forgetful == [{"tenant_id": database.for_tenant(tenant).tenant_id}]
        assert len(database.rows(b"select from tenants")) == 2


def test_tenants_that_take_turns_on_one_session_see_their_own(both: Database) -> None:
    for _ in range(3):
        assert_each_sees_its_own(both)


def fail_on_a_task(database: Database) -> None:
    TaskStore(database, tenant="beta").find_task(99)


def fail_in_sql(database: Database) -> None:
    database.for_tenant("beta").rows(b"select 1 / 0", {})


def fail_in_a_transaction(database: Database) -> None:
    def work(connection: Connection) -> None:
        connection.execute("select from tasks")
        raise NoSuchTask("on purpose")

    database.for_tenant("beta").in_transaction(work)


def fail_in_the_middle_of_a_transaction(database: Database) -> None:
    database.for_tenant("beta").in_transaction(lambda connection: connection.execute("select 1 / 0"))


def fail_by_losing_the_connection(database: Database) -> None:
    database.for_tenant("beta").rows(b"select pg_terminate_backend(pg_backend_pid())", {})


def fail_at_the_wall(database: Database) -> None:
    database.for_tenant("beta").rows(b"insert into tenants (slug) values ('gamma') returning 1", {})


def fail_to_write_in_a_read_only_transaction(database: Database) -> None:
    with database.read_only(bound_to=database.for_tenant("beta").tenant_id) as connection:
        connection.execute("delete from tasks")


@pytest.mark.parametrize(
    ("fail", "error"),
    [
        (fail_on_a_task, NoSuchTask),
        (fail_in_sql, InboxLoopError),
        (fail_in_a_transaction, NoSuchTask),
        (fail_in_the_middle_of_a_transaction, InboxLoopError),
        (fail_by_losing_the_connection, DatabaseUnreachable),
        (fail_at_the_wall, DatabaseRefused),
        (fail_to_write_in_a_read_only_transaction, DatabaseUnreachable),
    ],
)
def test_after_a_failure_the_next_tenant_on_the_session_sees_its_own(
    both: Database, fail: object, error: type[InboxLoopError]
) -> None:
    assert callable(fail)
    assert_each_sees_its_own(both)
    with pytest.raises(error):
        fail(both)
    assert_each_sees_its_own(both)


def test_a_write_lands_with_the_tenant_that_asked(database_url: str) -> None:
    with Database(database_url, pool_size=1) as narrow:
        fill_both(narrow)
        for tenant, number in (("acme", 3), ("beta", 5), ("acme", 4)):
            draft = TaskDraft(f"new:{tenant}:{number}", "A title")
            assert TaskStore(narrow, tenant=tenant).upsert_task(draft, actor="ann").number == number
        rows = narrow.rows(
            b"select tenant, external_ref from task_rows where external_ref like 'new:%%' order by 2", {}
        )
    assert [row["external_ref"].split(":")[1] for row in rows] == [row["tenant"] for row in rows]
    assert len(rows) == 3
