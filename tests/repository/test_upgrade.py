"""A database of any earlier version goes forward with all that is in it.

Every version of ``list_migrations`` is taken in turn; what its users may have left there is ``support/earlier.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import psycopg
import pytest
from psycopg import sql
from support.earlier import FILLS, fill
from support.rows import Connection, Rows, rows_of

from inbox_loop.errors import DatabaseOutdated
from inbox_loop.loop.ledger import MessageState
from inbox_loop.repository.database import Database
from inbox_loop.repository.health import list_mailbox_health
from inbox_loop.repository.migrate import check_schema, list_migrations, migrate
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import TaskDraft, UpsertOutcome

OWN = list_migrations()
LATEST = OWN[-1].version
EARLIER = range(1, LATEST)

# The columns whose values a migration changes on purpose, with its version.
FIRST_WITH_DELIVERY = 9
MEANT_TO_CHANGE = {("notifications", "delivered_at"): FIRST_WITH_DELIVERY}

OF_A_TENANT = """
    select relname::text, relrowsecurity and relforcerowsecurity
      from pg_class
      join pg_attribute on attrelid = pg_class.oid and attname = 'tenant_id'
     where relkind = 'r' and relnamespace = 'public'::regnamespace
     order by relname
"""


@pytest.fixture
def connection(empty_database_url: str) -> Iterator[Connection]:
    """A session of a person, bound to no tenant, in a database with nothing in it."""
    with psycopg.connect(empty_database_url, autocommit=True) as opened:
        yield opened


def bring_to(url: str, version: int) -> None:
    with Database(url, pool_size=1) as database:
        migrate(database, OWN[:version])


def in_columns(rows: Rows, columns: Mapping[str, Iterable[str]]) -> Mapping[str, list[str]]:
    """The rows of these tables in these columns, in an order that depends on nothing else."""
    return {
        table: sorted(json.dumps({name: row[name] for name in names}, sort_keys=True) for row in rows[table])
        for table, names in columns.items()
    }


def kept_columns(before: Rows, version: int) -> Mapping[str, Iterable[str]]:
    """What no migration after ``version`` may change."""
    meant = {column for column, changed_in in MEANT_TO_CHANGE.items() if changed_in > version}
    return {table: {name for name in rows[0] if (table, name) not in meant} for table, rows in before.items()}


@pytest.mark.parametrize("version", EARLIER)
def test_an_earlier_version_is_refused_and_goes_forward_with_all_that_is_in_it(
    empty_database_url: str, connection: Connection, version: int
) -> None:
    bring_to(empty_database_url, version)
    before = fill_whole(connection, version)
    with Database(empty_database_url) as database:
        check_refusal(database, version)
        assert migrate(database) == OWN[version:]
        check_schema(database)
        kept = kept_columns(before, version)
        assert in_columns(rows_of(connection), kept) == in_columns(before, kept)
        check_outbox(connection, before, version)
        check_refs(database, connection, before)
        check_ledger(database, before)
        check_numbers(database, before)
    check_walls(connection, before)


def test_the_latest_version_has_its_fill_for_the_next_one(empty_database_url: str, connection: Connection) -> None:
    bring_to(empty_database_url, LATEST)
    fill_whole(connection, LATEST)
    assert set(FILLS) <= {migration.version for migration in OWN}


def fill_whole(connection: Connection, version: int) -> Rows:
    """Fill the database, and answer its rows. What it asks for is a fill for the new table or column of a version."""
    fill(connection, version)
    rows = rows_of(connection)
    assert [table for table, each in rows.items() if not each] == []
    unused = [
        f"{table}.{name}" for table, each in rows.items() for name in each[0] if all(row[name] is None for row in each)
    ]
    assert unused == []
    return rows


def check_refusal(database: Database, version: int) -> None:
    """The program does not work with the earlier version, and names the command that brings it forward."""
    with pytest.raises(DatabaseOutdated, match=f"at version {version}, this program needs {LATEST}") as raised:
        check_schema(database)
    assert raised.value.hint.endswith("inbox-loop db migrate")


def check_outbox(connection: Connection, before: Rows, version: int) -> None:
    """What was staged before there was any delivery waits for nobody; what was delivered keeps its moment."""
    after = {row["notification_id"]: row for row in rows_of(connection)["notifications"]}
    for row in before["notifications"]:
        now = after[row["notification_id"]]
        if version < FIRST_WITH_DELIVERY:
            assert None not in {now["delivered_at"], now["announced_at"]}
        assert row["delivered_at"] in {None, now["delivered_at"]}


def check_refs(database: Database, connection: Connection, before: Rows) -> None:
    """Each live task is found under its ref in every case it may be written in, and none is created."""
    live = [task for task in before["tasks"] if task["external_ref"] is not None and task["deleted_at"] is None]
    assert len(live) > 10
    for task in live:
        tasks = TaskStore(database, tenant=slug_of(before, task["tenant_id"]))
        for ref in spellings(connection, task["external_ref"]):
            found = tasks.upsert_task(TaskDraft(ref, "Another title"), actor="test")
            assert (found.outcome, str(found.task_id)) == (UpsertOutcome.FOUND, task["task_id"])
            (found,) = tasks.upsert_tasks([TaskDraft(ref, "Another title")], actor="test")
            assert (found.outcome, str(found.task_id)) == (UpsertOutcome.FOUND, task["task_id"])
            assert str(tasks.find_task_by_ref(ref).task_id) == task["task_id"]


def spellings(connection: Connection, ref: str) -> list[str]:
    """A ref and its other cases, as far as they are the same ref to Postgres."""
    query = """
        select array_agg(distinct spelled)
          from unnest(array[%(ref)s, lower(%(ref)s), upper(%(ref)s), initcap(%(ref)s)]) as spelled
         where spelled::citext = %(ref)s::citext
    """
    row = connection.execute(query, {"ref": ref}).fetchone()
    assert row is not None
    spelled: list[str] = row[0]
    return spelled


def check_ledger(database: Database, before: Rows) -> None:
    """The counts by state, as ``status`` tells them."""
    for tenant in before["tenants"]:
        for mailbox in list_mailbox_health(database, tenant["slug"]):
            ids = [
                row["mailbox_id"] for row in before["mailboxes"] if is_of(row, tenant) and row["name"] == mailbox.name
            ]
            states = [row["state"] for row in before["messages"] if is_of(row, tenant) and row["mailbox_id"] in ids]
            assert mailbox.messages == {state: states.count(state.value) for state in MessageState}


def check_numbers(database: Database, before: Rows) -> None:
    """Each tenant's next two tasks have its next two numbers."""
    for counter in before["task_counters"]:
        tasks = TaskStore(database, tenant=slug_of(before, counter["tenant_id"]))
        made = [tasks.upsert_task(TaskDraft(f"after#{n}", "A title"), actor="test") for n in range(2)]
        assert [one.number for one in made] == [counter["next_number"], counter["next_number"] + 1]


