"""``inbox-loop tasks purge``: only when an age says which, and all of them."""

from __future__ import annotations

import pytest
from support.records import RunCommand, numbers_of, record_of

from inbox_loop.errors import EXIT_FINE, EXIT_USAGE
from inbox_loop.repository.database import Database
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.task import NewTask


@pytest.fixture
def run(run_tasks: RunCommand, database: Database) -> RunCommand:
    """Of either tenant, task 1 was deleted 100 days ago, 2 was done 400 days ago, 3 is open, 4 was just deleted."""
    ensure_tenant(database, "other", [])
    for tenant in ("default", "other"):
        store = TaskStore(database, tenant=tenant)
        for title in ("Deleted", "Done", "Open", "Just deleted"):
            store.create_task(NewTask(title), actor="test")
        store.delete_task(1, actor="test")
        store.finish_task(2, actor="test")
        store.delete_task(4, actor="test")
    with database.own_connection() as connection:
        connection.execute("update tasks set deleted_at = now() - interval '100 days' where number = 1")
        connection.execute("update tasks set completed_at = now() - interval '400 days' where number = 2")
        connection.execute("update notifications set announced_at = now(), delivered_at = now()")
    return run_tasks


def left(run: RunCommand, tenant: str = "default") -> list[int]:
    return numbers_of(run("list", "--deleted", "--json", "--tenant", tenant))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["--deleted-after", "90d"], [4, 3, 2]),
        (["--finished-after", "52w"], [4, 3, 1]),
        (["--deleted-after", "90d", "--finished-after", "365d"], [4, 3]),
        (["--deleted-after", "101d", "--finished-after", "401d"], [4, 3, 2, 1]),
    ],
    ids=lambda value: " ".join(map(str, value)),
)
def test_tasks_of_the_given_ages_are_purged_in_this_tenant_alone(
    run: RunCommand, given: list[str], kept: list[int]
) -> None:
    gone = 4 - len(kept)
    tried = run("purge", *given, "--dry-run", "--json", "--tenant", "default")
    assert (tried.returncode, record_of(tried)) == (EXIT_FINE, {"tenant": "default", "purgeable": gone})
    assert run("purge", *given, "--dry-run").stdout == f"Tasks that would be purged: {gone}\n"
    assert left(run) == [4, 3, 2, 1]
    assert record_of(run("purge", *given, "--json")) == {"tenant": "default", "purged": gone}
    assert left(run) == kept
    assert left(run, "other") == [4, 3, 2, 1]
    assert run("purge", *given).stdout == "Tasks that were purged: 0\n"


def test_the_configured_ages_hold_where_none_is_given(run: RunCommand) -> None:
    ages = {"INBOX_LOOP_RETENTION__DELETED_AFTER": "90d", "INBOX_LOOP_RETENTION__FINISHED_AFTER": "365d"}
    assert run("purge", "--deleted-after", "101d", **ages).stdout == "Tasks that were purged: 1\n"
    assert left(run) == [4, 3, 1]
    assert run("purge", **ages).stdout == "Tasks that were purged: 1\n"


def test_without_any_age_nothing_is_purged_and_the_options_are_named(run: RunCommand) -> None:
    for given in ([], ["--dry-run"]):
        done = run("purge", *given, "--json")
        assert (done.returncode, record_of(done)["error"]) == (EXIT_USAGE, "usage")
        assert "--deleted-after or --finished-after" in done.stderr
        assert "[retention]" in done.stderr
    assert left(run) == [4, 3, 2, 1]


def test_an_age_that_is_none_is_exit_2(run: RunCommand) -> None:
    for option in ("--deleted-after", "--finished-after"):
        for age in ("0d", "-1d", "90", "2026-01-01", "", "soon", "9999999999999d"):
            done = run("purge", option, age, "--json")
            assert (done.returncode, record_of(done)["error"]) == (EXIT_USAGE, "usage")
            assert option in done.stderr
    assert left(run) == [4, 3, 2, 1]


def test_more_than_a_batch_is_purged_to_the_last(run: RunCommand, database: Database) -> None:
    with database.own_connection() as connection:
        connection.execute(
            "insert into tasks (tenant_id, number, title, deleted_at)"
            " select tenant_id, n, 'x', now() - interval '1 year'"
            " from tenants, generate_series(1001, 3500) as n where slug = 'default'"
        )
    assert record_of(run("purge", "--deleted-after", "90d", "--json"))["purged"] == 2501
    assert left(run) == [4, 3, 2]
