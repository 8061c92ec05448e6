"""A failed command tells a program that asks about tasks what it tells a person, as a record."""

from __future__ import annotations

import pytest
import structlog
from support.records import RunCommand, record_of, records_of

from inbox_loop.commands import app as command_line
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
    done = run_inside("tasks", "list", "--tenant", "x\x1b[2J\u202e\udce9", "--json")
    assert done.returncode == EXIT_USAGE
    assert done.stdout.isascii()
    assert "\x1b" not in done.stdout + done.stderr
    assert "x\x1b[2J" not in record_of(done)["message"]


def test_other_commands_tell_of_failures_in_words_alone(run_inside: RunCommand) -> None:
    done = run_inside("messages", "list", "--json", INBOX_LOOP_DATABASE__URL=NOBODY_LISTENS)
    assert (done.returncode, records_of(done)) == (EXIT_UNREACHABLE, [])


def test_a_fault_of_the_program_is_a_record_without_its_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> object:
        raise KeyError("kim.secret@example.org")

    monkeypatch.setattr(command_line, "add_commands", fail)
    with structlog.testing.capture_logs():
        assert command_line.run(["tasks", "list", "--json"]) == EXIT_LOOK
    told = capsys.readouterr()
    assert '"message": "unexpected KeyError"' in told.out
    assert "kim" not in told.out + told.err
