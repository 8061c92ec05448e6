"""What docs/task-store.md shows in SQL runs as it stands there, and what it lists is there."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest

from inbox_loop.errors import InboxLoopError
from inbox_loop.ref import UNIT_OF_WORK_RULE
from inbox_loop.repository.database import Database
from inbox_loop.repository.faults import CONSTRAINTS, REFUSALS
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.task import MOVES

PAGE = (Path(__file__).parents[2] / "docs" / "task-store.md").read_text(encoding="utf-8")


@pytest.fixture
def connection(database_url: str, database: Database) -> psycopg.Connection:
    """Of a person at psql, in a database with the tenant ``default``."""
    ensure_tenant(database, "default", [])
    return psycopg.connect(database_url, autocommit=True)


def test_every_statement_on_the_page_runs_in_order(connection: psycopg.Connection) -> None:
    blocks = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) >= 4
    with connection:
        for block in blocks:
            connection.execute(block)
        found = connection.execute("select title, status from task_list('default') order by number").fetchall()
    assert found == [("Invoice for October?", "done"), ("Call Ann back", "open")]


def test_every_function_for_callers_is_on_the_page(database: Database) -> None:
    rows = database.rows(
        b"""select proname from pg_proc
             where pronamespace = 'public'::regnamespace and proname ~ '^(task|idempotency_key)_'
               and prorettype <> 'uuid'::regtype
               and proname <> all (array['task_numbers', 'task_step', 'task_is_needed', 'idempotency_key_lifetime'])"""
    )
    table = PAGE.partition("## The functions")[2].partition("## Find or create")[0]
    assert {row["proname"] for row in rows} == set(re.findall(r"`((?:task|idempotency_key)_[a-z_]+)`", table)) - {
        "task_rows"
    }


def test_the_rule_stands_on_the_page() -> None:
    quoted = " ".join(line.removeprefix(">").strip() for line in PAGE.splitlines() if line.startswith(">"))
    assert quoted == UNIT_OF_WORK_RULE


def test_the_moves_on_the_page_are_those_of_the_program() -> None:
    table = PAGE.partition("## The life of a task")[2].partition("\n\nOnly")[0]
    told: dict[str, frozenset[str]] = {}
    for starts, goals in re.findall(r"^\| (`.*?) \| (`.*?) \|$", table, re.MULTILINE):
        for start in re.findall(r"`(\w+)`", starts):
            told[start] = frozenset(re.findall(r"`(\w+)`", goals))
    assert told == {str(start): frozenset(map(str, goals)) for start, goals in MOVES.items()}


def test_the_refusals_on_the_page_are_those_of_the_program() -> None:
    table = PAGE.partition("## Refusals")[2].partition("Limits:")[0]
    meanings = {**CONSTRAINTS, **REFUSALS}
    named = 0
    for names, codes in re.findall(r"^\| \w+ \| (`.*?) \| .*? \| (`.*?) \|$", table, re.MULTILINE):
        constraints = re.findall(r"`(\w+)`", names)
        errors: set[type[InboxLoopError]] = {meanings[name].error for name in constraints}
        assert {error.code for error in errors} <= set(re.findall(r"`([a-z._]+)`", codes))
        named += len(constraints)
    assert named >= 10
