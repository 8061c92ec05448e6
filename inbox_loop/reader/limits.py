"""What reading one message may cost, and how the kernel holds a process to it.

Lives here: ``ReadingLimits``, the codes of what went over them, and what the reading process does to itself. Not here:
who watches it end (``process.py``).
"""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

TOOK_TOO_LONG = "took_too_long"
TOOK_TOO_MUCH_MEMORY = "took_too_much_memory"
READER_CRASHED = "reader_crashed"

# How a reading process ends when its memory is used up.
EXIT_OUT_OF_MEMORY = 71


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """What a message may use up."""

    cpu_seconds: float
    """On the processor, for each message."""
    memory_bytes: int
    """Of the whole process that reads, its programs included."""


def cap_memory(memory_bytes: int) -> None:
    """Let this process have no more memory, for good, so that allocations fail; and let a crash leave no copy of it."""
    _, highest = resource.getrlimit(resource.RLIMIT_AS)
    most = memory_bytes if highest == resource.RLIM_INFINITY else min(memory_bytes, highest)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@contextmanager
def timed(cpu_seconds: float) -> Iterator[None]:
    """Inside, this process may spend so much time on the processor; then the kernel ends it with SIGPROF.

    No handler is involved, so that it also ends a call into a library that does not come back.
    """
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def settle_signals() -> None:
    """Leave the end of this process to its program, its time limit and SIGKILL.

    Ctrl-C and systemd's SIGTERM reach it too; the program decides what becomes of the message it is at.
    """
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGPROF})
