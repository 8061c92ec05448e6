"""The steps of a task's life from the command line: update, finish, cancel, delete, restore."""

from __future__ import annotations

from typing import Any

import pytest
from support.records import TASK_KEYS, RunCommand, record_of

from inbox_loop.errors import EXIT_FINE, EXIT_USAGE

REF = "gmail:f0#a1"


@pytest.fixture
def run(run_tasks: RunCommand) -> RunCommand:
    """Task 1 has a ref, task 2 has none."""
    run_tasks("upsert", "--ref", REF, "--title", "Invoice", "--body", "old")
    run_tasks("create", "--title", "Second")
    return run_tasks


def show(run: RunCommand, task: str = "1") -> dict[str, Any]:
    return record_of(run("show", task, "--json"))


def kinds(run: RunCommand, task: str = "1") -> list[str]:
    return [each["kind"] for each in show(run, task)["activity"]]


def test_an_update_changes_what_is_given_and_nothing_else(run: RunCommand) -> None:
    done = run("update", REF, "--title", "Invoice 7", "--json")
    assert (done.returncode, list(record_of(done))) == (EXIT_FINE, TASK_KEYS)
    assert run("update", "1", "--body", "new", "--status", "blocked").stdout == "Task 1 is blocked: Invoice 7\n"
    task = show(run)
    assert (task["title"], task["body"], task["status"]) == ("Invoice 7", "new", "blocked")
    assert [each["detail"] for each in task["activity"][1:]] == [
        {"title": {"from": "Invoice", "to": "Invoice 7"}},
        {"status": {"from": "open", "to": "blocked"}, "body_bytes": {"from": 3, "to": 3}},
    ]
    assert run("update", "1", "--body", "").returncode == EXIT_FINE
    assert show(run)["body"] == ""


def test_an_update_that_changes_nothing_leaves_no_trace(run: RunCommand) -> None:
    before = show(run)
    done = run("update", "1", "--title", "Invoice", "--body", "old", "--status", "open")
    assert done.stdout == "Task 1 is open: Invoice\n"
    assert show(run) == before


def test_an_update_without_anything_to_change_is_exit_2_and_names_the_options(run: RunCommand) -> None:
    done = run("update", "1", "--json")
    assert (done.returncode, record_of(done)["error"]) == (EXIT_USAGE, "usage")
    assert "--title, --body, --body-file or --status" in done.stderr


def test_an_update_that_can_not_be_is_refused_and_changes_nothing(run: RunCommand) -> None:
    for given, code in (
        (["--title", ""], "value.invalid"),
        (["--title", "\udce9"], "value.invalid"),
        (["--body", "a\x00"], "value.invalid"),
        (["--status", "in_progress"], "usage"),
        (["--status", "opened"], "usage"),
    ):
        done = run("update", "1", *given, "--json")
        assert (done.returncode, record_of(done)["error"]) == (EXIT_USAGE, code)
    assert kinds(run) == ["created"]


def test_a_task_is_finished_with_a_summary_and_can_be_opened_again(run: RunCommand) -> None:
    assert run("finish", REF, "--summary", "Paid. Grüße").stdout == "Task 1 is done.\n"
    task = show(run)
    assert task["completed_at"] is not None
    assert task["activity"][1]["detail"] == {"status": {"from": "open", "to": "done"}, "summary": "Paid. Grüße"}
    assert record_of(run("update", "1", "--status", "open", "--json"))["completed_at"] is None


def test_what_happened_to_a_task_is_shown_in_words(run: RunCommand) -> None:
    run("update", "1", "--title", "Invoice \x1b[2J7")
    run("cancel", "1", "--reason", "Twice")
    shown = run("show", "1").stdout
    assert "    title: Invoice -> Invoice \\x1b[2J7\n" in shown
    assert "    status: open -> cancelled\n" in shown
    assert "    reason: Twice\n" in shown


def test_a_task_is_cancelled_with_a_reason_and_keeps_its_ref(run: RunCommand) -> None:
    assert run("cancel", "1", "--reason", "Twice").stdout == "Task 1 is cancelled.\n"
    assert show(run)["activity"][1]["detail"] == {"status": {"from": "open", "to": "cancelled"}, "reason": "Twice"}
    assert record_of(run("upsert", "--ref", REF, "--title", "x", "--json"))["number"] == 1


