"""The reading processes of a program: a few, started when they are needed, and kept.

Lives here: ``ReadingPool``, which reads messages for any number of threads. Not here: a process (``process.py``), and
what it may cost (``limits.py``).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from inbox_loop.errors import ReadingInterrupted, UnreadableMessage
from inbox_loop.gmail.wire import Download
from inbox_loop.message.model import Message
from inbox_loop.reader.frames import pack_request
from inbox_loop.reader.limits import READER_CRASHED, TOOK_TOO_LONG, ReadingLimits
from inbox_loop.reader.process import SLICE_SECONDS, Check, ReadingProcess
from inbox_loop.reader.replies import open_reply

# Two, so that a message that takes its whole time does not hold up all others. A message usually takes milliseconds
# here and a tenth of a second at Gmail, so more would be idle.
MOST_PROCESSES = 2

log = structlog.get_logger()


class ReadingPool:
    """Reads messages in processes of its own. Thread-safe. Close it in the end."""

    def __init__(self, limits: ReadingLimits) -> None:
        self._limits = limits
        self._places = threading.BoundedSemaphore(MOST_PROCESSES)
        self._lock = threading.Lock()
        self._idle: list[ReadingProcess] = []
        self._is_closed = False

    def read(self, download: Download, check: Check) -> Message:
        """Make a message of what was downloaded. ``check`` is called while it waits; what it raises ends the wait.

        Raises ``UnreadableMessage``, over a limit with the reason ``took_too_long`` or ``took_too_much_memory``, and
        ``reader_crashed`` for a fault of the program; ``ReadingInterrupted`` when the process was stopped from outside,
        ``ReaderUnavailable`` when none can be had at all.
        """
        request = pack_request(download)
        try:
            with self._place(check):
                content = self._ask(request, check)
            return open_reply(content)
        except UnreadableMessage as error:
            if error.reason == READER_CRASHED:
                log.error("reading.crashed", error=str(error))  # noqa: TRY400 - this stack tells nothing
            raise

    def close(self) -> None:
        """End the idle processes now, and those at work when they have answered."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for process in idle:
            process.close()

    @contextmanager
    def _place(self, check: Check) -> Iterator[None]:
        while not self._places.acquire(timeout=SLICE_SECONDS):
            check()
        try:
            yield
        finally:
            self._places.release()

    def _ask(self, request: bytes, check: Check) -> bytes:
        with self._lock:
            used = self._idle.pop() if self._idle else None
        if used is not None:
            try:
                return self._ask_one(used, request, check)
            except (UnreadableMessage, ReadingInterrupted) as error:
                # Memory and crashes may be the fault of messages it read before, or of an operator's kill.
                if isinstance(error, UnreadableMessage) and error.reason == TOOK_TOO_LONG:
                    raise
        return self._ask_one(ReadingProcess(self._limits), request, check)

    def _ask_one(self, process: ReadingProcess, request: bytes, check: Check) -> bytes:
        try:
            content = process.ask(request, check)
        except BaseException:
            process.kill()
            raise
        with self._lock:
            is_kept = not self._is_closed
            if is_kept:
                self._idle.append(process)
        if not is_kept:
            process.close()
        return content
