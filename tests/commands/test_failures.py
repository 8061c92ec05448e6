"""A failed command tells a program that asks for JSON what it tells a person, as a record."""

from __future__ import annotations

import pytest
import structlog
from support.records import RunCommand, record_of

from inbox_loop.commands import app as command_line
from inbox_loop.commands import tasks_list
from inbox_loop.commands.failure import error_record
from inbox_loop.errors import (
    EXIT_LOOK,
    EXIT_UNREACHABLE,
    EXIT_USAGE,
    DatabaseConflict,
    IdempotencyConflict,
    NoSuchTask,
    RefTaken,
)

NOBODY_LISTENS = "postgresql://user:hunter2@127.0.0.1:1/inbox"


def test_a_record_has_the_code_the_words_and_the_task_that_is_in_the_way() -> None:
    assert error_record(RefTaken("taken", task_number=7, hint="Delete it.")) == {
        "error": "task.ref_taken",
        "message": "taken",
        "hint": "Delete it.",
        "retryable": False,
        "task_number": 7,
    }
    assert error_record(IdempotencyConflict("other"))["task_number"] is None
    assert error_record(NoSuchTask("none")) == {
        "error": "task.unknown",
        "message": "none",
        "hint": "",
        "retryable": False,
        "task_number": None,
    }
    assert error_record(DatabaseConflict("lost"))["retryable"] is True


@pytest.mark.parametrize(
    "arguments",
    [
        ["create"],
        ["create", "--title", "x", "--titel", "y"],
        ["upsert", "--title", "x"],
        ["show"],
        ["lst"],
        ["list", "--status", "opened"],
        ["list", "--config", "nowhere.toml"],
        ["update", "1"],
    ],
    ids=" ".join,
)
def test_a_slip_is_a_record_beside_its_words(run_inside: RunCommand, arguments: list[str]) -> None:
    done = run_inside("tasks", *arguments, "--json")
    refusal = record_of(done)
    assert done.returncode == EXIT_USAGE
    assert refusal["message"] in done.stderr
    assert refusal["error"] in ("usage", "config.invalid")
    assert run_inside("tasks", *arguments).stdout == ""


def test_a_database_that_does_not_answer_may_be_asked_again_and_shows_no_password(run_inside: RunCommand) -> None:
    for arguments in (["list"], ["count"], ["create", "--title", "x"], ["upsert", "--ref", "a:1", "--title", "x"]):
        done = run_inside("tasks", *arguments, "--json", INBOX_LOOP_DATABASE__URL=NOBODY_LISTENS)
        refusal = record_of(done)
        assert done.returncode == EXIT_UNREACHABLE
        assert (refusal["error"], refusal["retryable"]) == ("database.unreachable", True)
        assert "hunter2" not in done.stdout + done.stderr


def test_what_a_record_repeats_can_not_act_on_a_terminal(run_inside: RunCommand) -> None:
    done = run_inside("tasks", "list", "--tenant", "x\x1b[2J\u202e", "--json")
    assert done.returncode == EXIT_USAGE
    assert done.stdout.isascii()
    assert "\x1b" not in done.stdout + done.stderr
    assert "x\x1b[2J" not in record_of(done)["message"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["status"],
        ["messages", "list"],
        ["messages", "explain", "18c9"],
        ["outbox", "list"],
        ["db", "status"],
        ["db", "migrate"],
        ["poll"],
        ["backfill"],
        ["reconcile"],
    ],
    ids=" ".join,
)
def test_every_command_with_json_tells_a_failure_as_a_record(run_inside: RunCommand, arguments: list[str]) -> None:
    mailbox = {"INBOX_LOOP_MAILBOXES__0__NAME": "support", "INBOX_LOOP_MAILBOXES__0__TOKEN_FILE": "token.json"}
    done = run_inside(*arguments, "--json", INBOX_LOOP_DATABASE__URL=NOBODY_LISTENS, **mailbox)
    assert (done.returncode, record_of(done)["error"]) == (EXIT_UNREACHABLE, "database.unreachable")
    assert record_of(done)["message"] in done.stderr


@pytest.mark.parametrize("words", [["auth", "status"], ["status"], ["outbox", "retry"]], ids=" ".join)
def test_a_configuration_that_can_not_be_read_is_a_record(run_inside: RunCommand, words: list[str]) -> None:
    done = run_inside(*words, "--json", "--config", "nowhere.toml")
    assert (done.returncode, record_of(done)["error"]) == (EXIT_USAGE, "config.invalid")


@pytest.mark.parametrize(
    "arguments",
    [
        ["create", "--title", "--json"],
        ["list", "--text", "--json", "--limit", "0"],
        ["show", "--", "--json"],
    ],
    ids=" ".join,
)
def test_a_value_that_reads_like_the_option_asks_for_no_record(run_inside: RunCommand, arguments: list[str]) -> None:
    done = run_inside("tasks", *arguments, INBOX_LOOP_DATABASE__URL=NOBODY_LISTENS)
    assert done.returncode in (EXIT_USAGE, EXIT_UNREACHABLE)
    assert (done.stdout, bool(done.stderr)) == ("", True)


def test_a_command_without_the_option_tells_a_slip_in_words_alone(run_inside: RunCommand) -> None:
    done = run_inside("docs", "--json")
    assert (done.returncode, done.stdout) == (EXIT_USAGE, "")
    assert "No such option: --json" in done.stderr


def test_a_fault_of_the_program_is_a_record_without_its_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> object:
        raise KeyError("kim.secret@example.org")

    monkeypatch.setattr(tasks_list, "read_settings", fail)
    with structlog.testing.capture_logs():
        assert command_line.run(["tasks", "list", "--json"]) == EXIT_LOOK
    told = capsys.readouterr()
    assert '"message": "unexpected KeyError"' in told.out
    assert "kim" not in told.out + told.err
