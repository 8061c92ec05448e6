"""Commands over the database: what they print, and how they end. Postgres is real."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fixtures.database import superuser_url

from inbox_loop.embedded.folders import prepare_place
from inbox_loop.embedded.locks import FileLock
from inbox_loop.errors import EXIT_FINE, EXIT_LOOK, EXIT_PERSON, EXIT_USAGE
from inbox_loop.loop.ports import DateRange, FoundBy, MessageId, MessageState, Outcome, StoreTransaction
from inbox_loop.repository.database import Database
from inbox_loop.repository.health import record_heartbeat
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.task import TaskDraft

RunCommand = Callable[..., subprocess.CompletedProcess[str]]

HOSTILE = "Grüße \x1b]0;owned\x07\x1b[2J\u202e [bold]日本"
TASK_KEYS = ["id", "number", "tenant", "project", "title", "status", "labels", "external_ref", "container_ref"]
TASK_KEYS += ["created_at", "updated_at", "completed_at", "deleted_at", "source"]
MESSAGE_KEYS = ["mailbox", "message_id", "thread_id", "ref", "state", "reason", "attempts", "next_attempt_at"]
MESSAGE_KEYS += ["seen_at", "task_number"]


@pytest.fixture
def filled_url(database_url: str) -> str:
    """A tenant whose mailbox ``support`` has a message in each state; two of them came to tasks."""
    with Database(database_url) as database:
        ensure_tenant(database, "default", ["desk"])
        store = PostgresLoopStore(database, tenant="default", mailbox="support", project="desk")
        store.create_mailbox("support@example.com", 100, "sign-in 1")
        store.in_transaction(fill)
    return database_url


def fill(tx: StoreTransaction) -> None:
    ids = [f"a{number}" for number in range(1, 7)]
    tx.record_discovered([MessageId(message_id, "f0") for message_id in ids], FoundBy.POLL, DateRange())
    drafts = [
        TaskDraft(
            f"gmail:f0#{message_id}",
            title,
            body=f"first line of {message_id}\n\x1b[31msecond",
            container_ref="gmail:f0",
            source={"mailbox": "support", "from": "Kim <kim@example.org>"},
        )
        for message_id, title in (("a1", "Invoice"), ("a2", HOSTILE))
    ]
    first, second = tx.upsert_tasks(drafts)
    outcomes = [
        Outcome("a1", 1, MessageState.TASK, task_id=first.task_id),
        Outcome("a2", 1, MessageState.TASK, task_id=second.task_id),
        Outcome("a3", 1, MessageState.SKIPPED, "bulk"),
        Outcome("a4", 1, MessageState.QUARANTINED, "too_deep"),
        Outcome("a5", 1, MessageState.GONE, "not_found"),
        Outcome("a6", 1, MessageState.PENDING, "gmail.unreachable", retry_in=timedelta(hours=1)),
    ]
    assert len(tx.record_outcomes(outcomes)) == 6


@pytest.fixture
def run(run_inside: RunCommand, filled_url: str) -> RunCommand:
    """Runs a command against the filled database."""

    def against(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return run_inside(*arguments, **({"INBOX_LOOP_DATABASE__URL": filled_url} | variables))

    return against


def records_of(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


# --- tasks ----------------------------------------------------------------------------------------------------------


def test_tasks_are_listed_newest_first_as_json_of_a_fixed_shape(run_command: RunCommand, filled_url: str) -> None:
    done = run_command("tasks", "list", "--json", INBOX_LOOP_DATABASE__URL=filled_url, LANG="C", LC_ALL="C")
    assert (done.returncode, done.stderr) == (EXIT_FINE, "")
    second, first = records_of(done)
    assert list(first) == TASK_KEYS
    assert (first["number"], first["tenant"], first["project"], first["status"]) == (1, "default", "desk", "open")
    assert (first["external_ref"], first["container_ref"]) == ("gmail:f0#a1", "gmail:f0")
    assert str(first["created_at"]).endswith("Z")
    assert first["completed_at"] is first["deleted_at"] is None
    assert second["title"] == HOSTILE


def test_a_subject_can_not_act_on_a_terminal_under_any_locale(run_command: RunCommand, filled_url: str) -> None:
    done = run_command("tasks", "list", INBOX_LOOP_DATABASE__URL=filled_url, LANG="C", LC_ALL="C")
    assert done.returncode == EXIT_FINE
    assert r"Grüße \x1b]0;owned\x07\x1b[2J\u202e [bold]日本" in done.stdout
    assert "\x1b" not in done.stdout


def test_tasks_are_filtered_by_status_mailbox_and_number(run: RunCommand) -> None:
    assert len(records_of(run("tasks", "list", "--json", "--status", "open", "--mailbox", "support"))) == 2
    assert records_of(run("tasks", "list", "--json", "--status", "done", "--status", "blocked")) == []
    assert [task["number"] for task in records_of(run("tasks", "list", "--json", "--limit", "1"))] == [2]


def test_a_mailbox_that_nobody_knows_is_an_error_and_not_an_empty_list(run: RunCommand) -> None:
    for command in (["tasks", "list"], ["messages", "list"], ["messages", "explain", "a1"]):
        done = run(*command, "--mailbox", "suport")
        assert done.returncode == EXIT_USAGE
        assert done.stderr == "inbox-loop: no mailbox is called 'suport'\n  Did you mean support?\n"


def test_a_task_is_shown_by_number_or_ref_with_body_and_activity(run: RunCommand) -> None:
    (task,) = records_of(run("tasks", "show", "1", "--json"))
    for name in ("#1", "gmail:f0#a1", "GMAIL:F0#A1"):
        assert records_of(run("tasks", "show", name, "--json")) == [task]
    assert list(task) == [*TASK_KEYS, "parent", "body", "activity"]
    assert task["body"] == "first line of a1\n\x1b[31msecond"
    assert isinstance(task["activity"], list)
    assert [(each["kind"], each["actor"]) for each in task["activity"]] == [("created", "mailbox support")]


def test_a_shown_task_keeps_the_lines_of_its_body_and_nothing_that_acts(run: RunCommand) -> None:
    done = run("tasks", "show", "2")
    assert done.stdout.startswith(r"Task 2: Grüße \x1b]0;owned")
    assert done.stdout.endswith("\nfirst line of a2\n\\x1b[31msecond\n")
    assert "kim@example.org" in done.stdout


def test_a_task_that_is_not_there_is_exit_2(run: RunCommand) -> None:
    for name, words in {
        "99": "has no task 99",
        "99999999999999999999999": "has no task",
        "gmail:f0#a9": "has no task with this external_ref",
        "gmail:f0": "does not name a message",
        "": "external_ref is empty",
    }.items():
        done = run("tasks", "show", name)
        assert (done.returncode, done.stdout) == (EXIT_USAGE, "")
        assert words in done.stderr


def test_a_deleted_task_is_listed_when_asked_for_and_shown_by_number(run: RunCommand) -> None:
    assert run("tasks", "delete", "gmail:f0#a1").stdout == "Task 1 is deleted.\n"
    assert [task["number"] for task in records_of(run("tasks", "list", "--json"))] == [2]
    assert len(records_of(run("tasks", "list", "--json", "--deleted"))) == 2
    (task,) = records_of(run("tasks", "show", "1", "--json"))
    assert task["deleted_at"] is not None
    by_ref = run("tasks", "show", "gmail:f0#a1")
    assert by_ref.returncode == EXIT_USAGE
    assert "It was task 1." in by_ref.stderr


# --- the ledger -----------------------------------------------------------------------------------------------------


def test_messages_are_listed_as_json_of_a_fixed_shape(run: RunCommand) -> None:
    rows = records_of(run("messages", "list", "--json"))
    assert {row["message_id"]: row["state"] for row in rows} == {
        "a1": "task",
        "a2": "task",
        "a3": "skipped",
        "a4": "quarantined",
        "a5": "gone",
        "a6": "pending",
    }
    assert all(list(row) == MESSAGE_KEYS for row in rows)
    (skipped,) = records_of(run("messages", "list", "--json", "--state", "skipped", "--mailbox", "support"))
    assert (skipped["reason"], skipped["ref"], skipped["task_number"]) == ("bulk", "gmail:f0#a3", None)


def test_what_became_of_a_message_is_told_in_words(run: RunCommand) -> None:
    for message, words in {
        "a1": ["Message a1 of mailbox support", "by a poll", "task 1, which is open", "gmail:f0#a1"],
        "gmail:f0#a3": ["skipped: it makes no task", "newsletter", "policy.skip_bulk"],
        "a4": ["in quarantine", "nested deeper", "Look at it in Gmail"],
        "a5": ["gone from Gmail", "no such message"],
        "a6": ["not read yet, after 1 failed attempts; the next try is due at", "Gmail did not answer"],
    }.items():
        done = run("messages", "explain", message)
        assert done.returncode == EXIT_FINE
        for word in words:
            assert word in done.stdout


def test_the_story_of_a_message_whose_task_was_deleted_says_so(run: RunCommand) -> None:
    run("tasks", "delete", "1")
    (row,) = records_of(run("messages", "explain", "a1", "--json"))
    assert list(row) == [*MESSAGE_KEYS, "explanation"]
    assert "task 1, which is open, deleted on" in str(row["explanation"])


def test_a_message_that_was_never_seen_is_exit_2(run: RunCommand) -> None:
    for message, words in {
        "abc": "no mailbox has seen a message abc",
        "no id": "neither a message id nor a ref",
        "gmail:f0": "is not of the form",
    }.items():
        done = run("messages", "explain", message)
        assert (done.returncode, done.stdout) == (EXIT_USAGE, "")
        assert words in done.stderr


# --- status ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def configured(tmp_path: Path) -> dict[str, str]:
    """The mailbox ``support``, signed in."""
    token = tmp_path / "token.json"
    content = {"client_id": "i", "client_secret": "s", "refresh_token": "r", "token_uri": "http://127.0.0.1:1/token"}
    token.write_text(json.dumps(content), encoding="utf-8")
    token.chmod(0o600)
    return {
        "INBOX_LOOP_MAILBOXES__0__NAME": "support",
        "INBOX_LOOP_MAILBOXES__0__TOKEN_FILE": str(token),
        "INBOX_LOOP_MAILBOXES__0__PROJECT": "desk",
    }


def test_status_counts_messages_and_is_exit_1_while_some_are_in_quarantine(
    run: RunCommand, filled_url: str, configured: dict[str, str]
) -> None:
    with Database(filled_url) as database:
        good = datetime.now(UTC) - timedelta(seconds=20)
        record_heartbeat(database, "default", "support", daemon="d", last_good_poll_at=good, last_error=None)
    done = run("status", "--json", **configured)
    row, _outbox = records_of(done)
    assert done.returncode == EXIT_LOOK
    assert (row["mailbox"], row["tenant"], row["state"], row["cursor"]) == ("support", "default", "quarantine", "100")
    assert row["messages"] == {"pending": 1, "task": 2, "skipped": 1, "quarantined": 1, "gone": 1}
    age = row["last_good_poll_age_seconds"]
    assert isinstance(age, int)
    assert 20 <= age < 120
    table = run("status", **configured).stdout
    assert "support: See inbox-loop messages list --state quarantined." in table


def test_status_is_exit_3_when_a_mailbox_waits_for_a_person(
    run: RunCommand, filled_url: str, configured: dict[str, str]
) -> None:
    with Database(filled_url) as database:
        record_heartbeat(
            database, "default", "support", daemon="d", last_good_poll_at=None, last_error="mailbox.needs_auth"
        )
    assert run("status", **configured).returncode == EXIT_PERSON
    Path(configured["INBOX_LOOP_MAILBOXES__0__TOKEN_FILE"]).unlink()
    done = run("status", **configured)
    assert done.returncode == EXIT_PERSON
    assert "inbox-loop auth login --mailbox support" in done.stdout


def test_status_shows_mailboxes_that_only_the_database_knows(run: RunCommand) -> None:
    done = run("status", "--json")
    assert done.returncode == EXIT_FINE
    row, _outbox = records_of(done)
    assert (row["mailbox"], row["state"]) == ("support", "not configured")


def test_status_without_a_daemon_says_so_and_is_no_error(
    run: RunCommand, filled_url: str, configured: dict[str, str]
) -> None:
    with Database(filled_url) as database, database.own_connection() as connection:
        connection.execute("delete from messages where state = 'quarantined'")
    done = run("status", **configured)
    assert done.returncode == EXIT_FINE
    assert "no daemon" in done.stdout.splitlines()[1]
    assert "support: Single polls read it" in done.stdout


def test_status_says_since_when_a_daemon_is_silent_and_does_not_repeat_what_it_said(
    run: RunCommand, filled_url: str, configured: dict[str, str]
) -> None:
    with Database(filled_url) as database, database.own_connection() as connection:
        record_heartbeat(
            database, "default", "support", daemon="d", last_good_poll_at=None, last_error="mailbox.needs_auth"
        )
        connection.execute("update mailbox_health set beat_at = '2026-11-30 08:30Z'")
        connection.execute("update mailboxes set cursor_moved_at = '2026-11-30 08:00Z'")
    done = run("status", **configured)
    assert done.returncode == EXIT_LOOK
    assert "silent" in done.stdout.splitlines()[1]
    assert "support: No daemon has spoken of it since 2026-11-30 08:30:00Z. Check that inbox-loop run" in done.stdout
    assert "needs_auth" not in done.stdout


# --- the schema -----------------------------------------------------------------------------------------------------


def test_an_outdated_database_is_refused_with_the_command_to_type_and_works_after_it(
    run_inside: RunCommand, empty_database_url: str
) -> None:
    url = {"INBOX_LOOP_DATABASE__URL": empty_database_url}
    refused = run_inside("tasks", "list", **url)
    assert refused.returncode == EXIT_USAGE
    assert "inbox-loop db migrate" in refused.stderr
    before = run_inside("db", "status", "--json", **url)
    assert before.returncode == EXIT_LOOK
    (status,) = records_of(before)
    assert (status["version"], status["up_to_date"]) == (0, False)
    migrated = records_of(run_inside("db", "migrate", "--json", **url))
    assert [migration["version"] for migration in migrated] == list(range(1, len(migrated) + 1))
    assert run_inside("db", "migrate", **url).stdout == f"The schema is at version {len(migrated)}.\n"
    after = run_inside("db", "status", **url)
    assert (after.returncode, after.stdout) == (
        EXIT_FINE,
        f"The schema is at version {len(migrated)}, up to date.\nThe walls between tenants hold the database user.\n",
    )
    assert records_of(run_inside("tasks", "list", "--json", **url)) == []


def test_a_database_user_whom_the_walls_between_tenants_do_not_hold_is_told_so(
    run_inside: RunCommand, database_url: str
) -> None:
    for url, hold, words in (
        (database_url, True, "The walls between tenants hold the database user."),
        (
            superuser_url(database_url),
            False,
            "The database user passes by the walls between tenants: it is a superuser",
        ),
    ):
        done = run_inside("db", "status", INBOX_LOOP_DATABASE__URL=url)
        assert done.returncode == EXIT_FINE
        assert done.stdout.splitlines()[1].startswith(words)
        (status,) = records_of(run_inside("db", "status", "--json", INBOX_LOOP_DATABASE__URL=url))
        assert status["walls_hold"] is hold


@pytest.fixture
def data_folder() -> Iterator[Path]:
    """A folder for a private Postgres, gone after the test together with the server."""
    with tempfile.TemporaryDirectory(prefix="inbox-loop-commands-") as name:
        folder = Path(name)
        folder.chmod(0o711)  # run by root, Postgres is another user and must pass through
        yield folder / "data"
        with FileLock(prepare_place(folder / "data").supervisor_lock) as supervisor:
            assert supervisor.wait_exclusive(seconds=30)


def test_the_private_postgres_starts_and_is_brought_up_to_date_by_itself(
    run_command: RunCommand, data_folder: Path
) -> None:
    done = run_command("tasks", "list", "--json", INBOX_LOOP_DATABASE__DATA_FOLDER=str(data_folder))
    assert (done.returncode, done.stdout, done.stderr) == (EXIT_FINE, "", "")


# --- tenants --------------------------------------------------------------------------------------------------------


def test_tenants_do_not_see_each_other_and_several_must_be_told_apart(
    run: RunCommand, filled_url: str, configured: dict[str, str]
) -> None:
    with Database(filled_url) as database:
        ensure_tenant(database, "other", [])
        TaskStore(database, tenant="other").upsert_task(TaskDraft("gmail:f0#a1", "Theirs"), actor="test")
    assert [task["title"] for task in records_of(run("tasks", "list", "--json", "--tenant", "other"))] == ["Theirs"]
    only = configured | {"INBOX_LOOP_MAILBOXES__0__TENANT": "other"}
    assert [task["title"] for task in records_of(run("tasks", "list", "--json", **only))] == ["Theirs"]
    several = only | {
        "INBOX_LOOP_MAILBOXES__1__NAME": "sales",
        "INBOX_LOOP_MAILBOXES__1__TOKEN_FILE": "sales.json",
        "INBOX_LOOP_MAILBOXES__1__TENANT": "third",
    }
    done = run("tasks", "list", **several)
    assert done.returncode == EXIT_USAGE
    assert done.stderr == (
        "inbox-loop: the configured mailboxes belong to several tenants: other, third\n  Say which: --tenant NAME.\n"
    )


@pytest.mark.parametrize(
    "command",
    [
        "status",
        "tasks list",
        "tasks count",
        "tasks show 1",
        "tasks create --title x",
        "tasks upsert --ref gmail:f0#a1 --title x",
        "tasks update 1 --title x",
        "tasks finish 1",
        "tasks cancel 1",
        "tasks delete 1",
        "tasks restore 1",
        "tasks purge --deleted-after 90d",
        "messages list",
        "messages explain a1",
    ],
)
def test_a_tenant_that_nobody_knows_is_an_error_that_names_the_nearest(run: RunCommand, command: str) -> None:
    done = run(*command.split(), "--tenant", "defualt")
    assert (done.returncode, done.stdout) == (EXIT_USAGE, "")
    assert done.stderr == "inbox-loop: the database has no tenant 'defualt'\n  Did you mean default?\n"
