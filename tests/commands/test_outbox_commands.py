"""The outbox on the command line: status counts, list shows what waits and what was given up, retry begins anew."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from datetime import timedelta

import psycopg
import pytest
from support.listening import heard, listener
from support.receiver import SECRET

from inbox_loop.errors import EXIT_FINE, EXIT_LOOK, EXIT_USAGE
from inbox_loop.repository.database import Database
from inbox_loop.repository.outbox import PostgresOutbox
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.task import TaskDraft

RunCommand = Callable[..., subprocess.CompletedProcess[str]]
WEBHOOK = {
    "INBOX_LOOP_OUTBOX__WEBHOOK_URL": "https://hooks.example.com/s3cret-path",
    "INBOX_LOOP_OUTBOX__WEBHOOK_SECRET": SECRET,
}
KEYS = ["event_id", "topic", "tenant", "task_number", "state", "attempts", "next_attempt_at", "last_error"]
KEYS += ["created_at", "announced_at", "gave_up_at"]


@pytest.fixture
def run(run_inside: RunCommand, database_url: str) -> RunCommand:
    """Runs a command against a database with three tasks: one delivery given up, one failed, one never tried."""
    with Database(database_url) as database:
        ensure_tenant(database, "default", [])
        for name in ("a", "b", "c"):
            TaskStore(database, tenant="default").upsert_task(TaskDraft(f"gmail:1#{name}", "Title"), actor="ann")
        outbox = PostgresOutbox(database)
        outbox.announce(10)
        given_up, failed = outbox.claim_due(2, timedelta(minutes=1))
        outbox.record_given_up(given_up, "http_410")
        outbox.record_failed(failed, "timeout", timedelta(hours=1))

    def against(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return run_inside(*arguments, **({"INBOX_LOOP_DATABASE__URL": database_url} | variables))

    return against


def records_of(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def outbox_of(done: subprocess.CompletedProcess[str]) -> dict[str, object]:
    (found,) = (record["outbox"] for record in records_of(done) if "outbox" in record)
    assert isinstance(found, dict)
    return found


def test_the_list_shows_what_was_given_up_and_what_waits(run: RunCommand) -> None:
    records = records_of(run("outbox", "list", "--json", **WEBHOOK))
    assert [list(record) for record in records] == [KEYS] * 3
    told = [(each["task_number"], each["state"], each["attempts"], each["last_error"]) for each in records]
    assert told == [(1, "given up", 1, "http_410"), (3, "waiting", 0, None), (2, "waiting", 1, "timeout")]
    assert records[0]["next_attempt_at"] is None
    table = run("outbox", "list", **WEBHOOK).stdout.splitlines()
    assert table[0].split() == ["TASK", "TENANT", "STATE", "ATTEMPTS", "NEXT", "TRY", "LAST", "ERROR"]
    assert table[1].split() == ["1", "default", "given", "up", "1", "-", "http_410"]
    assert len(records_of(run("outbox", "list", "--json", "--limit", "1", **WEBHOOK))) == 1


def test_retry_sets_what_was_given_up_going_again(run: RunCommand) -> None:
    assert run("outbox", "retry", **WEBHOOK).stdout == "1 delivery is tried again.\n"
    assert records_of(run("outbox", "retry", "--json", **WEBHOOK)) == [{"retried": 0}]
    first, *_ = records_of(run("outbox", "list", "--json", **WEBHOOK))
    assert (first["task_number"], first["state"], first["attempts"]) == (3, "waiting", 0)
    assert outbox_of(run("status", "--json", **WEBHOOK))["waiting"] == 3


def test_status_is_exit_1_for_as_long_as_something_is_given_up(run: RunCommand) -> None:
    done = run("status", "--json", **WEBHOOK)
    assert done.returncode == EXIT_LOOK
    told = outbox_of(done)
    assert (told["waiting"], told["given_up"]) == (2, 1)
    age = told["oldest_waiting_age_seconds"]
    assert isinstance(age, int)
    assert 0 <= age < 60
    line = run("status", **WEBHOOK).stdout.splitlines()[-1]
    assert line.startswith("Outbox: 2 waiting, the oldest for ")
    assert line.endswith("; 1 given up. See inbox-loop outbox list.")
    run("outbox", "retry", **WEBHOOK)
    assert run("status", **WEBHOOK).returncode == EXIT_FINE


def test_retry_without_a_webhook_is_refused_since_nobody_would_post(run: RunCommand) -> None:
    done = run("outbox", "retry")
    assert done.returncode == EXIT_USAGE
    assert "outbox.webhook_url is not set" in done.stderr
    assert "--config" in done.stderr
    assert outbox_of(run("status", "--json"))["given_up"] == 1


def test_without_a_tenant_list_retry_and_status_speak_of_every_tenant(run: RunCommand, database_url: str) -> None:
    with Database(database_url) as database:
        ensure_tenant(database, "elsewhere", [])
        TaskStore(database, tenant="elsewhere").upsert_task(TaskDraft("gmail:1#a", "Title"), actor="ann")
        outbox = PostgresOutbox(database)
        (theirs,) = (each for each in outbox.claim_due(10, timedelta(minutes=1)) if each.tenant == "elsewhere")
        outbox.record_given_up(theirs, "timeout")
    listed = records_of(run("outbox", "list", "--json", **WEBHOOK))
    assert {each["tenant"] for each in listed} == {"default", "elsewhere"}
    assert outbox_of(run("status", "--json", **WEBHOOK))["given_up"] == 2
    assert outbox_of(run("status", "--json", "--tenant", "default", **WEBHOOK))["given_up"] == 1
    assert records_of(run("outbox", "retry", "--json", "--tenant", "elsewhere", **WEBHOOK)) == [{"retried": 1}]
    assert records_of(run("outbox", "retry", "--json", **WEBHOOK)) == [{"retried": 1}]


LATE = "That is too long: see that inbox-loop run is running"


def test_status_is_exit_1_when_something_has_waited_for_more_than_15_minutes(
    run: RunCommand, database_url: str
) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("update notifications set gave_up_at = null, created_at = now() - interval '14 minutes'")
        assert run("status", **WEBHOOK).returncode == EXIT_FINE
        connection.execute("update notifications set created_at = now() - interval '16 minutes'")
        done = run("status", **WEBHOOK)
        assert done.returncode == EXIT_LOOK
        assert LATE in done.stdout
        assert run("status").returncode == EXIT_FINE  # they are announced, and there is no receiver
        connection.execute("update notifications set announced_at = null, delivered_at = now()")
        for variables in ({}, WEBHOOK):
            done = run("status", **variables)
            assert done.returncode == EXIT_LOOK
            assert LATE in done.stdout


def test_without_a_webhook_nobody_waits_for_a_delivery(run: RunCommand, database_url: str) -> None:
    assert run("status").returncode == EXIT_FINE
    assert outbox_of(run("status", "--json")) == {
        "waiting": 0,
        "oldest_waiting_at": None,
        "oldest_waiting_age_seconds": None,
        "given_up": 1,
    }
    with psycopg.connect(database_url) as connection:
        connection.execute("select * from task_upsert_by_external_ref('default', 'gmail:1#d', 'A title')")
    assert outbox_of(run("status", "--json"))["waiting"] == 1  # to be announced


@pytest.mark.parametrize("command", ["list", "retry"])
def test_a_tenant_that_is_not_there_is_told_as_such(run: RunCommand, command: str) -> None:
    done = run("outbox", command, "--tenant", "no-such", **WEBHOOK)
    assert done.returncode == EXIT_USAGE
    assert "the database has no tenant 'no-such'" in done.stderr


def test_a_command_that_creates_announces_at_its_end(run: RunCommand, database_url: str) -> None:
    with listener(database_url) as session:
        run("tasks", "create", "--title", "From the command line")
        (announced,) = heard(session, count=1)
    assert announced["number"] == 4


def test_a_command_that_can_not_announce_has_done_its_work_all_the_same(run: RunCommand, database_url: str) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute(
            """
            create function refuse() returns trigger language plpgsql as 'begin raise exception ''no''; end';
            create trigger refuse before update on notifications for each row execute function refuse();
            """
        )
    done = run("tasks", "create", "--title", "From the command line", INBOX_LOOP_LOG__FORMAT="json")
    assert done.returncode == EXIT_FINE
    assert "4" in done.stdout
    (line,) = (json.loads(each) for each in done.stderr.splitlines())
    assert (line["event"], line["level"], line["step"]) == ("outbox.interrupted", "warning", "announce")


# --- settings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"INBOX_LOOP_OUTBOX__WEBHOOK_SECRET": ""}, "outbox.webhook_secret: is missing; outbox.webhook_url needs it"),
        (
            {"INBOX_LOOP_OUTBOX__WEBHOOK_SECRET": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
            "WEBHOOK_SECRET: is a published example",
        ),
        ({"INBOX_LOOP_OUTBOX__WEBHOOK_SECRET": "s3cret"}, 'WEBHOOK_SECRET: must be "whsec_" and 24 to 64 random bytes'),
        ({"INBOX_LOOP_OUTBOX__WEBHOOK_SECRET": "whsec_s3cret=="}, 'WEBHOOK_SECRET: must be "whsec_" and 24 to 64'),
        ({"INBOX_LOOP_OUTBOX__WEBHOOK_URL": "http://hooks.example.com/s3cret"}, "WEBHOOK_URL: must be an https:// URL"),
        ({"INBOX_LOOP_OUTBOX__WEBHOOK_URL": "s3cret"}, "WEBHOOK_URL: must be an https:// URL"),
        ({"INBOX_LOOP_OUTBOX__WEBHOOK_URL": "https://me:s3cret@example.com"}, "WEBHOOK_URL: must not hold a user name"),
        ({"INBOX_LOOP_OUTBOX__WEBHOOK_URL": "https://example.com/s3cret x"}, "WEBHOOK_URL: must hold neither blanks"),
    ],
)
def test_a_webhook_that_can_not_be_used_is_a_problem_of_the_configuration(
    run_inside: RunCommand, changed: dict[str, str], problem: str
) -> None:
    done = run_inside("outbox", "list", **(WEBHOOK | changed))
    assert done.returncode == EXIT_USAGE
    assert problem in done.stderr
    assert "s3cret" not in done.stderr


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080/hook", "http://localhost/hook", "https://hooks.example.com"])
def test_a_webhook_is_posted_to_over_https_or_on_this_machine(run: RunCommand, url: str) -> None:
    done = run("outbox", "list", **(WEBHOOK | {"INBOX_LOOP_OUTBOX__WEBHOOK_URL": url}))
    assert done.returncode == EXIT_FINE
