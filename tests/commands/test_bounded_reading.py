"""Mail that is too large, or takes too long to read, as the whole program deals with it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest
from support.desk import ADDRESS, plain_mail
from support.processes import reading_processes

from inbox_loop.errors import EXIT_FINE, EXIT_LOOK
from inbox_loop.simulator.server import Simulator

RunCommand = Callable[..., subprocess.CompletedProcess[str]]
LIMIT = 1024 * 1024
SLOW_PART = b"--b\r\nContent-Type: text/html\r\n\r\n" + b"<p>all <b>work</b> and no play</p>\r\n" * 600
SLOW_HEAD = b"From: ann@example.org\r\nSubject: Slow\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"


@pytest.fixture
def run(run_inside: RunCommand, variables: dict[str, str]) -> RunCommand:
    """Runs a command with the settings of ``variables``; it has left no process behind when it ends."""

    def with_settings(*arguments: str, **changed: str) -> subprocess.CompletedProcess[str]:
        done = run_inside(*arguments, **(variables | changed))
        assert reading_processes() == set()
        return done

    return with_settings


def lines_of(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_message_over_the_limit_becomes_a_task_that_says_so(run: RunCommand, simulator: Simulator) -> None:
    simulator.account(ADDRESS).deliver(plain_mail("Photos") + b"x" * LIMIT)

    assert run("backfill", INBOX_LOOP_GMAIL__MAX_MESSAGE_BYTES=str(LIMIT)).returncode == EXIT_FINE
    (task,) = lines_of(run("tasks", "show", "1", "--json"))

    assert task["title"] == "Photos"
    assert "[This message, 1.0 MB, is too large to be read here. All of it is in Gmail.]" in str(task["body"])
    assert [call.query for call in simulator.calls if call.method == "messages.get" and "full" in call.query] == []


def test_a_message_that_takes_too_long_is_quarantined_with_that_reason_and_the_rest_become_tasks(
    run: RunCommand, simulator: Simulator
) -> None:
    account = simulator.account(ADDRESS)
    account.deliver(plain_mail("One"))
    slow = account.deliver(SLOW_HEAD + SLOW_PART * 1000 + b"--b--\r\n")
    account.deliver(plain_mail("Two"))

    done = run("backfill", "--json", INBOX_LOOP_READING__CPU_SECONDS="1")
    (report,) = lines_of(done)
    told = run("messages", "explain", slow.message_id).stdout

    assert done.returncode == EXIT_LOOK
    assert (report["created"], report["quarantined"], report["pending"]) == (2, 1, 0)
    assert "longer than it may" in " ".join(told.split())
    assert "reading.cpu_seconds" in told
