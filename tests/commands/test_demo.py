"""The demo shows the promises at work, on its own mail and on the user's."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.desk import plain_mail
from support.waiting import wait_until

from inbox_loop.errors import EXIT_FINE, EXIT_USAGE

RunCommand = Callable[..., subprocess.CompletedProcess[str]]

BOUND_SECONDS = 60
NOTHING = "tasks created 0 · messages read 0 · transactions that wrote 0"


def test_the_sample_shows_tasks_skips_a_second_ask_and_a_second_run_that_does_nothing(
    run_command: RunCommand,
) -> None:
    done = run_command("demo")
    assert done.returncode == EXIT_FINE, done.stderr
    assert done.stderr == ""
    for became in ("task 1", "skipped: bulk", "skipped: auto_reply", "skipped: bounce", "skipped: sent"):
        assert became in done.stdout
    refs = re.findall(r"task \d+ +(done|open) +(gmail:\w+)#(\w+)", done.stdout)
    assert [status for status, _thread, _message in refs] == ["done", "open", "open"]
    assert len({thread for _status, thread, _message in refs}) == 1
    assert len({message for _status, _thread, message in refs}) == 3
    assert NOTHING in done.stdout


@pytest.mark.parametrize("kind", ["folder", "mbox"])
def test_own_mail_becomes_tasks_too(run_command: RunCommand, tmp_path: Path, kind: str) -> None:
    mail = tmp_path / "mail"
    if kind == "folder":
        mail.mkdir()
        for number in range(3):
            (mail / f"{number}.eml").write_bytes(plain_mail(f"Own mail {number}"))
    else:
        messages = [plain_mail(f"Own mail {number}") for number in range(3)]
        mail.write_bytes(b"".join(b"From a Mon Nov 30 10:00:00 2026\n" + message + b"\n" for message in messages))
    done = run_command("demo", "--mail", str(mail))
    assert done.returncode == EXIT_FINE, done.stderr
    assert "3 messages: 3 tasks created" in done.stdout
    assert NOTHING in done.stdout


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder for temporary files that the account of a private Postgres may pass through."""
    with tempfile.TemporaryDirectory(prefix="inbox-loop-demo-test-") as name:
        Path(name).chmod(0o711)
        yield Path(name)


@pytest.mark.parametrize(
    ("number", "moment"),
    [
        (signal.SIGTERM, "while it plays"),
        (signal.SIGHUP, "while Postgres starts"),
        (signal.SIGINT, "while Postgres starts"),
    ],
)
def test_ended_by_a_signal_it_leaves_nothing_behind(
    home: Path, temporary: Path, number: signal.Signals, moment: str
) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": str(temporary)}
    with subprocess.Popen(
        [sys.executable, "-m", "inbox_loop", "demo"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as demo:
        try:
            wait_until(lambda: any(temporary.glob("inbox-loop-*/supervisor.log")))
            if moment == "while it plays":
                assert demo.stdout is not None
                assert demo.stdout.readline().startswith("1. A mailbox with")
            demo.send_signal(number)
            _, told = demo.communicate(timeout=BOUND_SECONDS)
        finally:
            demo.kill()
    assert (demo.returncode, told) == (128 + number, "")
    assert list(temporary.iterdir()) == []


def test_a_mail_folder_that_does_not_exist_is_told_in_one_line(run_inside: RunCommand) -> None:
    done = run_inside("demo", "--mail", "/nowhere/mail")
    assert done.returncode == EXIT_USAGE
    assert done.stderr.startswith("inbox-loop: There is no /nowhere/mail\n")