@pytest.mark.parametrize("step", ["finish", "cancel", "delete"])
def test_a_step_taken_again_is_fine_and_leaves_no_trace(run: RunCommand, step: str) -> None:
    first = run(step, "1")
    before = show(run)
    again = run(step, "1")
    assert (again.returncode, again.stdout) == (EXIT_FINE, first.stdout)
    assert show(run) == before


def test_a_step_prints_the_tasks_record(run: RunCommand) -> None:
    for step in ("finish", "delete", "restore"):
        record = record_of(run(step, "1", "--json"))
        assert list(record) == TASK_KEYS
        assert (record["number"], record["title"], record["status"]) == (1, "Invoice", "done")


def test_a_move_that_is_not_allowed_is_exit_2_and_says_where_the_task_stands(run: RunCommand) -> None:
    run("cancel", "1")
    done = run("finish", "1", "--json")
    assert (done.returncode, record_of(done)["error"]) == (EXIT_USAGE, "task.illegal_move")
    assert "task 1" in done.stderr
    assert "cancelled" in done.stderr


@pytest.mark.parametrize("step", [["update", "--title", "x"], ["finish"], ["cancel"]], ids=" ".join)
def test_a_deleted_task_takes_no_step_but_to_be_restored(run: RunCommand, step: list[str]) -> None:
    run("delete", "1")
    done = run(*step, "1", "--json")
    assert (done.returncode, record_of(done)["error"]) == (EXIT_USAGE, "task.illegal_move")
    assert "task 1" in done.stderr
    assert kinds(run) == ["created", "deleted"]


def test_a_deleted_task_is_restored_by_number_or_ref_as_it_was(run: RunCommand) -> None:
    run("finish", "1")
    before = show(run)
    for name in ("1", REF):
        run("delete", "1")
        done = run("restore", name)
        assert (done.returncode, done.stdout) == (EXIT_FINE, "Task 1 is restored. It is done.\n")
        after = show(run)
        assert (after["status"], after["completed_at"]) == ("done", before["completed_at"])
    assert run("restore", "1").stdout == "Task 1 was not deleted. It is done.\n"
    assert kinds(run) == ["created", "finished", "deleted", "restored", "deleted", "restored"]


def test_a_ref_of_deleted_tasks_alone_names_the_one_deleted_last(run: RunCommand) -> None:
    run("delete", REF)
    run("upsert", "--ref", REF, "--title", "Invoice")
    run("delete", REF)
    assert record_of(run("restore", REF, "--json"))["number"] == 3


def test_restoring_a_task_whose_ref_is_taken_is_a_conflict_that_names_the_holder(run: RunCommand) -> None:
    run("delete", "1")
    run("upsert", "--ref", REF, "--title", "Invoice")
    assert run("restore", REF).stdout == "Task 3 was not deleted. It is open.\n"
    done = run("restore", "1", "--json")
    assert done.returncode == EXIT_USAGE
    refusal = record_of(done)
    assert (refusal["error"], refusal["task_number"], refusal["retryable"]) == ("task.ref_taken", 3, False)
    assert "task 3" in refusal["message"] + refusal["hint"]
    assert "task 3" in done.stderr


def test_a_step_of_a_task_that_is_not_there_is_exit_2(run: RunCommand) -> None:
    for step in (["update", "--title", "x"], ["finish"], ["cancel"], ["delete"], ["restore"]):
        for name in ("99", "gmail:f0#a9"):
            done = run(*step, name, "--json")
            assert (done.returncode, record_of(done)["error"]) == (EXIT_USAGE, "task.unknown")


@pytest.mark.parametrize(("command", "field"), [("finish", "summary"), ("cancel", "reason")])
def test_what_is_noted_of_a_step_may_be_10000_characters(run: RunCommand, command: str, field: str) -> None:
    refused = run(command, "1", f"--{field}", "é" * 10_001, "--json")
    assert (refused.returncode, record_of(refused)["error"]) == (EXIT_USAGE, "value.invalid")
    assert refused.stderr == f"inbox-loop: {field} is at most 10000 characters\n"
    assert run(command, "1", f"--{field}", "é" * 10_000).returncode == EXIT_FINE


def test_a_name_that_no_task_can_have_is_exit_2(run: RunCommand) -> None:
    for name, code in {
        "99999999999999999999999": "value.invalid",
        "9" * 5000: "task.unknown",
        "gmail:f0": "ref.invalid",
        "": "ref.invalid",
        "a\x00b": "ref.invalid",
        "\udce9": "value.invalid",
    }.items():
        done = run("finish", name, "--json")
        assert (done.returncode, record_of(done)["error"]) == (EXIT_USAGE, code)
