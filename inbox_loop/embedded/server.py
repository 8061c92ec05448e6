"""Using the private Postgres: attach to the one that runs, or start it.

Not here: what runs on while there are users (``supervisor.py``).
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from inbox_loop.embedded.address import Address, delete_address, find_address, read_report
from inbox_loop.embedded.binaries import Binaries, find_binaries
from inbox_loop.embedded.folders import Place, open_log, prepare_place, read_tail
from inbox_loop.embedded.locks import FileLock
from inbox_loop.embedded.postgres import READY_SECONDS, STOP_SECONDS
from inbox_loop.errors import EmbeddedUnavailable

_SUPERVISOR = Path(__file__).with_name("__main__.py")
_ROOT_FOLDER = Path("/var/lib/inbox-loop")

# Waiting for orphans, making the data, starting: each is bounded, and this is above their sum.
_START_SECONDS = READY_SECONDS + 2 * STOP_SECONDS + 120.0
_LOOK_SECONDS = 0.02

# How soon a user notices that the supervisor was killed, and the longest pause when it can't be started.
_GUARD_SECONDS = 2.0
_LONGEST_GUARD_SECONDS = 30.0
# How long a user that leaves waits for a start which its guard has begun; that start needs nobody to finish.
_LEAVE_SECONDS = 2.0

# What the supervisor may see of our environment; secrets and Postgres's own variables stay behind.
_PASSED_VARIABLES = ("PATH", "TMPDIR", "XDG_RUNTIME_DIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


@contextmanager
def use_embedded(folder: Path | None = None) -> Iterator[str]:
    """Attach to the private Postgres below ``folder``, starting it first if need be, and yield its URL.

    The database ``inbox_loop`` exists and belongs to the role of the URL, which may create databases and is
    no superuser; the role ``postgres`` is. While this is open the server stays up, for this process and all others;
    two seconds after the last user, even one that was killed, it ends. Without ``folder``: the user's data
    folder, for root ``/var/lib/inbox-loop``.

    Raises ``EmbeddedUnavailable``, with a hint, whatever is missing. A first start takes about a second.
    """
    place = prepare_place(folder or default_folder())
    with FileLock(place.users_lock) as users:
        if not users.wait_shared(seconds=2 * STOP_SECONDS):
            raise EmbeddedUnavailable(
                f"The private Postgres in {place.folder} is shutting down and does not end.",
                hint=f"Try again later; see {place.supervisor_log}.",
            )
        address = find_or_start(place)
        guard = Guard(place)
        guard.start()
        try:
            yield address.url
        finally:
            guard.stop()


def default_folder() -> Path:
    """Where the data is kept when no folder is named."""
    if os.geteuid() == 0:
        return _ROOT_FOLDER  # below root's own home Postgres's user could not reach it
    return platformdirs.user_data_path("inbox-loop")


def find_or_start(place: Place) -> Address:
    """The running server's address; the caller holds ``users.lock``. Raises ``EmbeddedUnavailable``."""
    deadline = time.monotonic() + _START_SECONDS
    with FileLock(place.start_lock) as start:
        if start.wait_exclusive(seconds=_START_SECONDS):
            while time.monotonic() < deadline:
                with FileLock(place.supervisor_lock) as supervisor:
                    if supervisor.try_exclusive():
                        return _start_supervisor(place, supervisor)
                address = find_address(place)
                if address is not None:
                    return address
                time.sleep(_LOOK_SECONDS)  # it is stopping, or starts its server again
    raise EmbeddedUnavailable(
        f"The private Postgres in {place.folder} does not become ready.",
        hint=f"See {place.supervisor_log} and {place.postgres_log}.",
    )


def _start_supervisor(place: Place, lock: FileLock) -> Address:
    """Start the supervisor, which inherits ``supervisor.lock``, and wait for its report.

    Raises ``EmbeddedUnavailable`` whatever fails: a shortage of memory, processes or open files passes.
    """
    delete_address(place)
    log = open_log(place.supervisor_log)
    try:
        begin = os.fstat(log).st_size
        with _open_supervisor(place, find_binaries(place), lock, log) as process:
            line = _read_line(process)
    except OSError as error:
        raise EmbeddedUnavailable(
            f"The private Postgres could not be started: {error.strerror}.",
            hint="The machine may be short of memory, processes or open files: try again later.",
        ) from error
    finally:
        os.close(log)
    if not line.endswith("\n"):
        words = read_tail(place.supervisor_log, start=begin).splitlines()
        raise EmbeddedUnavailable(
            f"The private Postgres did not start: {words[-1] if words else 'its supervisor said nothing'}.",
            hint=f"See {place.supervisor_log}.",
        )
    return read_report(line)


def _open_supervisor(place: Place, binaries: Binaries, lock: FileLock, log: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-I", "-S", str(_SUPERVISOR), str(place.folder), str(binaries.folder), binaries.version],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=log,
        cwd="/",
        env={name: os.environ[name] for name in _PASSED_VARIABLES if name in os.environ},
        start_new_session=True,
        umask=0o077,
        pass_fds=(lock.fd,),
    )


def _read_line(process: subprocess.Popen[bytes]) -> str:
    """The supervisor's report; cut short if it ends or takes too long."""
    assert process.stdout is not None  # noqa: S101 - it was asked for
    poll = select.poll()  # select() itself fails in a process with more than 1,024 open files
    poll.register(process.stdout, select.POLLIN)
    deadline = time.monotonic() + _START_SECONDS
    line = b""
    while not line.endswith(b"\n"):
        readable = poll.poll(1000 * max(0.0, deadline - time.monotonic()))
        part = os.read(process.stdout.fileno(), 65536) if readable else b""
        if not part:
            break
        line += part
    return line.decode()


class Guard(threading.Thread):
    """Starts another supervisor should ours be killed: nobody else would, and its users would wait in vain.

    Whatever a start may lack comes as ``EmbeddedUnavailable``, and the guard goes on trying.
    """

    def __init__(self, place: Place) -> None:
        super().__init__(name="embedded-guard", daemon=True)
        self._place = place
        self._left = threading.Event()

    def run(self) -> None:
        """Look every two seconds; more seldom while it fails, which users see as an unreachable database."""
        pause = _GUARD_SECONDS
        while not self._left.wait(pause):
            try:
                self._replace_supervisor()
            except EmbeddedUnavailable:
                pause = min(pause * 2, _LONGEST_GUARD_SECONDS)
            else:
                pause = _GUARD_SECONDS

    def _replace_supervisor(self) -> None:
        """Start one if there is none, and nobody else is about to: waiting for others would hold up who leaves."""
        with FileLock(self._place.start_lock) as start, FileLock(self._place.supervisor_lock) as supervisor:
            if start.try_exclusive() and supervisor.try_exclusive() and not self._left.is_set():
                _start_supervisor(self._place, supervisor)

    def stop(self) -> None:
        """Look no more; a start that is under way goes on without us."""
        self._left.set()
        self.join(_LEAVE_SECONDS)
