"""What holds for every table: the tenant in each key, one scheme of names, a plain word for each constraint."""

from __future__ import annotations

import re

import pytest

from inbox_loop.errors import InboxLoopError
from inbox_loop.repository.database import Database
from inbox_loop.repository.faults import CONSTRAINTS, REFUSALS
from inbox_loop.repository.migrate import Migration, list_migrations, migrate
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.task import NewTask, TaskDraft, UpsertOutcome

NOT_BY_TENANT = {"inbox_loop_migrations"}
# What the tables' own rules are made of; they use nothing but what every path has.
UNEXPLAINED = {"labels_fit", "normal_ref"}

NAMED = b"""
    select conrelid::regclass::text as on_table, conname as name
      from pg_constraint
     where connamespace = 'public'::regnamespace and contype in ('p', 'u', 'f', 'c') and conrelid <> 0
    union
    select indrelid::regclass::text, indexrelid::regclass::text
      from pg_index
      join pg_class on pg_class.oid = indrelid
     where relnamespace = 'public'::regnamespace
"""

# Each key with the columns that are in it: primary keys and unique indexes, then both ends of the foreign keys.
KEYS = b"""
    select indexrelid::regclass::text as name, indrelid::regclass::text as on_table,
           array(select attname::text from pg_attribute where attrelid = indrelid and attnum = any (indkey)) as columns
      from pg_index
      join pg_class on pg_class.oid = indrelid
     where relnamespace = 'public'::regnamespace and (indisprimary or indisunique)
    union all
    select conname, conrelid::regclass::text,
           array(select attname::text from pg_attribute where attrelid = conrelid and attnum = any (conkey))
      from pg_constraint
     where contype = 'f'
    union all
    select conname, confrelid::regclass::text,
           array(select attname::text from pg_attribute where attrelid = confrelid and attnum = any (confkey))
      from pg_constraint
     where contype = 'f'
"""


def test_the_tenant_is_part_of_every_key(database: Database) -> None:
    keys = [row for row in database.rows(KEYS) if row["on_table"] not in NOT_BY_TENANT]
    assert len(keys) > 20
    without = {row["name"] for row in keys if "tenant_id" not in row["columns"]}
    assert without == {"tenants_slug_uq"}  # the table of the tenants themselves, copied whole to every node


def test_constraints_and_indexes_are_named_after_their_table(database: Database) -> None:
    for row in database.rows(NAMED):
        assert re.fullmatch(rf"{row['on_table']}_([a-z_]+_)?(pk|uq|fk|ck|ix)", row["name"]), row


def test_every_constraint_means_something_to_people_and_no_line_is_left_over(database: Database) -> None:
    named = {row["name"] for row in database.rows(NAMED) if not row["name"].endswith("_ix")}
    assert named == CONSTRAINTS.keys()


def test_what_the_functions_refuse_is_named_like_no_constraint_and_means_something(database: Database) -> None:
    bodies = "".join(row["prosrc"] for row in database.rows(b"select prosrc from pg_proc where prolang <> 12"))
    raised = set(re.findall(r"constraint = '([a-z_]+)'", bodies))
    assert raised - CONSTRAINTS.keys() == REFUSALS.keys()
    assert not REFUSALS.keys() & CONSTRAINTS.keys()


def test_every_function_and_view_is_explained_and_runs_as_its_caller_on_a_fixed_path(database: Database) -> None:
    rows = database.rows(
        b"""select p.proname, p.prosecdef, p.proconfig, p.prosqlbody is not null as bound,
                   obj_description(p.oid) is not null as explained
              from pg_proc as p
             where p.pronamespace = 'public'::regnamespace
               and not exists (select from pg_depend as d where d.objid = p.oid and d.deptype = 'e')"""
    )
    assert len(rows) > 15
    for row in rows:
        assert row["explained"] or row["proname"] in UNEXPLAINED, row
        assert not row["prosecdef"], row
        # A body that was bound when it was made looks no name up; another one keeps its path.
        assert row["bound"] or row["proname"] in UNEXPLAINED or "search_path=" in str(row["proconfig"]), row
    assert database.row(b"select obj_description('task_rows'::regclass) is not null as explained") == {
        "explained": True
    }


def test_no_column_is_an_identity(database: Database) -> None:
    assert database.rows(b"select attrelid::regclass from pg_attribute where attidentity <> ''") == []


