"""The demo shows the promises at work, on its own mail and on the user's."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support.desk import plain_mail

from inbox_loop.errors import EXIT_FINE, EXIT_USAGE

RunCommand = Callable[..., subprocess.CompletedProcess[str]]

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


def test_a_mail_folder_that_does_not_exist_is_told_in_one_line(run_inside: RunCommand) -> None:
    done = run_inside("demo", "--mail", "/nowhere/mail")
    assert done.returncode == EXIT_USAGE
    assert done.stderr.startswith("inbox-loop: There is no /nowhere/mail\n")
