"""The command line as a user meets it: exit codes, and mistakes told in a line or two, never as a traceback."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import structlog
import typer

from inbox_loop import __version__
from inbox_loop.commands import app as command_line
from inbox_loop.commands.registry import COMMANDS, Group, add_commands
from inbox_loop.errors import EXIT_LOOK, EXIT_PERSON, EXIT_UNREACHABLE, EXIT_USAGE

RunCommand = Callable[..., subprocess.CompletedProcess[str]]
NOBODY_LISTENS = "postgresql://user:hunter2@127.0.0.1:1/inbox"


def test_the_version_is_one_line(run_command: RunCommand) -> None:
    done = run_command("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"inbox-loop {__version__}\n", "")


def list_paths() -> list[tuple[str, ...]]:
    paths: list[tuple[str, ...]] = []
    for name, entry in COMMANDS.items():
        paths += [(name, inner) for inner in entry.commands] if isinstance(entry, Group) else [(name,)]
    return paths


@pytest.mark.parametrize("path", list_paths(), ids=" ".join)
def test_every_sub_command_can_be_loaded_and_says_what_it_does(path: tuple[str, ...]) -> None:
    command = add_commands(command_line.app)
    for name in path:
        command = command.commands[name]  # type: ignore[assignment]  # a group's command may be a group
    assert command.help
    assert command.help.strip()[0].isupper()


def test_a_light_command_does_not_import_googles_client() -> None:
    program = (
        "import sys; from inbox_loop.commands import app, registry;"
        "registry.add_commands(app.app).commands['tasks'].commands['list'];"
        "print([name for name in sys.modules if name.startswith(('googleapiclient', 'google.'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["taks"], "No such command 'taks'. Did you mean 'tasks'"),
        (["tasks", "lst"], "No such command 'lst'. Did you mean 'list'?"),
        (["--nonsense"], "No such option: --nonsense"),
        (["tasks", "list", "--status", "opened"], "open"),
        (["tasks", "show"], "Missing argument"),
        ([], "Missing command"),
        (["tasks", "list", "--status", "nope"], "--status: 'nope' is not one of 'open', 'in_progress'"),
        (["tasks", "list", "--limit", "0"], "--limit: must be at least 1"),
        (["outbox", "list", "--limit", "10001"], "--limit: must be at most 10000"),
        (["messages", "list", "--limit", "many"], "--limit: must be a whole number"),
        (["tasks", "list", "--before", str(2**63)], f"--before: must be at most {2**63 - 1}"),
        (["tasks", "list", "--before", "9" * 5000], "--before: must be a shorter number"),
    ],
)
def test_a_slip_on_the_command_line_is_exit_2_and_names_the_nearest(
    run_inside: RunCommand, arguments: list[str], words: str
) -> None:
    done = run_inside(*arguments)
    assert done.returncode == EXIT_USAGE
    assert done.stdout == ""
    assert done.stderr.startswith("inbox-loop: ")
    assert words in done.stderr
    assert "--help" in done.stderr


def test_mistakes_in_the_configuration_are_exit_2_a_line_each_without_values(
    run_command: RunCommand, tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[database]\nurl = "mysql://root:hunter2@db"\n[log]\nlevle = "info"\n', encoding="utf-8")
    done = run_command("tasks", "list", "--config", str(config), INBOX_LOOP_POLL__INTERVAL_SECONDS="never")
    assert done.returncode == EXIT_USAGE
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "inbox-loop: INBOX_LOOP_POLL__INTERVAL_SECONDS: must be a valid number, unable to parse string as a number",
        "inbox-loop: log.levle: no such setting; did you mean level?",
        'inbox-loop: database.url: must be "embedded" or a postgresql:// URL',
        f"  Read from {config} and the environment.",
    ]


def test_the_configuration_can_be_named_before_the_sub_command_as_well(run_inside: RunCommand) -> None:
    done = run_inside("--config", "nowhere.toml", "tasks", "list")
    assert done.returncode == EXIT_USAGE
    assert done.stderr == "inbox-loop: --config: there is no file nowhere.toml\n"


def test_a_database_that_does_not_answer_is_exit_4_in_two_lines_without_the_password(run_command: RunCommand) -> None:
    done = run_command("tasks", "list", INBOX_LOOP_DATABASE__URL=NOBODY_LISTENS)
    assert done.returncode == EXIT_UNREACHABLE
    assert done.stdout == ""
    what, hint = done.stderr.splitlines()
    assert what.startswith("inbox-loop: Postgres at 127.0.0.1:1")
    assert "database.url" in hint
    assert "hunter2" not in done.stderr


@pytest.mark.parametrize(
    "arguments", [["db", "migrate"], ["db", "status"], ["status"], ["messages", "explain", "18c9"]]
)
def test_every_command_ends_alike_when_the_database_does_not_answer(
    run_inside: RunCommand, arguments: list[str]
) -> None:
    assert run_inside(*arguments, INBOX_LOOP_DATABASE__URL=NOBODY_LISTENS).returncode == EXIT_UNREACHABLE


def test_a_sign_in_that_is_missing_is_exit_3(run_inside: RunCommand) -> None:
    mailbox = {"INBOX_LOOP_MAILBOXES__0__NAME": "support", "INBOX_LOOP_MAILBOXES__0__TOKEN_FILE": "token.json"}
    done = run_inside("auth", "status", "--json", **mailbox)
    assert done.returncode == EXIT_PERSON
    record = json.loads(done.stdout)
    assert record["mailbox"] == "support"
    assert record["usable"] is False
    assert "inbox-loop auth login --mailbox support" in str(record["hint"])


def test_signing_in_to_a_mailbox_that_is_not_configured_names_the_nearest(run_inside: RunCommand) -> None:
    mailbox = {"INBOX_LOOP_MAILBOXES__0__NAME": "support", "INBOX_LOOP_MAILBOXES__0__TOKEN_FILE": "token.json"}
    done = run_inside("auth", "login", "--mailbox", "suport", "--client-secrets", "client.json", **mailbox)
    assert done.returncode == EXIT_USAGE
    assert done.stderr == "inbox-loop: no mailbox is called 'suport'\n  Did you mean support?\n"


def test_an_error_nobody_foresaw_is_exit_1_with_its_place_in_the_log_and_its_text_nowhere(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> object:
        raise KeyError("kim.secret@example.org")

    monkeypatch.setattr(command_line, "add_commands", fail)
    with structlog.testing.capture_logs() as events:
        code = command_line.run(["tasks", "list"])
    assert code == EXIT_LOOK
    told = capsys.readouterr().err
    assert told.startswith("inbox-loop: unexpected KeyError\n")
    assert "kim" not in told
    (event,) = events
    assert (event["event"], event["log_level"], event["command"]) == ("command.failed", "error", "tasks")
    assert isinstance(event["exc_info"], KeyError)


def test_an_interrupt_is_exit_130_and_quiet(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_app: typer.Typer) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(command_line, "add_commands", interrupt)
    assert command_line.run(["tasks", "list"]) == 130
    assert capsys.readouterr() == ("", "")


def test_an_argument_of_odd_bytes_is_not_repeated(run_inside: RunCommand) -> None:
    done = run_inside("tasks", "list", "--tenant", "caf\udce9\x1b[2J", INBOX_LOOP_DATABASE__URL=NOBODY_LISTENS)
    assert done.returncode == EXIT_USAGE
    assert done.stderr.splitlines()[0] == "inbox-loop: --tenant: what was typed is not UTF-8"