BROKEN = [
    ("tenants", "slug = 'No Slug'", "tenants_slug_ck"),
    ("task_counters", "next_number = 0", "task_counters_next_number_ck"),
    ("projects", "name = ''", "projects_name_ck"),
    ("tasks", "title = ''", "tasks_title_ck"),
    ("tasks", "status = 'waiting'", "tasks_status_ck"),
    ("tasks", "completed_at = now()", "tasks_completed_ck"),
    ("tasks", "labels = array['']", "tasks_labels_ck"),
    ("tasks", "labels = array[null]", "tasks_labels_ck"),
    ("tasks", "external_ref = ''", "tasks_external_ref_length_ck"),
    ("tasks", "external_ref = ' x'", "tasks_external_ref_form_ck"),
    ("tasks", "external_ref = U&'u\\0308'", "tasks_external_ref_form_ck"),
    ("tasks", "container_ref = ''", "tasks_container_ref_length_ck"),
    ("tasks", "source = '[]'", "tasks_source_ck"),
    ("tasks", "project_id = gen_random_uuid()", "tasks_project_fk"),
    ("tasks", "parent_id = gen_random_uuid()", "tasks_parent_fk"),
    ("task_activity", "kind = 'Created'", "task_activity_kind_ck"),
    ("task_activity", "actor = ''", "task_activity_actor_ck"),
    ("task_activity", "task_id = gen_random_uuid()", "task_activity_task_fk"),
    ("notifications", "topic = ''", "notifications_topic_ck"),
    ("notifications", "attempts = -1", "notifications_attempts_ck"),
]


@pytest.mark.parametrize(("table", "change", "constraint"), BROKEN, ids=[f"{t}: {c}" for t, c, _ in BROKEN])
def test_a_broken_rule_is_told_by_name_and_quotes_no_row(
    database: Database, tasks: TaskStore, table: str, change: str, constraint: str
) -> None:
    tasks.upsert_task(TaskDraft("r", "A secret title"), actor="ann")
    meaning = CONSTRAINTS[constraint]
    with pytest.raises(meaning.error) as raised:
        database.row(f"update {table} set {change} returning tenant_id".encode())
    assert str(raised.value) == meaning.sentence
    assert "secret" not in f"{raised.value!r} {raised.value.__cause__!r}"
    assert raised.value.__suppress_context__


def test_a_missing_value_is_told_by_its_column(database: Database, tasks: TaskStore) -> None:
    tasks.upsert_task(TaskDraft("r", "A title"), actor="ann")
    with pytest.raises(InboxLoopError, match=r"^title is missing$"):
        database.row(b"update tasks set title = null returning tenant_id")


# --- distributed by tenant -------------------------------------------------------------------------------------------

_TABLE = re.compile(r"create table (?P<name>[a-z_]+) \((?P<columns>.*?)\n\)(?: with \(fillfactor = \d+\))?;", re.DOTALL)


def partitioned(migration: Migration) -> Migration:
    """The same migration with every table of the tenants in three partitions."""

    def rewrite(match: re.Match[str]) -> str:
        if match["name"] == "tenants":
            return match[0]
        parts = "".join(
            f"\ncreate table {match['name']}_{n} partition of {match['name']}"
            f" for values with (modulus 3, remainder {n});"
            for n in range(3)
        )
        return f"create table {match['name']} ({match['columns']}\n) partition by hash (tenant_id);{parts}"

    return Migration(migration.version, migration.name, _TABLE.sub(rewrite, migration.text))


def test_the_schema_loads_and_upserts_partitioned_by_tenant(empty_database_url: str) -> None:
    with Database(empty_database_url) as database:
        migrate(database, [partitioned(migration) for migration in list_migrations()])
        spread = database.rows(b"select relname from pg_class where relkind = 'p' order by relname")
        assert [row["relname"] for row in spread] == [
            "idempotency_keys",
            "mailbox_health",
            "mailboxes",
            "messages",
            "notifications",
            "projects",
            "task_activity",
            "task_counters",
            "tasks",
        ]
        for number in range(10):  # so many that their random ids do not all fall into one part
            slug = f"tenant-{number}"
            ensure_tenant(database, slug, ["inbox"])
            tasks = TaskStore(database, tenant=slug)
            drafts = [TaskDraft(f"gmail:1#{n}", "A title", project="inbox") for n in range(3)]
            assert tasks.upsert_task(drafts[0], actor="ann").outcome is UpsertOutcome.CREATED
            answers = tasks.upsert_tasks(drafts, actor="ann")
            assert [one.number for one in answers] == [1, 2, 3]
            assert tasks.upsert_task(TaskDraft("GMAIL:1#2", "Other"), actor="ann").number == 3
            assert tasks.create_task(NewTask("A title", parent=2), actor="ann", idempotency_key="k").number == 4
            tasks.delete_task(1, actor="ann")
            assert tasks.upsert_task(drafts[0], actor="ann").number == 5
        parts = database.rows(b"select distinct tableoid::regclass::text as part from tasks")
        assert len(parts) > 1
