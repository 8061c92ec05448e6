"""Processes to measure: the program as a command, the simulator, and what they and Postgres used.

Linux only: memory and processor time are read from /proc.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
_LOOK_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class SimulatorProcess:
    """A simulator in a process of its own, filled with mail."""

    url: str
    token_file: Path
    pid: int


@contextmanager
def running_simulator(folder: Path, mail: Path) -> Iterator[SimulatorProcess]:
    """Start one, without quota, wait until its mail is in, and end it on leaving."""
    token_file = folder / f"{mail.stem}-token.json"
    options = ["--mail", str(mail), "--token-file", str(token_file)]
    command = [sys.executable, "-m", "inbox_loop.simulator", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            if not url:
                raise RuntimeError("the simulator did not start")
            yield SimulatorProcess(url, token_file, process.pid)
        finally:
            process.terminate()


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that ran to its end."""

    output: str
    peak_bytes: int
    """The most memory it held at once."""
    cpu_seconds: float
    """Of the processes in which it read messages as well."""


def start_command(arguments: list[str], variables: Mapping[str, str], folder: Path) -> subprocess.Popen[str]:
    """Start ``inbox-loop`` as a user would, its log in a file of ``folder``, its output to be read."""
    with (folder / "log").open("w") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "inbox_loop", *arguments],
            env={"PATH": os.environ["PATH"], "HOME": str(folder), **variables},
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )


def run_command(arguments: list[str], variables: Mapping[str, str], folder: Path) -> Ended:
    """Run ``inbox-loop`` to its end. Its output must be short: it is read afterwards."""
    peak = 0
    with start_command(arguments, variables, folder) as process:
        # The kernel's own record of an ended child counts the memory of this process before the exec as well.
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            peak = max(peak, _peak_bytes(process.pid))
            time.sleep(_LOOK_SECONDS)
        cpu = sum(_times(process.pid)) / _TICKS_A_SECOND
        output = process.communicate()[0]
    if process.returncode != 0:
        raise RuntimeError(f"exit code {process.returncode}: {read_log(folder)}")
    return Ended(output, peak, cpu)


def read_log(folder: Path) -> str:
    """The end of what a command in ``folder`` logged."""
    return (folder / "log").read_text(encoding="utf-8")[-2000:]


def _peak_bytes(pid: int) -> int:
    """The peak of a running process; 0 for one that is ending."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def cpu_seconds(pid: int) -> float:
    """Processor time of a process, ended or not, without its children."""
    user, system, *_ = _times(pid)
    return (user + system) / _TICKS_A_SECOND


def postgres_cpu_seconds(url: str) -> float:
    """Processor time of those of the server's processes that have ended: its sessions, above all."""
    with psycopg.connect(url) as connection:
        server = _parent(connection.info.backend_pid)
    _, _, user, system = _times(server)
    return (user + system) / _TICKS_A_SECOND


def _times(pid: int) -> tuple[int, ...]:
    """User and system time in ticks: its own, and of its ended children."""
    return tuple(int(field) for field in _fields(pid)[11:15])


def _parent(pid: int) -> int:
    return int(_fields(pid)[1])


def _fields(pid: int) -> list[str]:
    """What /proc says of a process, from its state on (the name before it may hold spaces)."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
