"""Looking at an outbox costs little: a look that finds nothing is a pure read, and each look goes by an index."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import psycopg
import pytest

from inbox_loop.repository.database import Database
from inbox_loop.repository.outbox import OutboxState, PostgresOutbox
from inbox_loop.repository.statements import Statements
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.task import TaskDraft

MANY = 20_000
PARAMS = {"limit": 8, "lease": timedelta(minutes=1), "tenants": ["acme"]}
LOOKS: dict[str, tuple[Callable[[PostgresOutbox], object], object]] = {
    "find_unannounced": (lambda outbox: outbox.find_unannounced(), False),
    "find_closable": (lambda outbox: outbox.find_closable(), False),
    "claim_due": (lambda outbox: outbox.claim_due(8, timedelta(minutes=1)), ()),
    "find_outbox_state": (lambda outbox: outbox.find_outbox_state(["acme"]), OutboxState(0, None, 0, None, 0)),
    "list_undelivered": (lambda outbox: outbox.list_undelivered(["acme"]), ()),
}


@pytest.fixture(scope="module")
def old_url(make_module_database: Callable[[str], str], template: str) -> str:
    """A database that has told of many tasks, and has nothing left to tell."""
    url = make_module_database(template)
    with Database(url) as database:
        ensure_tenant(database, "acme", [])
        TaskStore(database, tenant="acme").upsert_task(TaskDraft("gmail:1#a", "A title"), actor="ann")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            """
            insert into notifications (tenant_id, topic, task_id, announced_at, delivered_at)
            select tenant_id, 'task.created', task_id, now(), now() from tasks, generate_series(1, %s)
            """,
            [MANY],
        )
        connection.execute("update notifications set announced_at = now(), delivered_at = now()")
        connection.execute("vacuum (analyze) notifications")
    return url


@pytest.mark.parametrize("look", LOOKS)
def test_a_look_that_finds_nothing_works_where_nothing_may_be_written(old_url: str, look: str) -> None:
    find, nothing = LOOKS[look]
    with Database(f"{old_url}&options=-c%20default_transaction_read_only%3Don") as database:
        assert find(PostgresOutbox(database)) == nothing


@pytest.mark.parametrize(
    "name",
    [
        "find_unannounced",
        "announce",
        "find_closable",
        "close_announced",
        "find_due",
        "claim_due",
        "find_outbox_state",
        "list_undelivered",
    ],
)
def test_what_was_told_long_ago_is_not_read_again(old_url: str, name: str) -> None:
    with Database(old_url) as database:
        rows = database.rows(b"explain " + Statements("outbox")[name], PARAMS)
    plan = "\n".join(row["QUERY PLAN"] for row in rows)
    assert not re.search(r"Seq Scan on notifications", plan), plan
    assert "notifications_" in plan
