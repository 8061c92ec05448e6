"""What Linux says of processes."""

from __future__ import annotations

import os
from pathlib import Path


def child_pids(pid: int | None = None) -> set[int]:
    """The processes that a process started, this one when none is named, and has not waited for yet."""
    threads = Path(f"/proc/{pid or os.getpid()}/task").glob("*/children")
    return {int(child) for thread in threads for child in thread.read_text().split()}


def is_running(pid: int) -> bool:
    """Whether there is such a process that has not ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def command_line(pid: int) -> str:
    """Program and arguments; empty when it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def cpu_seconds(pid: int) -> float:
    """What a process has used of a processor so far; 0 when it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def reading_processes() -> set[int]:
    """The processes in which this one reads messages."""
    return {pid for pid in child_pids() if "inbox_loop.reader.child" in command_line(pid)}
