"""A reading process, as the program sees it: started, asked, and gone.

Lives here: ``ReadingProcess``, and what its end says of the message it was at. Not here: what it does inside
(``child.py``), and how many there are (``pool.py``).
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from inbox_loop.errors import ReaderUnavailable, ReadingInterrupted, UnreadableMessage
from inbox_loop.reader.child import READY
from inbox_loop.reader.frames import LENGTH
from inbox_loop.reader.limits import (
    EXIT_OUT_OF_MEMORY,
    READER_CRASHED,
    TOOK_TOO_LONG,
    TOOK_TOO_MUCH_MEMORY,
    ReadingLimits,
)

# How often a wait looks up whether the pass is over, in seconds.
SLICE_SECONDS = 0.1
# A start takes a quarter of a second, on a machine that is busy swapping a hundred times that.
START_SECONDS = 60.0
# By the clock on the wall a message may take so many times its time on the processor: others want that too.
PATIENCE = 10
# A process that was told to end, or was killed, is gone within milliseconds.
END_SECONDS = 5.0
CHUNK_BYTES = 1024 * 1024

Check = Callable[[], None]
"""Called now and then while something is waited for; what it raises ends the wait."""


class ReadingProcess:
    """One process that reads one message after another. For one thread at a time.

    Ends when it is closed or killed, and by itself when this program does, at the latest when the message it is at
    has used up its time on the processor.
    """

    def __init__(self, limits: ReadingLimits) -> None:
        self._limits = limits
        self._is_ready = False
        try:
            self._process = _start(limits)
        except OSError as error:
            raise ReaderUnavailable(
                f"No process could be started to read messages in ({error.strerror}).",
                hint="Check this machine's memory and number of processes.",
            ) from error
        assert self._process.stdin is not None  # noqa: S101 - both were asked for
        assert self._process.stdout is not None  # noqa: S101
        self._requests = self._process.stdin.fileno()
        self._replies = self._process.stdout.fileno()
        os.set_blocking(self._requests, False)
        os.set_blocking(self._replies, False)

    def ask(self, request: bytes, check: Check) -> bytes:
        """The content of the reply to a request's frame. After any error, what is left to do is ``kill``.

        Raises ``UnreadableMessage`` when the process ended over the message, ``ReadingInterrupted`` when it was ended
        from outside or did not come back, ``ReaderUnavailable`` when it never got ready, and what ``check`` raises.
        """
        if not self._is_ready:
            self._wait_until_ready(check)
        until = time.monotonic() + PATIENCE * self._limits.cpu_seconds
        try:
            self._send(request, until, check)
            (length,) = LENGTH.unpack(self._receive(LENGTH.size, until, check))
            if length > self._limits.memory_bytes:
                raise UnreadableMessage("The process that read the message answers too much.", reason=READER_CRASHED)
            return self._receive(length, until, check)
        except TimeoutError as error:
            # By the clock on the wall alone: the machine may have stood still. Its time on the processor ends it.
            raise ReadingInterrupted("The process that reads a message stood still.") from error
        except OSError as error:
            raise self._read_end() from error

    def close(self) -> None:
        """Let an idle process end, and wait for that."""
        self._close_pipes()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
        self._close_pipes()

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _wait_until_ready(self, check: Check) -> None:
        try:
            said = self._receive(len(READY), time.monotonic() + START_SECONDS, check)
        except OSError as error:
            raise _does_not_start() from error
        if said != READY:
            raise _does_not_start()
        self._is_ready = True

    def _send(self, content: bytes, until: float, check: Check) -> None:
        left = memoryview(content)
        while left:
            _wait(self._requests, select.POLLOUT, until, check)
            left = left[os.write(self._requests, left[:CHUNK_BYTES]) :]

    def _receive(self, size: int, until: float, check: Check) -> bytes:
        received = bytearray()
        while len(received) < size:
            _wait(self._replies, select.POLLIN, until, check)
            chunk = os.read(self._replies, min(size - len(received), CHUNK_BYTES))
            if not chunk:
                raise BrokenPipeError("the process that reads has gone")
            received += chunk
        return bytes(received)

    def _read_end(self) -> UnreadableMessage | ReadingInterrupted:
        """What it says of a message that the process ended over it."""
        try:
            code = self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            code = 0
        if code == -signal.SIGPROF:
            return _too_long()
        if code == -signal.SIGKILL:
            # By an operator, or by the kernel when the whole machine is short of memory.
            return ReadingInterrupted("The process that reads a message was killed.")
        if code == EXIT_OUT_OF_MEMORY:
            return UnreadableMessage(
                "Reading the message took more memory than it may.",
                reason=TOOK_TOO_MUCH_MEMORY,
                hint="reading.memory_megabytes is the limit.",
            )
        return UnreadableMessage(f"The process that read the message ended with {code}.", reason=READER_CRASHED)


def _start(limits: ReadingLimits) -> subprocess.Popen[bytes]:
    """In a group of its own, without this program's environment, so that no secret lies beside hostile mail."""
    return subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-P", "-m", "inbox_loop.reader.child", str(limits.cpu_seconds), str(limits.memory_bytes)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        cwd="/",
        env=_environment(),
        process_group=0,
    )


def _environment() -> dict[str, str]:
    """What Python needs to find the same program: the paths of this one."""
    passed = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    paths = os.pathsep.join(os.path.abspath(each) for each in sys.path if each)  # noqa: PTH100 - may be no path at all
    return {"PYTHONPATH": paths, "LANG": "C.UTF-8", **passed}


def _wait(pipe: int, event: int, until: float, check: Check) -> None:
    """Until ``pipe`` is ready for ``event`` or broken; raises ``TimeoutError`` at ``until``."""
    poll = select.poll()  # select() itself fails in a process with more than 1,024 open files
    poll.register(pipe, event)
    while not poll.poll(SLICE_SECONDS * 1000):
        check()
        if time.monotonic() >= until:
            raise TimeoutError("the process that reads does not answer")


def _does_not_start() -> ReaderUnavailable:
    return ReaderUnavailable(
        "The process that reads messages does not start.",
        hint="Check that reading.memory_megabytes is enough, and that inbox-loop is installed whole.",
    )


def _too_long() -> UnreadableMessage:
    return UnreadableMessage(
        "Reading the message took longer than it may.", reason=TOOK_TOO_LONG, hint="reading.cpu_seconds is the limit."
    )
