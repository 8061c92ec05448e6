"""A look-up by ref reads what it finds, and nothing else of the tenant.

With statistics and without, planned for its parameters or for any, behind the walls and outside of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import psycopg
import pytest
from psycopg.rows import DictRow, dict_row

from inbox_loop.repository.database import Connection, Database
from inbox_loop.repository.session import Session
from inbox_loop.repository.statements import Statements
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.repository.upkeep import vacuum
from inbox_loop.task import TaskDraft

SIZE = 5000
ASKED = 40
READ = b"""
    select coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::int as rows
      from pg_stat_xact_user_tables
     where relname = 'tasks'
"""

KNOWN = [f"GMAIL:{number:X}#{number:X}" for number in range(0, SIZE, SIZE // ASKED)]
NEW = [f"gmail:{number:x}#new" for number in range(ASKED)]
ITEMS = "(select jsonb_agg(jsonb_build_object('external_ref', r, 'title', 'T')) from unnest(%(refs)s::text[]) as r)"
BATCH = f"select * from task_upsert_batch_by_external_ref('acme', {ITEMS})".encode()

# What is run, with what, and how many tasks it may read.
LOOK_UPS: dict[str, tuple[bytes, Mapping[str, object], int]] = {
    "one": (Statements("upsert")["find_live_task"], {"ref": KNOWN[1]}, 1),
    "many": (Statements("upsert")["find_live_tasks"], {"refs": "\n".join(KNOWN + NEW)}, ASKED),
    "holders": (Statements("loop_transaction")["find_ref_holders"], {"external_refs": KNOWN + NEW}, ASKED),
    "who took its ref": (Statements("tasks")["find_ref_holder"], {"number": 7}, 2),
    "function": (
        b"select task_upsert_by_external_ref('acme', r, 'T') from unnest(%(refs)s::text[]) as r",
        {"refs": KNOWN},
        ASKED,
    ),
    "batch function, known": (BATCH, {"refs": KNOWN}, ASKED),
    # Looked for twice, and read once more by the foreign keys of its activity and its notification.
    "batch function, new": (BATCH, {"refs": NEW}, 4 * ASKED),
    "find by ref": (b"select task_find('acme', p_external_ref => %(ref)s)", {"ref": KNOWN[1]}, 2),
}


@pytest.fixture(scope="module")
def young_url(make_module_database: Callable[[str], str], template: str) -> str:
    """Five thousand tasks whose table was never analyzed, and has no statistics."""
    url = make_module_database(template)
    with Database(url) as database:
        ensure_tenant(database, "acme", [])
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("alter table tasks set (autovacuum_enabled = off)")
        drafts = [TaskDraft(f"gmail:{number:x}#{number:x}", "A title", body="x" * 200) for number in range(SIZE)]
        TaskStore(database, tenant="acme").upsert_tasks(drafts, actor="ann")
    return url


@pytest.fixture(scope="module")
def grown_url(make_module_database: Callable[[str], str], young_url: str) -> str:
    """The same with all that the planner can know."""
    url = make_module_database(young_url.partition("?")[0].rpartition("/")[2])
    with Database(url) as database:
        vacuum(database)
    return url


@pytest.mark.parametrize("session_of", ["tenant", "nobody"])
@pytest.mark.parametrize("plan", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize("look_up", LOOK_UPS)
@pytest.mark.parametrize("age", ["young", "grown"])
def test_a_look_up_reads_only_what_it_finds(
    request: pytest.FixtureRequest, age: str, look_up: str, plan: str, session_of: str
) -> None:
    statement, params, most = LOOK_UPS[look_up]
    with Session.connect(request.getfixturevalue(f"{age}_url"), row_factory=dict_row, autocommit=True) as session:
        session.execute("select set_config('plan_cache_mode', %s, false)", [plan])
        row = session.execute("select tenant_id from tenants").fetchone()
        assert row is not None
        session.bind(row["tenant_id"] if session_of == "tenant" else None)
        with session.transaction(force_rollback=True):
            session.execute(statement, {**params, "tenant_id": row["tenant_id"], "tenant": "acme"}, prepare=True)
            assert 0 < rows_read(session) <= most


def rows_read(connection: Connection) -> int:
    row: DictRow | None = connection.execute(READ).fetchone()
    assert row is not None
    return int(row["rows"])
