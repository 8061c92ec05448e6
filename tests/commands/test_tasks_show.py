"""Tasks that came from mail, as commands list and show them."""

from __future__ import annotations

from fixtures.filled_database import HOSTILE
from support.records import TASK_KEYS, RunCommand, records_of

from inbox_loop.errors import EXIT_FINE, EXIT_USAGE


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


def test_tasks_are_filtered_by_status_mailbox_and_number(run_filled: RunCommand) -> None:
    assert len(records_of(run_filled("tasks", "list", "--json", "--status", "open", "--mailbox", "support"))) == 2
    assert records_of(run_filled("tasks", "list", "--json", "--status", "done", "--status", "blocked")) == []
    assert [task["number"] for task in records_of(run_filled("tasks", "list", "--json", "--limit", "1"))] == [2]


def test_a_mailbox_that_nobody_knows_is_an_error_and_not_an_empty_list(run_filled: RunCommand) -> None:
    for command in (["tasks", "list"], ["messages", "list"], ["messages", "explain", "a1"]):
        done = run_filled(*command, "--mailbox", "suport")
        assert done.returncode == EXIT_USAGE
        assert done.stderr == "inbox-loop: no mailbox is called 'suport'\n  Did you mean support?\n"


def test_a_task_is_shown_by_number_or_ref_with_body_and_activity(run_filled: RunCommand) -> None:
    (task,) = records_of(run_filled("tasks", "show", "1", "--json"))
    for name in ("#1", "gmail:f0#a1", "GMAIL:F0#A1"):
        assert records_of(run_filled("tasks", "show", name, "--json")) == [task]
    assert list(task) == [*TASK_KEYS, "parent", "body", "activity"]
    assert task["body"] == "first line of a1\n\x1b[31msecond"
    assert isinstance(task["activity"], list)
    assert [(each["kind"], each["actor"]) for each in task["activity"]] == [("created", "mailbox support")]


def test_a_shown_task_keeps_the_lines_of_its_body_and_nothing_that_acts(run_filled: RunCommand) -> None:
    done = run_filled("tasks", "show", "2")
    assert done.stdout.startswith(r"Task 2: Grüße \x1b]0;owned")
    assert done.stdout.endswith("\nfirst line of a2\n\\x1b[31msecond\n")
    assert "kim@example.org" in done.stdout


def test_a_task_that_is_not_there_is_exit_2(run_filled: RunCommand) -> None:
    for name, words in {
        "99": "has no task 99",
        "99999999999999999999999": "number is 1 to 9223372036854775807",
        "gmail:f0#a9": "has no task with this external_ref",
        "gmail:f0": "does not name a message",
        "": "external_ref is empty",
    }.items():
        done = run_filled("tasks", "show", name)
        assert (done.returncode, done.stdout) == (EXIT_USAGE, "")
        assert words in done.stderr


def test_a_deleted_task_is_listed_when_asked_for_and_shown_by_number(run_filled: RunCommand) -> None:
    assert run_filled("tasks", "delete", "gmail:f0#a1").stdout == "Task 1 is deleted.\n"
    assert [task["number"] for task in records_of(run_filled("tasks", "list", "--json"))] == [2]
    assert len(records_of(run_filled("tasks", "list", "--json", "--deleted"))) == 2
    (task,) = records_of(run_filled("tasks", "show", "1", "--json"))
    assert task["deleted_at"] is not None
    by_ref = run_filled("tasks", "show", "gmail:f0#a1")
    assert by_ref.returncode == EXIT_USAGE
    assert "It was task 1." in by_ref.stderr
