"""``inbox-loop tasks create`` and ``upsert``: one task an ask, and what the answer says of it."""

from __future__ import annotations

import subprocess
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from support.listening import heard, listener
from support.records import TASK_KEYS, RunCommand, record_of, records_of

from inbox_loop.errors import EXIT_FINE, EXIT_USAGE
from inbox_loop.ref import UNIT_OF_WORK_RULE
from inbox_loop.repository.database import Database
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.task import MAX_BODY_BYTES

ERROR_KEYS = ["error", "message", "hint", "retryable", "task_number"]
REF = "gmail:f0#a1"


def give_standard_input(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(content), encoding="ascii"))


# --- create ---------------------------------------------------------------------------------------------------------


def test_a_task_is_created_with_all_that_was_given(run_tasks: RunCommand) -> None:
    assert run_tasks("create", "--title", "Move house").stdout == "Task 1 is created.\n"
    done = run_tasks(
        *["create", "--title", "Grüße 日本", "--body", "two\nlines", "--project", "desk", "--parent", "#1"],
        *["--label", "home", "--label", "soon", "--container-ref", "case:7", "--json"],
    )
    assert (done.returncode, done.stderr) == (EXIT_FINE, "")
    task = record_of(done)
    assert list(task) == [*TASK_KEYS, "outcome"]
    assert (task["number"], task["title"], task["project"], task["status"]) == (2, "Grüße 日本", "desk", "open")
    assert (task["labels"], task["container_ref"], task["external_ref"]) == (["home", "soon"], "case:7", None)
    assert task["outcome"] == "created"
    shown = record_of(run_tasks("show", "2", "--json"))
    assert list(shown) == [*TASK_KEYS, "parent", "body", "activity"]
    assert (shown["parent"], shown["body"]) == (1, "two\nlines")
    (activity,) = shown["activity"]
    assert activity["kind"] == "created"
    assert activity["actor"].startswith("user ")
    assert "  part of        task 1\n" in run_tasks("show", "2").stdout


def test_two_creates_alike_are_two_tasks_without_a_key_and_one_with_it(run_tasks: RunCommand) -> None:
    create = ["create", "--title", "Pay", "--json"]
    assert [record_of(run_tasks(*create))["number"] for _ in range(2)] == [1, 2]
    keyed = [record_of(run_tasks(*create, "--idempotency-key", "k1")) for _ in range(2)]
    assert [(task["number"], task["outcome"]) for task in keyed] == [(3, "created"), (3, "found")]
    run_tasks("finish", "3")
    assert run_tasks(*create[:-1], "--idempotency-key", "k1").stdout == (
        "Task 3 is found: this key made it before. It is done.\n"
    )


def test_a_key_whose_task_was_deleted_since_creates_nothing_and_says_so(run_tasks: RunCommand) -> None:
    create = ["create", "--title", "Pay", "--idempotency-key", "k1"]
    run_tasks(*create)
    run_tasks("delete", "1")
    told = run_tasks(*create)
    assert told.returncode == EXIT_FINE
    assert told.stdout == "Task 1 is found: this key made it before. It was deleted since.\n"
    assert told.stderr.startswith("inbox-loop: warning: task 1, which this key made, was deleted since")
    task = record_of(run_tasks(*create, "--json"))
    assert list(task) == [*TASK_KEYS, "outcome", "warning"]
    assert (task["number"], task["outcome"]) == (1, "found")
    assert task["deleted_at"] is not None
    assert "deleted since" in task["warning"]
    assert len(records_of(run_tasks("list", "--deleted", "--json"))) == 1


