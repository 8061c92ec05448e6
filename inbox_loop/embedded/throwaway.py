"""A private Postgres that leaves nothing behind, data included: for a demo and for tests.

Not here: the one that keeps its data (``server.py``).
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from inbox_loop.embedded.address import find_address
from inbox_loop.embedded.folders import Place
from inbox_loop.embedded.locks import FileLock
from inbox_loop.embedded.postgres import STOP_SECONDS
from inbox_loop.embedded.server import use_embedded
from inbox_loop.errors import EmbeddedUnavailable


@contextmanager
def use_throwaway() -> Iterator[str]:
    """Start a server in a new folder for temporary files and yield its URL; on leaving, stop it and remove the folder.

    Works for root too, whose own temporary folders Postgres's user could not enter. Killed, this process leaves the
    folder behind, but no server. Raises ``EmbeddedUnavailable``.
    """
    try:
        folder = Path(tempfile.mkdtemp(prefix="inbox-loop-"))
    except OSError as error:
        raise EmbeddedUnavailable(
            f"There is no folder for temporary files: {error.strerror}.", hint="Set TMPDIR to a folder you can write."
        ) from error
    if os.geteuid() == 0:
        folder.chmod(0o711)
    try:
        with use_embedded(folder) as url:
            yield url
    finally:
        stop_when_unused(Place(folder))
        shutil.rmtree(folder)


def stop_when_unused(place: Place) -> None:
    """End the server without the usual linger and wait until it is gone; the caller is no user of it any more.

    Raises ``EmbeddedUnavailable`` when it does not end, most likely because others use it, or is being started.
    """
    with FileLock(place.start_lock) as start, FileLock(place.supervisor_lock) as supervisor:
        if not start.wait_exclusive(seconds=STOP_SECONDS):
            raise EmbeddedUnavailable(
                f"The private Postgres in {place.folder} is being started by somebody, and is not stopped.",
                hint=f"Try again later; see {place.supervisor_log}.",
            )
        if supervisor.try_exclusive():
            return
        address = find_address(place)
        if address is not None:
            with suppress(ProcessLookupError):  # it has just ended by itself
                os.kill(address.supervisor, signal.SIGTERM)
        if not supervisor.wait_exclusive(seconds=2 * STOP_SECONDS):
            raise EmbeddedUnavailable(
                f"The private Postgres in {place.folder} does not end.", hint=f"See {place.supervisor_log}."
            )
