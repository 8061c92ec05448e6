"""The ledger, status, schema and tenants from the command line: what is printed, and how it ends. Postgres is real."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fixtures.database import superuser_url
from support.records import RunCommand, records_of

from inbox_loop.embedded.folders import prepare_place
from inbox_loop.embedded.locks import FileLock
from inbox_loop.errors import EXIT_FINE, EXIT_LOOK, EXIT_PERSON, EXIT_USAGE
from inbox_loop.repository.database import Database
from inbox_loop.repository.health import record_heartbeat
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.task import TaskDraft

MESSAGE_KEYS = ["mailbox", "message_id", "thread_id", "ref", "state", "reason", "rule", "attempts", "next_attempt_at"]
MESSAGE_KEYS += ["seen_at", "task_number"]


# --- the ledger -----------------------------------------------------------------------------------------------------


def test_messages_are_listed_as_json_of_a_fixed_shape(run_filled: RunCommand) -> None:
    rows = records_of(run_filled("messages", "list", "--json"))
    assert {row["message_id"]: row["state"] for row in rows} == {
        "a1": "task",
        "a2": "task",
        "a3": "skipped",
        "a4": "quarantined",
        "a5": "gone",
        "a6": "pending",
    }
    assert all(list(row) == MESSAGE_KEYS for row in rows)
    (skipped,) = records_of(run_filled("messages", "list", "--json", "--state", "skipped", "--mailbox", "support"))
    assert (skipped["reason"], skipped["ref"], skipped["task_number"]) == ("bulk", "gmail:f0#a3", None)


def test_what_became_of_a_message_is_told_in_words(run_filled: RunCommand) -> None:
    for message, words in {
        "a1": ["Message a1 of mailbox support", "by a poll", "task 1, which is open", "gmail:f0#a1"],
        "gmail:f0#a3": ["skipped: it makes no task", "newsletter", "policy.skip_bulk"],
        "a4": ["in quarantine", "nested deeper", "Look at it in Gmail"],
        "a5": ["gone from Gmail", "no such message"],
        "a6": ["not read yet, after 1 failed attempts; the next try is due at", "Gmail did not answer"],
    }.items():
        done = run_filled("messages", "explain", message)
        assert done.returncode == EXIT_FINE
        for word in words:
            assert word in done.stdout


def test_the_story_of_a_message_whose_task_was_deleted_says_so(run_filled: RunCommand) -> None:
    run_filled("tasks", "delete", "1")
    (row,) = records_of(run_filled("messages", "explain", "a1", "--json"))
    assert list(row) == [*MESSAGE_KEYS, "explanation"]
    assert "task 1, which is open, deleted on" in str(row["explanation"])


def test_a_message_that_was_never_seen_is_exit_2(run_filled: RunCommand) -> None:
    for message, words in {
        "abc": "no mailbox has seen a message abc",
        "no id": "neither a message id nor a ref",
        "gmail:f0": "is not of the form",
    }.items():
        done = run_filled("messages", "explain", message)
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
    run_filled: RunCommand, filled_url: str, configured: dict[str, str]
) -> None:
    with Database(filled_url) as database:
        good = datetime.now(UTC) - timedelta(seconds=20)
        record_heartbeat(database, "default", "support", daemon="d", last_good_poll_at=good, last_error=None)
    done = run_filled("status", "--json", **configured)
    row, _outbox = records_of(done)
    assert done.returncode == EXIT_LOOK
    assert (row["mailbox"], row["tenant"], row["state"], row["cursor"]) == ("support", "default", "quarantine", "100")
    assert row["messages"] == {"pending": 1, "task": 2, "skipped": 1, "quarantined": 1, "gone": 1}
    age = row["last_good_poll_age_seconds"]
    assert isinstance(age, int)
    assert 20 <= age < 120
    table = run_filled("status", **configured).stdout
    assert "support: See inbox-loop messages list --state quarantined." in table


def test_status_is_exit_3_when_a_mailbox_waits_for_a_person(
    run_filled: RunCommand, filled_url: str, configured: dict[str, str]
) -> None:
    with Database(filled_url) as database:
        record_heartbeat(
            database, "default", "support", daemon="d", last_good_poll_at=None, last_error="mailbox.needs_auth"
        )
    assert run_filled("status", **configured).returncode == EXIT_PERSON
    Path(configured["INBOX_LOOP_MAILBOXES__0__TOKEN_FILE"]).unlink()
    done = run_filled("status", **configured)
    assert done.returncode == EXIT_PERSON
    assert "inbox-loop auth login --mailbox support" in done.stdout


def test_status_shows_mailboxes_that_only_the_database_knows(run_filled: RunCommand) -> None:
    done = run_filled("status", "--json")
    assert done.returncode == EXIT_FINE
    row, _outbox = records_of(done)
    assert (row["mailbox"], row["state"]) == ("support", "not configured")


def test_status_without_a_daemon_says_so_and_is_no_error(
    run_filled: RunCommand, filled_url: str, configured: dict[str, str]
) -> None:
    with Database(filled_url) as database, database.own_connection() as connection:
        connection.execute("delete from messages where state = 'quarantined'")
    done = run_filled("status", **configured)
    assert done.returncode == EXIT_FINE
    assert "no daemon" in done.stdout.splitlines()[1]
    assert "support: Single polls read it" in done.stdout


def test_status_says_since_when_a_daemon_is_silent_and_does_not_repeat_what_it_said(
    run_filled: RunCommand, filled_url: str, configured: dict[str, str]
) -> None:
    with Database(filled_url) as database, database.own_connection() as connection:
        record_heartbeat(
            database, "default", "support", daemon="d", last_good_poll_at=None, last_error="mailbox.needs_auth"
        )
        connection.execute("update mailbox_health set beat_at = '2026-11-30 08:30Z'")
        connection.execute("update mailboxes set cursor_moved_at = '2026-11-30 08:00Z'")
    done = run_filled("status", **configured)
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
    run_filled: RunCommand, filled_url: str, configured: dict[str, str]
) -> None:
    with Database(filled_url) as database:
        ensure_tenant(database, "other", [])
        TaskStore(database, tenant="other").upsert_task(TaskDraft("gmail:f0#a1", "Theirs"), actor="test")
    assert [task["title"] for task in records_of(run_filled("tasks", "list", "--json", "--tenant", "other"))] == [
        "Theirs"
    ]
    only = configured | {"INBOX_LOOP_MAILBOXES__0__TENANT": "other"}
    assert [task["title"] for task in records_of(run_filled("tasks", "list", "--json", **only))] == ["Theirs"]
    several = only | {
        "INBOX_LOOP_MAILBOXES__1__NAME": "sales",
        "INBOX_LOOP_MAILBOXES__1__TOKEN_FILE": "sales.json",
        "INBOX_LOOP_MAILBOXES__1__TENANT": "third",
    }
    done = run_filled("tasks", "list", **several)
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
def test_a_tenant_that_nobody_knows_is_an_error_that_names_the_nearest(run_filled: RunCommand, command: str) -> None:
    done = run_filled(*command.split(), "--tenant", "defualt")
    assert (done.returncode, done.stdout) == (EXIT_USAGE, "")
    assert done.stderr == "inbox-loop: the database has no tenant 'defualt'\n  Did you mean default?\n"