@pytest.mark.parametrize("command", [["create"], ["upsert", "--ref", REF]], ids=["create", "upsert"])
def test_a_task_that_was_purged_before_it_could_be_read_again_is_answered_all_the_same(
    run_tasks: RunCommand, database: Database, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    def purge(*_: object) -> None:
        with database.own_connection() as connection:
            connection.execute("delete from tasks")

    monkeypatch.setattr(f"inbox_loop.commands.tasks_{command[0]}.announce_created", purge)
    done = run_tasks(*command, "--title", "Pay", "--json")
    assert (done.returncode, done.stderr) == (EXIT_FINE, "")
    task = record_of(done)
    assert (task["number"], task["status"], task["outcome"]) == (1, "open", "created")
    assert records_of(run_tasks("list", "--deleted", "--json")) == []


def test_a_word_that_is_not_utf_8_is_refused_by_the_name_of_its_option_before_anything_runs(
    run_inside: RunCommand,
) -> None:
    for command, name in (
        (["create", "--title", "caf\udce9"], "--title"),
        (["upsert", "--ref", "caf\udce9", "--title", "x"], "--ref"),
        (["list", "--label", "a", "--label", "caf\udce9"], "--label"),
        (["show", "caf\udce9"], "NUMBER|REF"),
    ):
        done = run_inside("tasks", *command, INBOX_LOOP_DATABASE__URL="postgresql://user@127.0.0.1:1/inbox")
        assert done.returncode == EXIT_USAGE
        assert done.stderr.splitlines()[0] == f"inbox-loop: {name}: what was typed is not UTF-8"


def test_a_file_may_have_a_name_that_is_not_utf_8(run_tasks: RunCommand, home: Path) -> None:
    (home / "caf\udce9.txt").write_bytes(b"body")
    assert run_tasks("create", "--title", "x", "--body-file", "caf\udce9.txt").stdout == "Task 1 is created.\n"
    assert record_of(run_tasks("show", "1", "--json"))["body"] == "body"


def test_a_key_that_stands_for_another_task_is_a_conflict_that_names_it(run_tasks: RunCommand) -> None:
    run_tasks("create", "--title", "Pay", "--idempotency-key", "k1")
    done = run_tasks("create", "--title", "Pay twice", "--idempotency-key", "k1", "--json")
    assert done.returncode == EXIT_USAGE
    assert "task 1" in done.stderr
    refusal = record_of(done)
    assert list(refusal) == ERROR_KEYS
    assert (refusal["error"], refusal["task_number"], refusal["retryable"]) == ("task.key_conflict", 1, False)
    assert len(records_of(run_tasks("list", "--json"))) == 1


def test_a_parent_or_project_that_is_not_there_creates_nothing(run_tasks: RunCommand) -> None:
    for given, code in (("--parent", "task.unknown"), ("--project", "project.unknown")):
        done = run_tasks("create", "--title", "Pay", given, "99", "--json")
        assert (done.returncode, record_of(done)["error"]) == (EXIT_USAGE, code)
    assert record_of(run_tasks("create", "--title", "Pay", "--json"))["number"] == 1


def test_what_can_not_be_stored_is_refused_by_the_name_of_its_field(run_tasks: RunCommand) -> None:
    for given, field in (
        (["--title", ""], "title"),
        (["--title", " \t "], "title"),
        (["--title", "x" * 1001], "title"),
        (["--title", "caf\udce9\x1b[2J"], "--title"),
        (["--title", "a\x00b"], "title"),
        (["--title", "x", "--body", "x" * (MAX_BODY_BYTES + 1)], "body"),
        (["--title", "x", "--body", "é" * (MAX_BODY_BYTES // 2 + 1)], "body"),
        (["--title", "x", "--body", "\udcff"], "--body"),
        (["--title", "x", "--label", ""], "labels"),
        (["--title", "x", "--label", "x" * 101], "labels"),
        (["--title", "x", "--label", "fine", "--label", "\ud800"], "--label"),
        (["--title", "x", *(word for number in range(51) for word in ("--label", str(number)))], "labels"),
        (["--title", "x", "--idempotency-key", ""], "idempotency_key"),
        (["--title", "x", "--idempotency-key", "x" * 201], "idempotency_key"),
        (["--title", "x", "--idempotency-key", "\udce9"], "--idempotency-key"),
    ):
        done = run_tasks("create", *given, "--json")
        assert done.returncode == EXIT_USAGE
        refusal = record_of(done)
        assert refusal["error"] == "value.invalid"
        assert refusal["message"].startswith(field)
        assert f"inbox-loop: {field}" in done.stderr
        assert "\x1b" not in done.stderr
        assert len(done.stderr) < 500


def test_what_just_fits_is_stored_as_it_is(run_tasks: RunCommand) -> None:
    labels = [f"{number:0100}" for number in range(50)]
    given = [word for label in labels for word in ("--label", label)]
    body = "é" * (MAX_BODY_BYTES // 2)
    task = record_of(run_tasks("create", "--title", "日" * 1000, "--body", body, *given, "--json"))
    assert (task["title"], sorted(task["labels"])) == ("日" * 1000, labels)
    assert record_of(run_tasks("show", "1", "--json"))["body"] == body


# --- bodies from files ----------------------------------------------------------------------------------------------


def test_a_body_is_read_from_a_file_or_standard_input_as_it_is(
    run_tasks: RunCommand, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "first\r\n\tGrüße \x1b[2J\n"
    (home / "note.txt").write_bytes(text.encode())
    assert run_tasks("create", "--title", "a", "--body-file", "note.txt").returncode == EXIT_FINE
    give_standard_input(monkeypatch, text.encode())
    assert run_tasks("upsert", "--ref", REF, "--title", "b", "--body-file", "-").returncode == EXIT_FINE
    assert [record_of(run_tasks("show", number, "--json"))["body"] for number in "12"] == [text, text]


def test_a_body_comes_through_a_pipe(run_tasks: RunCommand, database_url: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "inbox_loop", "tasks", "create", "--title", "piped", "--body-file", "-"],
        env={"INBOX_LOOP_DATABASE__URL": database_url, "LANG": "C"},
        input="日本".encode(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == b"Task 1 is created.\n"
    assert record_of(run_tasks("show", "1", "--json"))["body"] == "日本"


def test_a_body_that_never_ends_is_read_no_further_than_a_body_may_go(run_tasks: RunCommand) -> None:
    done = run_tasks("create", "--title", "a", "--body-file", "/dev/zero")
    assert done.returncode == EXIT_USAGE
    assert "body is more than 1 MiB" in done.stderr


def test_a_body_that_can_not_be_read_is_exit_2_and_names_the_file_alone(
    run_tasks: RunCommand, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "latin.txt").write_bytes(b"secret caf\xe9")
    for file, words in {
        "latin.txt": "body is not UTF-8: byte 11",
        "nowhere.txt": "nowhere.txt can't be read: No such file",
        ".": "Is a directory",
    }.items():
        done = run_tasks("create", "--title", "a", "--body-file", file)
        assert (done.returncode, done.stdout) == (EXIT_USAGE, "")
        assert words in done.stderr
        assert "secret" not in done.stderr
    both = run_tasks("create", "--title", "a", "--body", "b", "--body-file", "latin.txt")
    assert "--body and --body-file are both given" in both.stderr
    monkeypatch.setattr("sys.stdin", None)
    assert "standard input is closed" in run_tasks("create", "--title", "a", "--body-file", "-").stderr
    assert records_of(run_tasks("list", "--json")) == []


# --- upsert ---------------------------------------------------------------------------------------------------------


def test_an_upsert_creates_once_and_then_finds_whatever_else_has_drifted(run_tasks: RunCommand) -> None:
    created = run_tasks("upsert", "--ref", REF, "--title", "Invoice", "--project", "desk", "--label", "a")
    assert (created.returncode, created.stdout, created.stderr) == (EXIT_FINE, "Task 1 is created.\n", "")
    found = run_tasks("upsert", "--ref", " GMAIL:F0#A1 ", "--title", "Re: Invoice", "--body", "b")
    assert (found.returncode, found.stdout, found.stderr) == (EXIT_FINE, "Task 1 is found. It is open.\n", "")
    task = record_of(run_tasks("upsert", "--ref", REF, "--title", "x", "--json"))
    assert list(task) == [*TASK_KEYS, "outcome"]
    assert (task["title"], task["labels"], task["external_ref"], task["outcome"]) == ("Invoice", ["a"], REF, "found")
    other = record_of(run_tasks("upsert", "--ref", "stripe:evt_1", "--title", "x", "--json"))
    assert (other["number"], other["outcome"]) == (2, "created")


@pytest.mark.parametrize("step", ["finish", "cancel"])
def test_finding_a_finished_task_warns_with_the_rule_and_is_no_error(run_tasks: RunCommand, step: str) -> None:
    run_tasks("upsert", "--ref", REF, "--title", "Invoice")
    run_tasks(step, "1")
    done = run_tasks("upsert", "--ref", REF, "--title", "Another ask", "--json")
    assert done.returncode == EXIT_FINE
    task = record_of(done)
    assert list(task) == [*TASK_KEYS, "outcome", "warning"]
    assert (task["outcome"], task["number"]) == ("found", 1)
    assert UNIT_OF_WORK_RULE in task["warning"]
    assert done.stderr.startswith("inbox-loop: warning: task 1, which holds this ref, is ")
    assert UNIT_OF_WORK_RULE in done.stderr


def test_a_deleted_task_has_given_its_ref_back(run_tasks: RunCommand) -> None:
    run_tasks("upsert", "--ref", REF, "--title", "Invoice")
    run_tasks("delete", "1")
    assert run_tasks("upsert", "--ref", REF, "--title", "Invoice").stdout == "Task 2 is created.\n"


def test_a_ref_that_names_a_thread_alone_is_refused_with_the_rule_unless_the_thread_is_the_unit(
    run_tasks: RunCommand,
) -> None:
    done = run_tasks("upsert", "--ref", "gmail:f0", "--title", "Invoice", "--json")
    assert (done.returncode, record_of(done)["error"]) == (EXIT_USAGE, "ref.invalid")
    assert UNIT_OF_WORK_RULE in done.stderr
    assert "does not name a message" in run_tasks("show", "gmail:f0").stderr
    allowed = run_tasks("upsert", "--ref", "gmail:f0", "--title", "Invoice", "--allow-container")
    assert allowed.stdout == "Task 1 is created.\n"
    assert record_of(run_tasks("show", "gmail:f0", "--json"))["number"] == 1


def test_refs_that_can_not_be_are_refused(run_tasks: RunCommand) -> None:
    for ref in ("", "  ", "x" * 513, "a\nb", "gmail:f0#", "gmail:xyz#a1"):
        done = run_tasks("upsert", "--ref", ref, "--title", "Invoice", "--json")
        assert (done.returncode, record_of(done)["error"]) == (EXIT_USAGE, "ref.invalid"), ref
        assert "\x1b" not in done.stderr


# --- announced ------------------------------------------------------------------------------------------------------


def test_whoever_listens_hears_of_each_created_task_once_and_of_none_that_was_found(
    run_tasks: RunCommand, database_url: str
) -> None:
    with listener(database_url) as session:
        for _ in range(2):
            run_tasks("upsert", "--ref", REF, "--title", "Secret title")
            run_tasks("create", "--title", "Secret title", "--idempotency-key", "k")
        told = heard(session, count=2) + heard(session, count=1, seconds=0)
    assert [(each["tenant"], each["number"]) for each in told] == [("default", 1), ("default", 2)]
    assert "Secret" not in str(told)


# --- tenants --------------------------------------------------------------------------------------------------------


def test_a_tenants_tasks_refs_and_keys_are_its_own(run_tasks: RunCommand, database: Database) -> None:
    ensure_tenant(database, "other", [])
    for tenant in ("default", "other"):
        upserted = record_of(run_tasks("upsert", "--ref", REF, "--title", tenant, "--tenant", tenant, "--json"))
        created = ["create", "--title", tenant, "--idempotency-key", "k", "--tenant", tenant, "--json"]
        keyed = record_of(run_tasks(*created))
        assert [(task["number"], task["outcome"]) for task in (upserted, keyed)] == [(1, "created"), (2, "created")]
        assert upserted["tenant"] == keyed["tenant"] == tenant
    run_tasks("upsert", "--ref", "stripe:evt_1", "--title", "third", "--tenant", "other")
    for command in (
        ["show", "3"],
        ["finish", "3"],
        ["show", "stripe:evt_1"],
        ["create", "--title", "x", "--parent", "3"],
    ):
        done = run_tasks(*command, "--tenant", "default", "--json")
        assert (done.returncode, record_of(done)["error"]) == (EXIT_USAGE, "task.unknown")
    done = run_tasks("create", "--title", "x", "--project", "desk", "--tenant", "other", "--json")
    assert record_of(done)["error"] == "project.unknown"