def check_walls(connection: Connection, before: Rows) -> None:
    """A session that is bound to a tenant sees the tenant's rows alone, in every table, and can't change the others."""
    walled = list(connection.execute(OF_A_TENANT))
    assert [name for name, is_walled in walled if not is_walled] == []
    for tenant in before["tenants"]:
        connection.execute("select set_config('inbox_loop.tenant_id', %s, false)", [tenant["tenant_id"]])
        for name, _ in walled:
            query = sql.SQL("select distinct tenant_id::text from {}").format(sql.Identifier(name))
            seen = {row[0] for row in connection.execute(query)}
            assert seen <= {tenant["tenant_id"]}
            kept = any(is_of(row, tenant) for row in before.get(name, []))
            assert (tenant["tenant_id"] in seen) or not kept
        changed = connection.execute("update tasks set title = 'seen' where tenant_id <> %s", [tenant["tenant_id"]])
        assert changed.rowcount == 0


def slug_of(rows: Rows, tenant_id: str) -> str:
    (slug,) = [row["slug"] for row in rows["tenants"] if row["tenant_id"] == tenant_id]
    return str(slug)


def is_of(row: Mapping[str, Any], tenant: Mapping[str, Any]) -> bool:
    return bool(row["tenant_id"] == tenant["tenant_id"])
