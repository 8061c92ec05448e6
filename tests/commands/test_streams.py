"""A standard output or standard error that takes nothing: full, closed, or without a reader."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest
from support.records import RunCommand, numbers_of, record_of

from inbox_loop import __version__
from inbox_loop.errors import EXIT_FINE, EXIT_LOOK, EXIT_USAGE

FULL = Path("/dev/full")
NO_SPACE = "inbox-loop: the result could not be written: No space left on device\n"
NO_READER = "inbox-loop: the result could not be written: Broken pipe\n"
CREATE = ["tasks", "create", "--title", "x", "--json"]


@contextmanager
def pipe_without_reader() -> Iterator[IO[bytes]]:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as opened:
        yield opened


def run_into(
    output: IO[bytes], *arguments: str, errors: IO[bytes] | int = subprocess.PIPE, url: str = ""
) -> tuple[int, str]:
    """The exit code, and what standard error took."""
    done = subprocess.run(
        [sys.executable, "-m", "inbox_loop", *arguments],
        env={"INBOX_LOOP_DATABASE__URL": url, "LANG": "C.UTF-8"},
        stdout=output,
        stderr=errors,
        timeout=60,
        check=False,
    )
    return done.returncode, (done.stderr or b"").decode()


def test_a_result_that_finds_the_disk_full_is_told_in_a_sentence_and_its_work_is_done(
    run_tasks: RunCommand, database_url: str
) -> None:
    with FULL.open("wb") as full:
        assert run_into(full, *CREATE, url=database_url) == (EXIT_LOOK, NO_SPACE)
    assert numbers_of(run_tasks("list", "--json")) == [1]


def test_a_result_that_finds_no_reader_is_told_in_a_sentence_and_its_work_is_done(
    run_tasks: RunCommand, database_url: str
) -> None:
    with pipe_without_reader() as pipe:
        assert run_into(pipe, *CREATE, url=database_url) == (EXIT_LOOK, NO_READER)
    assert numbers_of(run_tasks("list", "--json")) == [1]


@pytest.mark.parametrize("arguments", [["--version"], ["--help"]], ids=" ".join)
def test_what_the_program_says_of_itself_finds_the_disk_full_likewise(arguments: list[str]) -> None:
    with FULL.open("wb") as full:
        assert run_into(full, *arguments) == (EXIT_LOOK, NO_SPACE)


def test_an_error_whose_record_can_not_be_written_keeps_its_exit_code_and_its_words() -> None:
    with FULL.open("wb") as full:
        code, told = run_into(full, "tasks", "show", "--json")
    assert code == EXIT_USAGE
    assert told.startswith("inbox-loop: Missing argument")
    assert told.endswith(NO_SPACE)


def test_a_standard_error_that_takes_nothing_changes_neither_result_nor_exit_code(
    run_inside: RunCommand, tmp_path: Path
) -> None:
    result = tmp_path / "result"
    with FULL.open("wb") as full, result.open("wb") as output:
        assert run_into(output, "tasks", "show", "--json", errors=full) == (EXIT_USAGE, "")
    assert result.read_text(encoding="utf-8") == run_inside("tasks", "show", "--json").stdout


def test_a_closed_standard_error_keeps_no_command_from_its_work() -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f"{sys.executable} -m inbox_loop --version 2>&-"],
        env={},
        stdout=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (EXIT_FINE, f"inbox-loop {__version__}\n".encode())


def test_a_closed_standard_output_is_told_in_a_sentence() -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f"{sys.executable} -m inbox_loop --version >&-"],
        env={},
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    told = b"inbox-loop: the result could not be written: standard output is closed\n"
    assert (done.returncode, done.stderr) == (EXIT_LOOK, told)


def test_a_result_that_is_read_is_fine(run_tasks: RunCommand) -> None:
    done = run_tasks(*CREATE[1:])
    assert (done.returncode, record_of(done)["number"]) == (EXIT_FINE, 1)
