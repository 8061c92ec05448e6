"""``auth login``, ``status`` and ``revoke`` as a user runs them, against the simulator's own pages."""

from __future__ import annotations

import json
import os
import pty
import socket
import stat
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from support.desk import ADDRESS, plain_mail

from inbox_loop.errors import EXIT_FINE, EXIT_LOOK, EXIT_PERSON, EXIT_UNREACHABLE, EXIT_USAGE
from inbox_loop.gmail.auth import SCOPE
from inbox_loop.simulator.faults import Fault
from inbox_loop.simulator.server import Simulator

RunCommand = Callable[..., subprocess.CompletedProcess[str]]
PROGRAM = [sys.executable, "-m", "inbox_loop"]
BOUND_SECONDS = 30
SEVEN_DAYS = "7 days after it was made"
NOBODY_LISTENS = "postgresql://user@127.0.0.1:1/inbox"


@pytest.fixture
def environment(variables: dict[str, str], home: Path) -> dict[str, str]:
    """All that a process of its own gets to see."""
    # oauthlib refuses a token endpoint without TLS; the simulator has none.
    return {"PATH": os.environ["PATH"], "HOME": str(home), "OAUTHLIB_INSECURE_TRANSPORT": "1", **variables}


@pytest.fixture
def client_file(simulator: Simulator, tmp_path: Path) -> Path:
    """The OAuth client's file, beside the token file."""
    simulator.account(ADDRESS)
    return simulator.client_file(tmp_path / "client.json")


def log_in(environment: dict[str, str], *arguments: str) -> tuple[int, str, str]:
    """Sign in as a person with a browser elsewhere does: open the printed address. Exit code, the address, the rest."""
    command = [*PROGRAM, "auth", "login", "--mailbox", "desk", "--no-browser", *arguments]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        try:
            url = first.removeprefix("Open this address to sign in: ").strip()
            with urllib.request.urlopen(url, timeout=BOUND_SECONDS) as page:
                page.read()
            rest = process.stdout.read()
            return process.wait(BOUND_SECONDS), url, rest
        finally:
            process.kill()


def test_a_sign_in_is_one_page_and_the_next_poll_reads_the_mailbox_with_it(
    *,
    environment: dict[str, str],
    variables: dict[str, str],
    client_file: Path,
    token_file: Path,
    run_inside: RunCommand,
    simulator: Simulator,
) -> None:
    assert client_file.parent == token_file.parent
    token_file.unlink()
    assert run_inside("poll", **variables).returncode == EXIT_PERSON

    code, url, rest = log_in(environment)

    assert (code, rest) == (EXIT_FINE, f"Signed in. The sign-in is kept in {token_file}.\n")
    assert parse_qs(urlsplit(url).query)["scope"] == [SCOPE]
    assert stat.S_IMODE(token_file.stat().st_mode) == 0o600
    assert run_inside("poll", **variables).returncode == EXIT_FINE
    simulator.account(ADDRESS).deliver(plain_mail("Hello"))
    done = run_inside("poll", "--json", **variables)
    assert (done.returncode, json.loads(done.stdout)["created"]) == (EXIT_FINE, 1)


def test_the_answer_comes_to_the_port_that_was_asked_for_from_a_client_file_anywhere(
    environment: dict[str, str], client_file: Path, tmp_path: Path
) -> None:
    elsewhere = client_file.rename(tmp_path / "elsewhere.json")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    code, url, _ = log_in(environment, "--port", str(port), "--client-secrets", str(elsewhere))

    assert code == EXIT_FINE
    assert parse_qs(urlsplit(url).query)["redirect_uri"] == [f"http://127.0.0.1:{port}/"]


def test_without_a_client_file_a_sign_in_says_how_to_come_by_one(
    run_inside: RunCommand, variables: dict[str, str], token_file: Path
) -> None:
    done = run_inside("auth", "login", "--mailbox", "desk", **variables)
    assert done.returncode == EXIT_USAGE
    assert str(token_file.with_name("client.json")) in done.stderr
    assert "Desktop app" in done.stderr


def test_a_sign_in_that_was_given_back_is_gone_here_and_dead_at_google(
    run_inside: RunCommand, variables: dict[str, str], token_file: Path
) -> None:
    copy = token_file.read_bytes()
    done = run_inside("auth", "revoke", "--mailbox", "desk", "--yes", **variables)
    assert (done.returncode, done.stdout) == (EXIT_FINE, f"Signed out of desk. {token_file} is deleted.\n")
    assert not token_file.exists()
    token_file.touch(0o600)
    token_file.write_bytes(copy)
    assert "invalid_grant" in run_inside("poll", **variables).stderr


