"""The schema goes forward, once, whoever else is at it; what does not fit is refused and left alone."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import psycopg
import pytest

from inbox_loop.errors import DatabaseOutdated, InvalidValue
from inbox_loop.repository.database import Database
from inbox_loop.repository.migrate import (
    Migration,
    SchemaStatus,
    check_schema,
    find_schema_status,
    list_migrations,
    migrate,
)

OWN = list_migrations()
LATEST = OWN[-1].version
NEXT = Migration(LATEST + 1, "later", "create table later (n integer);")


def tables(database: Database) -> list[str]:
    rows = database.rows(b"select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace")
    return sorted(row["relname"] for row in rows)


def test_migrations_are_numbered_from_one_without_a_gap() -> None:
    assert [migration.version for migration in OWN] == list(range(1, LATEST + 1))


def test_an_empty_database_is_brought_up_to_date(empty_database_url: str) -> None:
    with Database(empty_database_url) as database:
        assert find_schema_status(database) == SchemaStatus(version=0, latest=LATEST, pending=OWN)
        with pytest.raises(DatabaseOutdated, match="is at version 0") as raised:
            check_schema(database)
        assert "inbox-loop db migrate" in raised.value.hint
        assert migrate(database) == OWN
        assert find_schema_status(database) == SchemaStatus(version=LATEST, latest=LATEST, pending=())
        check_schema(database)


def test_a_second_migration_does_nothing(database: Database) -> None:
    assert migrate(database) == ()


def test_only_what_is_pending_is_applied(database: Database) -> None:
    assert migrate(database, [*OWN, NEXT]) == (NEXT,)
    assert "later" in tables(database)


def test_of_several_migrators_at_once_each_step_is_done_by_one(empty_database_url: str) -> None:
    def run(_number: int) -> tuple[Migration, ...]:
        with Database(empty_database_url, pool_size=1) as database:
            return migrate(database)

    with ThreadPoolExecutor(5) as pool:
        applied = [migration for done in pool.map(run, range(5)) for migration in done]
    assert sorted(applied, key=lambda migration: migration.version) == list(OWN)


@pytest.mark.parametrize("step", [migrate, check_schema])
def test_a_database_that_is_newer_than_the_program_is_left_alone(
    database: Database, step: Callable[[Database], object]
) -> None:
    migrate(database, [*OWN, NEXT])
    with pytest.raises(DatabaseOutdated, match=f"at version {LATEST + 1}, this program knows only {LATEST}") as raised:
        step(database)
    assert "newer inbox-loop" in raised.value.hint


@pytest.mark.parametrize("step", [migrate, check_schema])
def test_a_migration_that_was_edited_after_it_was_applied_is_noticed(
    database: Database, step: Callable[[Database], object]
) -> None:
    database.row(b"update inbox_loop_migrations set checksum = 'other' where version = 1 returning version")
    with pytest.raises(DatabaseOutdated, match="migration 0001 of this program is not the one"):
        step(database)


def test_a_database_is_shared_with_another_program_that_keeps_schema_migrations(empty_database_url: str) -> None:
    with Database(empty_database_url) as database:
        with database.connection() as connection:
            connection.execute("create table schema_migrations as select '20240101' as version")
        assert migrate(database) == OWN
        check_schema(database)
        assert database.rows(b"select version from schema_migrations") == [{"version": "20240101"}]


def test_an_edited_migration_is_noticed_before_later_ones_are_applied(database: Database) -> None:
    edited = [replace(OWN[0], text=OWN[0].text + "-- a harmless line\n"), *OWN[1:], NEXT]
    with pytest.raises(DatabaseOutdated, match="0001"):
        migrate(database, edited)
    assert "later" not in tables(database)


def test_a_step_that_fails_leaves_nothing_of_itself_and_can_be_repeated(database: Database) -> None:
    broken = replace(NEXT, text="create table later (n integer); select 1 / 0;")
    with pytest.raises(InvalidValue):  # SQLSTATE 22012
        migrate(database, [*OWN, broken])
    assert "later" not in tables(database)
    assert find_schema_status(database).version == LATEST
    assert migrate(database, [*OWN, NEXT]) == (NEXT,)


def test_the_schema_works_with_citext_in_a_schema_of_its_own(empty_database_url: str) -> None:
    with psycopg.connect(empty_database_url, autocommit=True) as connection:
        connection.execute("create schema extensions")
        connection.execute("create extension citext schema extensions")
    with (
        Database(empty_database_url) as database,
        pytest.raises(DatabaseOutdated, match="refs would be compared by case"),
    ):
        check_schema_after_migrating(database)
    with Database(f"{empty_database_url}&options=-c%20search_path%3Dpublic,extensions") as database:
        check_schema_after_migrating(database)
        query = b"select created from task_upsert_by_external_ref('acme', %(ref)s, 'A title')"
        database.row(b"insert into tenants (slug) values ('acme') returning slug")
        database.row(b"insert into task_counters (tenant_id) select tenant_id from tenants returning tenant_id")
        assert database.row(query, {"ref": "gmail:1a#1"}) == {"created": True}
        assert database.row(query, {"ref": "GMAIL:1A#1"}) == {"created": False}


def check_schema_after_migrating(database: Database) -> None:
    migrate(database)
    check_schema(database)


@pytest.mark.parametrize(
    ("index", "query"),
    [
        ("tasks_pk", "select 1 from tasks where tenant_id = $1::uuid and task_id = $2::uuid for key share"),
        (
            "messages_pk",
            "select state from messages where tenant_id = $1::uuid and mailbox_id = $2::uuid and message_id = $3::text",
        ),
    ],
)
def test_the_primary_key_is_chosen_before_the_first_analyze(database: Database, index: str, query: str) -> None:
    """A foreign key's plan is made once and kept: from an empty table it must be the right one for a full one."""
    nulls = ", ".join(["null"] * query.count("$"))
    with database.connection() as connection:
        connection.execute("set plan_cache_mode = force_generic_plan")
        connection.execute(f"prepare look as {query}".encode())
        plan = [row["QUERY PLAN"] for row in connection.execute(f"explain execute look ({nulls})".encode())]
    assert any(index in line for line in plan), plan
