"""A reading process never outlives its program, however that ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fixtures.gmail import ADDRESS
from support.desk import plain_mail
from support.processes import child_pids, command_line, cpu_seconds, is_running
from support.running import Running
from support.waiting import wait_until

from inbox_loop.simulator.server import Simulator

CPU_SECONDS = 2

PROGRAM = f"""
import sys
from support.downloads import plain, slow
from inbox_loop.reader.limits import ReadingLimits
from inbox_loop.reader.pool import ReadingPool

pool = ReadingPool(ReadingLimits(cpu_seconds={CPU_SECONDS}, memory_bytes=1024**3))
assert pool.read(plain("hello"), lambda: None).text == "hello"
print("ready", flush=True)
if sys.argv[1] == "busy":
    pool.read(slow(), lambda: None)
sys.stdin.read()
"""


@pytest.fixture
def start_program() -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Starts a program that has read a message, and is ``idle`` or ``busy`` with another."""
    started: list[subprocess.Popen[str]] = []

    def start(state: str) -> subprocess.Popen[str]:
        program = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, state],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(each for each in sys.path if each)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(program)
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        return program

    yield start
    for program in started:
        program.kill()
        program.communicate()


def reader_of(program: subprocess.Popen[str]) -> int:
    """The one process in which a program reads messages."""
    (pid,) = (pid for pid in child_pids(program.pid) if "inbox_loop.reader.child" in command_line(pid))
    return pid


def test_an_idle_process_ends_at_once_when_its_program_is_killed(
    start_program: Callable[[str], subprocess.Popen[str]],
) -> None:
    program = start_program("idle")
    reader = reader_of(program)

    program.kill()

    wait_until(lambda: not is_running(reader), seconds=5)


def test_a_busy_process_ends_within_its_time_when_its_program_is_killed(
    start_program: Callable[[str], subprocess.Popen[str]],
) -> None:
    program = start_program("busy")
    reader = reader_of(program)
    wait_until(lambda: cpu_seconds(reader) > 0.5)

    program.kill()

    wait_until(lambda: not is_running(reader), seconds=10 * CPU_SECONDS)


def test_a_reading_process_holds_no_file_of_its_program_but_the_pipes(
    start_program: Callable[[str], subprocess.Popen[str]],
) -> None:
    reader = reader_of(start_program("idle"))

    open_files = {each.name: str(each.readlink()) for each in Path(f"/proc/{reader}/fd").iterdir()}

    assert open_files.keys() == {"0", "1", "2"}
    assert open_files["2"] == "/dev/null"


def test_a_daemon_that_is_killed_leaves_no_reading_process(
    simulator: Simulator, variables: dict[str, str], start_command: Callable[..., Running]
) -> None:
    daemon = start_command("run", **variables, INBOX_LOOP_POLL__INTERVAL_SECONDS="1")
    daemon.wait_for("mailbox.registered")
    simulator.account(ADDRESS).deliver(plain_mail("one"))
    daemon.wait_for("task.created")
    reader = reader_of(daemon.process)

    daemon.process.kill()

    wait_until(lambda: not is_running(reader), seconds=5)