def test_nobody_is_signed_out_unasked(run_inside: RunCommand, variables: dict[str, str], token_file: Path) -> None:
    done = run_inside("auth", "revoke", "--mailbox", "desk", **variables)
    assert done.returncode == EXIT_USAGE
    assert "--yes" in done.stderr
    assert token_file.exists()


@pytest.mark.parametrize(("answer", "code", "stays"), [("n", EXIT_LOOK, True), ("y", EXIT_FINE, False)])
def test_on_a_terminal_the_answer_decides(
    environment: dict[str, str], token_file: Path, answer: str, code: int, *, stays: bool
) -> None:
    person, terminal = pty.openpty()
    try:
        os.write(person, f"{answer}\n".encode())
        done = subprocess.run(
            [*PROGRAM, "auth", "revoke", "--mailbox", "desk"],
            env=environment,
            stdin=terminal,
            capture_output=True,
            text=True,
            timeout=BOUND_SECONDS,
            check=False,
        )
    finally:
        os.close(person)
        os.close(terminal)
    assert "Sign out of desk and delete its token file?" in done.stdout
    assert (done.returncode, token_file.exists()) == (code, stays)


def test_a_sign_in_stays_when_google_can_not_be_told(
    run_inside: RunCommand, variables: dict[str, str], token_file: Path, simulator: Simulator
) -> None:
    simulator.faults.add(Fault("revoke", status=503, times=None))
    done = run_inside("auth", "revoke", "--mailbox", "desk", "--yes", **variables)
    assert done.returncode == EXIT_UNREACHABLE
    assert token_file.exists()


def test_a_sign_in_is_told_with_account_scope_and_age_and_the_trap_of_seven_days(
    run_inside: RunCommand, variables: dict[str, str], token_file: Path
) -> None:
    three_days_ago = datetime.now(UTC) - timedelta(days=3, minutes=1)
    os.utime(token_file, (three_days_ago.timestamp(), three_days_ago.timestamp()))
    assert run_inside("auth", "status", **variables).stdout.splitlines()[1].split()[:2] == ["desk", "-"]
    assert run_inside("poll", **variables).returncode == EXIT_FINE

    done = run_inside("auth", "status", **variables)

    assert done.returncode == EXIT_FINE
    row, trap, end = (line for line in done.stdout.splitlines()[1:] if line)
    assert row.split() == ["desk", ADDRESS, "gmail.readonly", "3", "d", str(token_file), "ready"]
    assert SEVEN_DAYS in trap
    assert f"{three_days_ago + timedelta(days=7):%Y-%m-%d %H:%M}" in end


def test_a_sign_in_older_than_seven_days_has_come_past_the_trap(
    run_inside: RunCommand, variables: dict[str, str], token_file: Path
) -> None:
    long_ago = (datetime.now(UTC) - timedelta(days=30)).timestamp()
    os.utime(token_file, (long_ago, long_ago))
    done = run_inside("auth", "status", **variables)
    assert done.stdout.rstrip().endswith("sign in once more.")
    assert "30 d" in done.stdout


def test_the_key_of_a_service_account_is_told_with_its_subject_and_without_the_trap(
    run_inside: RunCommand, variables: dict[str, str], token_file: Path
) -> None:
    key = {"type": "service_account", "client_email": "r@p.example", "private_key": "k", "subject": ADDRESS}
    token_file.write_text(json.dumps({**key, "token_uri": "https://oauth2.googleapis.com/token"}), encoding="utf-8")
    record = json.loads(run_inside("auth", "status", "--json", **variables).stdout)
    assert (record["kind"], record["account"]) == ("service account", ADDRESS)
    assert record["ends_in_testing_at"] is None
    assert SEVEN_DAYS not in run_inside("auth", "status", **variables).stdout


def test_sign_ins_are_told_without_the_database_as_well(run_inside: RunCommand, variables: dict[str, str]) -> None:
    done = run_inside("auth", "status", "--json", **{**variables, "INBOX_LOOP_DATABASE__URL": NOBODY_LISTENS})
    record = json.loads(done.stdout)
    assert (done.returncode, record["usable"], record["account"]) == (EXIT_FINE, True, None)
    assert record["scopes"] == [SCOPE]
    assert done.stderr.startswith("inbox-loop: accounts are not shown: Postgres at 127.0.0.1:1")


def test_no_private_postgres_is_made_to_look_at_sign_ins(
    run_inside: RunCommand, variables: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "postgres"
    private = {"INBOX_LOOP_DATABASE__URL": "embedded", "INBOX_LOOP_DATABASE__DATA_FOLDER": str(folder)}
    done = run_inside("auth", "status", **{**variables, **private})
    assert (done.returncode, done.stderr) == (EXIT_FINE, "")
    assert not folder.exists()
