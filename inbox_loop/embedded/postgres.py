"""The running server: its settings, when it is ready, how it is stopped.

Not here: when to start and stop it (``supervisor.py``), how its data is made (``cluster.py``).
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from inbox_loop.embedded.children import explain_failure, start
from inbox_loop.embedded.cluster import Cluster
from inbox_loop.embedded.folders import Place, open_log
from inbox_loop.embedded.locks import FileLock
from inbox_loop.embedded.sockets import PORT
from inbox_loop.errors import EmbeddedUnavailable

# A start after a power cut replays up to a gigabyte of log first.
READY_SECONDS = 120.0
# A fast shutdown writes out what is in memory; a slow disk takes its time.
STOP_SECONDS = 60.0
_QUIT_SECONDS = 10.0
_LOOK_SECONDS = 0.01

# Everything else keeps Postgres's default, fsync above all, and can be changed in the data folder's postgresql.conf.
_SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Errors of statements go to whoever sent them. Their text and details quote rows, and rows quote mail: not logged.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_checkpoints": "off",
    # One process fewer; nothing subscribes to anything here.
    "max_logical_replication_workers": "0",
    # Compiling costs more than our short statements can win back.
    "jit": "off",
}

# Line 8 of postmaster.pid, which pg_ctl looks at as well.
_STATUS_LINE = 7
_READY = "ready"


def start_postgres(cluster: Cluster, sockets: Path, place: Place) -> subprocess.Popen[str]:
    """Start the server and wait until it accepts connections. Raises ``EmbeddedUnavailable``.

    Waits first for the processes of an earlier server on the same data to be gone.
    """
    with FileLock(place.postgres_lock) as lock:
        wait_for_orphans(lock, cluster.data)
        _forget_stranger(cluster.data)
        log = open_log(place.postgres_log)
        begin = os.fstat(log).st_size
        try:
            server = start(
                [cluster.binaries.program("postgres"), "-D", cluster.data, *_options(sockets)],
                account=cluster.account,
                log=log,
                keep=lock,
                death_signal=signal.SIGINT,
            )
        finally:
            os.close(log)
    _wait_until_ready(server, cluster.data, place, begin)
    return server


def _options(sockets: Path) -> Iterator[str]:
    quoted = str(sockets).replace('"', '""')
    yield from ("-c", f'unix_socket_directories="{quoted}"')
    for name, value in _SETTINGS.items():
        yield from ("-c", f"{name}={value}")


def _wait_until_ready(server: subprocess.Popen[str], data: Path, place: Place, begin: int) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        lines = _read_pid_file(data)
        if lines and lines[0] == str(server.pid) and lines[_STATUS_LINE:] and lines[_STATUS_LINE].strip() == _READY:
            return
        time.sleep(_LOOK_SECONDS)
    stop_postgres(server)
    raise explain_failure("Postgres", place, begin)


def stop_postgres(server: subprocess.Popen[str]) -> None:
    """Shut down so that the next start has nothing to repair; when that takes too long, so that it has."""
    if server.poll() is not None:
        return
    for sent, seconds in ((signal.SIGINT, STOP_SECONDS), (signal.SIGQUIT, _QUIT_SECONDS)):
        server.send_signal(sent)
        try:
            server.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            continue
        return
    server.kill()
    server.wait()


def wait_for_orphans(lock: FileLock, data: Path) -> None:
    """Take ``postgres.lock``; processes that a killed supervisor left behind end first.

    Raises ``EmbeddedUnavailable``.
    """
    if lock.try_exclusive():
        return
    lines = _read_pid_file(data)
    if lines and _works_in(int(lines[0]), data):
        with suppress(ProcessLookupError):  # most likely it is on its way out already, or has just ended
            os.kill(int(lines[0]), signal.SIGINT)
    if not lock.wait_exclusive(seconds=STOP_SECONDS):
        raise EmbeddedUnavailable(
            f"Processes of an earlier Postgres still use {data.parent}.", hint="End them, and try again."
        )


def _forget_stranger(data: Path) -> None:
    """Remove a postmaster.pid left by a crash, when its number now belongs to a process which is no server of ours.

    Postgres itself would refuse to start as long as that process lives. A server that a person started by
    hand on this data works in the data folder, and is left alone.
    """
    lines = _read_pid_file(data)
    if lines and _is_stranger(int(lines[0]), data):
        (data / "postmaster.pid").unlink(missing_ok=True)


def _works_in(pid: int, data: Path) -> bool:
    try:
        return Path(f"/proc/{pid}/cwd").samefile(data)
    except OSError:
        return False


def _is_stranger(pid: int, data: Path) -> bool:
    """True only where the system shows what the process works in; a doubt is no."""
    try:
        return not Path(f"/proc/{pid}/cwd").samefile(data)
    except OSError:
        return False


def _read_pid_file(data: Path) -> list[str]:
    try:
        lines = (data / "postmaster.pid").read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    # A standalone server (initdb's) writes its number negated.
    return lines if lines and lines[0].isdecimal() else []
