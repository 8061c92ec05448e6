"""How refs are looked up: by the index of their key behind the walls, by the unique index for whoever passes by them.

The plans are those that were run, told by Postgres itself (auto_explain) while the store does its work over psycopg:
with the parameters as psycopg sends them, prepared and not, inside of functions too, as the program's own role.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import psycopg
import pytest
from fixtures.database import superuser_url
from psycopg import sql

from inbox_loop.errors import NoSuchTask, RefTaken
from inbox_loop.loop.ports import StoreTransaction
from inbox_loop.repository.database import Database
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.task import TaskDraft, TaskFilter

LIVE, DELETED = 3000, 300
# The deleted task whose ref another one holds since.
DELETED_REF_NUMBER = 8
TELL_PLANS = {
    "session_preload_libraries": "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_nested_statements": "on",
    "auto_explain.log_level": "notice",
}
PREPARED_AFTER = 5
KEY, TOMBSTONE, CONTAINER = "tasks_external_ref_key_ix", "tasks_tombstone_ix", "tasks_container_ref_ix"
UNIQUE = "tasks_tenant_external_ref_uq"

_SCAN = re.compile(r"(?P<how>\w[\w ]* Scan)(?: Backward)?(?: using (?P<index>\w+))? on tasks(?: \w+)?  \(")
_BITMAP = re.compile(r"Bitmap Index Scan on (?P<index>\w+)  \(.*")
_FILTERED_BY_KEY = re.compile(r"Filter: .*_ref_key =")
_CONDITION = re.compile(r"\n +Index Cond: (?P<condition>.*)")


@dataclass(frozen=True, slots=True)
class Scan:
    """How a plan reads the tasks."""

    index: str | None
    """None where all of the table is read."""
    condition: str
    """What the index is asked for."""


def make_telling(made: str, *, live: int, analyzed: bool) -> str:
    """Fill a database for two tenants, the first of their tasks being deleted; then it tells its plans."""
    with Database(made) as database:
        with database.connection() as connection:
            connection.execute("alter table tasks set (autovacuum_enabled = off)")
        for tenant in ("acme", "beta"):
            ensure_tenant(database, tenant, [])
            tasks = TaskStore(database, tenant=tenant)
            drafts = [TaskDraft(f"ref-{n}", "A title", container_ref=f"thread-{n % 300}") for n in range(live)]
            tasks.upsert_tasks(drafts, actor="ann")
            database.for_tenant(tenant).rows(
                b"update tasks set deleted_at = now() where number <= %(deleted)s returning 1", {"deleted": DELETED}
            )
        tasks.upsert_task(TaskDraft("ref-7", "Again"), actor="ann")
        TaskStore(database, tenant="acme").upsert_task(TaskDraft("ref-7", "Again"), actor="ann")
        PostgresLoopStore(database, tenant="acme", mailbox="desk", project=None).create_mailbox("a@b.example", 1, "one")
        if analyzed:
            with database.connection() as connection:
                connection.execute("analyze")
    with psycopg.connect(superuser_url(made), autocommit=True) as connection:
        name = sql.Identifier(connection.info.dbname)
        for setting, value in TELL_PLANS.items():
            change = sql.SQL("alter database {} set {} = {}")
            connection.execute(change.format(name, sql.Identifier(*setting.split(".")), sql.Literal(value)))
    return made


@pytest.fixture(scope="module")
def analyzed_url(make_module_database: Callable[[str], str], template: str) -> str:
    """A database whose tasks were analyzed."""
    return make_telling(make_module_database(template), live=LIVE, analyzed=True)


@pytest.fixture(scope="module")
def new_url(make_module_database: Callable[[str], str], template: str) -> str:
    """A database before its first analyze."""
    return make_telling(make_module_database(template), live=LIVE, analyzed=False)


def scans_of(plan: str) -> list[Scan]:
    """The scans of the table ``tasks`` in a plan."""
    found = []
    lines = plan.splitlines()
    for place, line in enumerate(lines):
        scan = _SCAN.search(line)
        if scan is not None:
            below = "\n".join(lines[place + 1 : place + 8])
            bitmap = _BITMAP.search(below) if scan["how"].startswith("Bitmap Heap") else None
            asked = _CONDITION.match(below[bitmap.end() :] if bitmap else "\n" + below)
            found.append(Scan(bitmap["index"] if bitmap else scan["index"], asked["condition"] if asked else ""))
    return found


@contextmanager
def telling(url: str, mode: str) -> Iterator[tuple[Database, list[str]]]:
    """The database through one session, planned in one mode, and the plans of all that it runs."""
    plans: list[str] = []
    with Database(f"{url}&options=-c%20plan_cache_mode%3D{mode}", pool_size=1) as database:
        with database.connection() as connection:
            connection.add_notice_handler(lambda notice: plans.append(notice.message_primary or ""))
        yield database, plans


Look = Callable[[Database], object]


def refused_restore(database: Database) -> None:
    with pytest.raises(RefTaken):
        database.for_tenant("acme").rows(
            b"select from task_restore(%(tenant)s, %(number)s)", {"number": DELETED_REF_NUMBER}
        )


def tasks_of(database: Database) -> TaskStore:
    return TaskStore(database, tenant="acme")


def in_loop(work: Callable[[StoreTransaction], object]) -> Look:
    return lambda database: PostgresLoopStore(database, tenant="acme", mailbox="desk", project=None).in_transaction(
        work
    )


def known(*places: int) -> list[TaskDraft]:
    return [TaskDraft(f"REF-{place}", "A title") for place in places]


LOOKS: dict[str, tuple[Look, set[str]]] = {
    "upsert_task": (lambda database: tasks_of(database).upsert_task(*known(900), actor="ann"), {KEY}),
    "upsert_tasks": (lambda database: tasks_of(database).upsert_tasks(known(*range(900, 950)), actor="ann"), {KEY}),
    "find_task_by_ref": (lambda database: tasks_of(database).find_task_by_ref("REF-900"), {KEY}),
    "find_task_or_tombstone": (lambda database: tasks_of(database).find_task_or_tombstone("REF-9"), {KEY, TOMBSTONE}),
    "task_restore": (refused_restore, {KEY}),
    "list_tasks of a container": (
        lambda database: tasks_of(database).list_tasks(TaskFilter(container_ref="THREAD-7")),
        {CONTAINER},
    ),
    "find_ref_holders": (in_loop(lambda tx: tx.find_ref_holders(["REF-9", "ref-900"])), {KEY, TOMBSTONE}),
    "upsert_tasks of the loop": (in_loop(lambda tx: tx.upsert_tasks(known(900, 901))), {KEY}),
    "task_upsert_by_external_ref": (
        lambda database: database.rows(
            b"select * from task_upsert_by_external_ref(%(tenant)s, %(ref)s, 'A title')",
            {"tenant": "acme", "ref": "REF-900"},
        ),
        {KEY},
    ),
    "task_upsert_batch_by_external_ref": (
        lambda database: database.rows(
            b"select * from task_upsert_batch_by_external_ref(%(tenant)s, %(items)s)",
            {"tenant": "acme", "items": '[{"external_ref": "REF-900"}, {"external_ref": "ref-901"}]'},
        ),
        {KEY},
    ),
    "task_find": (
        lambda database: database.rows(
            b"select * from task_find(%(tenant)s, p_external_ref => %(ref)s)", {"tenant": "acme", "ref": "REF-9"}
        ),
        {KEY, TOMBSTONE},
    ),
}
each_mode = pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])


@pytest.mark.parametrize("kind", ["new_url", "analyzed_url"])
@each_mode
@pytest.mark.parametrize("look", LOOKS)
def test_a_ref_is_looked_up_by_the_index_of_its_key(
    request: pytest.FixtureRequest, look: str, mode: str, kind: str
) -> None:
    url = request.getfixturevalue(kind)
    run, indexes = LOOKS[look]
    with telling(url, mode) as (database, plans):
        for _ in range(PREPARED_AFTER + 2):
            plans.clear()
            run(database)
    scans = [scan for plan in plans for scan in scans_of(plan)]
    assert {scan.index for scan in scans} >= indexes, plans
    for scan in scans:
        # The tenant alone would do for the walls, and read all of its tasks.
        assert any(column in scan.condition for column in ("ref_key =", "task_id =", "number =")), plans


@pytest.mark.parametrize("size", [0, 1, 60, 350])
def test_a_plan_made_among_few_tasks_serves_when_there_are_many(
    make_module_database: Callable[[str], str], template: str, size: int
) -> None:
    """Plans are kept until the table is analyzed, which may be thousands of tasks later."""
    with telling(make_telling(make_module_database(template), live=size, analyzed=False), "force_generic_plan") as (
        database,
        plans,
    ):
        for look, (run, indexes) in LOOKS.items():
            if look == "task_restore" and size < DELETED_REF_NUMBER:
                continue
            for _ in range(PREPARED_AFTER + 2):
                plans.clear()
                with suppress(NoSuchTask):
                    run(database)
            assert {scan.index for plan in plans for scan in scans_of(plan)} >= indexes, plans
            assert not [plan for plan in plans if _FILTERED_BY_KEY.search(plan)], look


PLAIN: dict[str, tuple[str, dict[str, object]]] = {
    "= one": ("external_ref = %(ref)s", {"ref": "REF-900"}),
    "= any": ("external_ref = any(%(refs)s)", {"refs": ["REF-900", "ref-901"]}),
    "= any of citext": ("external_ref = any(%(refs)s::citext[])", {"refs": ["REF-900", "ref-901"]}),
    "joined": ("r::citext", {"refs": ["REF-900", "ref-901"]}),
}


@each_mode
@pytest.mark.parametrize("form", PLAIN)
def test_whoever_passes_by_the_walls_looks_a_ref_up_by_the_unique_index(
    analyzed_url: str, form: str, mode: str
) -> None:
    """Once the table was analyzed. Before, any index that begins with the tenant looks as good to the planner."""
    condition, params = PLAIN[form]
    statement = f"select number from tasks where tenant_id = %(tenant_id)s and deleted_at is null and {condition}"
    if form == "joined":
        statement = f"""
            select number
              from unnest(%(refs)s::text[]) as r
              join tasks on tenant_id = %(tenant_id)s and external_ref = {condition} and deleted_at is null
        """
    with telling(superuser_url(analyzed_url), mode) as (database, plans):
        params = {**params, "tenant_id": database.for_tenant("acme").tenant_id}
        for _ in range(PREPARED_AFTER + 2):
            plans.clear()
            found = database.rows(statement.encode(), params)
    assert {row["number"] for row in found} == ({901} if form == "= one" else {901, 902})
    (scan,) = [scan for plan in plans for scan in scans_of(plan)]
    assert scan.index == UNIQUE, plans
    assert "external_ref =" in scan.condition, plans
