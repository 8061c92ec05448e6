"""``inbox-loop tasks list`` and ``count``: the filters, which both share, and the pages."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from support.records import RunCommand, numbers_of, record_of

from inbox_loop.errors import EXIT_FINE, EXIT_USAGE
from inbox_loop.repository.database import Database
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.task import NewTask, TaskDraft

HOSTILE = "Grüße \x1b]0;owned\x07\x1b[2J\u202e\u2066 [bold]\r\n100%_日本"


@pytest.fixture(scope="module")
def filled_url(make_module_database: Callable[[str], str], template: str) -> str:
    """Four tasks, one of which is deleted: of two days, threads, labels, mailboxes and statuses. Only read here."""
    url = make_module_database(template)
    with Database(url) as database:
        for tenant in ("default", "other"):
            ensure_tenant(database, tenant, [])
            fill(database, tenant)
        with database.own_connection() as connection:
            connection.execute("update tasks set created_at = now() - interval '10 days' where number = 1")
    return url


def fill(database: Database, tenant: str) -> None:
    PostgresLoopStore(database, tenant=tenant, mailbox="support", project=None).create_mailbox(
        f"support@{tenant}.example", 1, "sign-in 1"
    )
    store = TaskStore(database, tenant=tenant)
    source = {"mailbox": "support"}
    store.upsert_task(TaskDraft("gmail:f0#a1", HOSTILE, container_ref="gmail:f0", source=source), actor="test")
    store.upsert_task(TaskDraft("gmail:f0#a2", "Second", container_ref="gmail:f0", labels=("a", "b")), actor="test")
    store.create_task(NewTask("Third", body="the INVOICE\nof May", labels=("a",)), actor="test")
    store.create_task(NewTask("Fourth"), actor="test")
    store.finish_task(2, actor="test")
    store.delete_task(4, actor="test")


@pytest.fixture
def filled(run_inside: RunCommand, filled_url: str) -> RunCommand:
    """Runs ``inbox-loop tasks`` against the filled database."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return run_inside("tasks", *arguments, **({"INBOX_LOOP_DATABASE__URL": filled_url} | variables))

    return run


@pytest.mark.parametrize(
    ("given", "numbers"),
    [
        ([], [3, 2, 1]),
        (["--deleted"], [4, 3, 2, 1]),
        (["--status", "open"], [3, 1]),
        (["--status", "open", "--status", "done"], [3, 2, 1]),
        (["--status", "cancelled"], []),
        (["--label", "a"], [3, 2]),
        (["--label", "a", "--label", "b"], [2]),
        (["--label", "A"], []),
        (["--container-ref", "GMAIL:F0"], [2, 1]),
        (["--container-ref", "gmail:f0", "--status", "done"], [2]),
        (["--mailbox", "support"], [1]),
        (["--text", "invoice"], [3]),
        (["--text", "SECOND"], [2]),
        (["--text", "100%_日"], [1]),
        (["--text", "%"], [1]),
        (["--since", "7d"], [3, 2]),
        (["--since", "11d"], [3, 2, 1]),
        (["--since", "1970-01-01"], [3, 2, 1]),
        (["--since", "9998-12-31T23:00:00Z"], []),
    ],
    ids=str,
)
def test_list_and_count_mean_the_same_tasks(filled: RunCommand, given: list[str], numbers: list[int]) -> None:
    assert numbers_of(filled("list", *given, "--json")) == numbers
    assert record_of(filled("count", *given, "--json")) == {"count": len(numbers)}
    assert filled("count", *given).stdout == f"{len(numbers)}\n"


def test_since_takes_an_age_a_date_and_a_moment_by_utc(filled: RunCommand) -> None:
    then = datetime.now(UTC) - timedelta(days=10)
    just_before, just_after = then - timedelta(minutes=1), then + timedelta(minutes=1)
    in_delhi = just_before + timedelta(hours=5, minutes=30)
    for since, count in {
        just_before.isoformat(): 3,
        just_after.isoformat().replace("+00:00", "Z"): 2,
        f"{in_delhi:%Y-%m-%dT%H:%M:%S}+05:30": 3,
        f"{then:%Y-%m-%d}": 3,
        f"{then + timedelta(days=1):%Y-%m-%d}": 2,
        "241h": 3,
        "239h": 2,
    }.items():
        assert record_of(filled("count", "--since", since, "--json", TZ="Asia/Kolkata")) == {"count": count}, since


def test_a_since_that_means_nothing_is_exit_2_and_says_what_it_may_be(filled: RunCommand) -> None:
    for since in ("yesterday", "", "7", "-7d", "0d", "7 parsecs", "9999999999d", "1969-12-31", "12:30"):
        done = filled("list", "--since", since, "--json")
        assert (done.returncode, record_of(done)["error"]) == (EXIT_USAGE, "usage")
        assert done.stderr.startswith("inbox-loop: --since: ")
        assert len(done.stderr.splitlines()) == 2
    assert filled("count", "--since", "yesterday").returncode == EXIT_USAGE


def test_a_filter_that_can_not_be_stored_is_exit_2(filled: RunCommand) -> None:
    for given in (["--text", "\udce9"], ["--label", "\ud800"], ["--container-ref", "a\x00b"]):
        assert record_of(filled("list", *given, "--json"))["error"] in ("value.invalid", "ref.invalid")


def test_a_title_can_not_act_on_a_terminal_or_break_a_table(filled: RunCommand) -> None:
    done = filled("list")
    assert len(done.stdout.splitlines()) == 4
    assert done.stdout.splitlines()[-1].endswith(r"Grüße \x1b]0;owned\x07\x1b[2J\u202e\u2066 [bold]\r\n100%_日本")
    shown = filled("show", "1")
    assert not {"\x1b", "\x07", "\u202e", "\u2066", "\r"} & set(done.stdout + shown.stdout)
    assert r"\x1b]0;owned" in shown.stdout


def test_the_pages_of_120_tasks_leave_none_out_and_tell_none_twice(run_tasks: RunCommand, database: Database) -> None:
    store = TaskStore(database, tenant="default")
    store.upsert_tasks([TaskDraft(f"test:{number}", f"Task {number}") for number in range(1, 121)], actor="test")
    store.delete_task(60, actor="test")
    page = ["list", "--limit", "50", "--json"]
    first = numbers_of(run_tasks(*page))
    store.create_task(NewTask("Meanwhile"), actor="test")
    second = numbers_of(run_tasks(*page, "--before", str(first[-1])))
    third = numbers_of(run_tasks(*page, "--before", str(second[-1])))
    assert first + second + third == [number for number in range(120, 0, -1) if number != 60]
    assert numbers_of(run_tasks(*page, "--before", str(third[-1]))) == []


def test_a_full_page_says_how_to_ask_for_the_next_one(filled: RunCommand) -> None:
    full = filled("list", "--limit", "2")
    assert (full.returncode, full.stderr) == (EXIT_FINE, "There may be more: the same again with --before 2\n")
    assert filled("list", "--limit", "4").stderr == ""
    assert filled("list", "--limit", "2", "--json").stderr == ""


def test_a_page_that_can_not_be_is_exit_2(filled: RunCommand) -> None:
    for given in (
        ["--limit", "0"],
        ["--limit", "10001"],
        ["--before", "0"],
        ["--before", "x"],
        ["--before", "9" * 19],
        ["--before", "9" * 5000],
    ):
        done = filled("list", *given, "--json")
        assert (done.returncode, record_of(done)["error"]) == (EXIT_USAGE, "usage"), given
    assert numbers_of(filled("list", "--before", "9" * 18, "--json")) == [3, 2, 1]
