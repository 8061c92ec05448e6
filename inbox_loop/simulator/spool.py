"""The bytes of delivered mail, kept in one unnamed file, so that a mailbox of gigabytes needs no gigabytes of memory.

Lives here: the file. Not here: what the bytes mean.
"""

from __future__ import annotations

import os
import tempfile
import threading
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Slot:
    """Where one message's bytes lie."""

    start: int
    size: int


class Spool:
    """Append-only bytes on disk; safe between threads."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - open as long as the simulator; see close()
        self._end = 0
        self._lock = threading.Lock()

    def append(self, data: bytes) -> Slot:
        """Keep ``data``."""
        with self._lock:
            slot = Slot(self._end, len(data))
            view = memoryview(data)
            while view:
                written = os.pwrite(self._file.fileno(), view, self._end)
                self._end += written
                view = view[written:]
            return slot

    def read(self, slot: Slot) -> bytes:
        """What was kept there."""
        chunks = []
        position, left = slot.start, slot.size
        while left:
            chunk = os.pread(self._file.fileno(), left, position)
            if not chunk:
                raise OSError("the spool of mail is shorter than what was written to it")
            chunks.append(chunk)
            position += len(chunk)
            left -= len(chunk)
        return b"".join(chunks)

    def close(self) -> None:
        """Give the disk space back."""
        self._file.close()
