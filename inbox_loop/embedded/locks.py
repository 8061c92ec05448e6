"""Locks on files, freed by the kernel however their holder ends.

Not here: which lock means what; the package's own page says that.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from inbox_loop.embedded.folders import CHOOSE_ANOTHER
from inbox_loop.errors import EmbeddedUnavailable

_RETRY_SECONDS = 0.01


class FileLock:
    """One open file description on a lock file; two of them count apart, in one process as in two.

    A process that inherits ``fd`` shares the lock: it is free when the last of them has closed it. Every method
    raises ``EmbeddedUnavailable`` where the file system has no locks.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise self._unusable(error) from error

    def try_exclusive(self) -> bool:
        """Take the lock alone, if nobody holds it."""
        return self._try(fcntl.LOCK_EX)

    def wait_exclusive(self, *, seconds: float) -> bool:
        """Take the lock alone as soon as nobody holds it. False: still held after so many seconds."""
        return self._try_for(fcntl.LOCK_EX, seconds)

    def wait_shared(self, *, seconds: float) -> bool:
        """Take the lock beside other sharers, as soon as nobody holds it alone. False: still held after so long."""
        return self._try_for(fcntl.LOCK_SH, seconds)

    def block_exclusive(self) -> None:
        """Sleep, without a limit and without waking up, until the lock is held alone."""
        try:
            fcntl.flock(self.fd, fcntl.LOCK_EX)
        except OSError as error:
            raise self._unusable(error) from error

    def free(self) -> None:
        """Let go of the lock and keep the file open."""
        fcntl.flock(self.fd, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the file; the lock goes unless another process inherited it."""
        os.close(self.fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _try(self, mode: int) -> bool:
        try:
            fcntl.flock(self.fd, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise self._unusable(error) from error
        return True

    def _unusable(self, error: OSError) -> EmbeddedUnavailable:
        return EmbeddedUnavailable(f"{self._path} can't be locked: {error.strerror}.", hint=CHOOSE_ANOTHER)

    def _try_for(self, mode: int, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not self._try(mode):
            if time.monotonic() >= deadline:
                return False
            time.sleep(_RETRY_SECONDS)
        return True
