"""The process that owns the private Postgres: it starts it, keeps it up while it is used, and ends with it.

Terms: *idle* means that nobody holds ``users.lock``; *asked* means that SIGTERM or SIGINT came.

Rules:
1. While there are users there is a server. One that dies is started again, with growing pauses.
2. Idle for ``LINGER_SECONDS``: the server is shut down, then this process ends, holding ``users.lock`` alone
   until the end, so that a newcomer waits for the shutdown to finish and starts afresh.
3. Asked: users still get ``DRAIN_SECONDS`` to finish, because systemd asks all processes of a unit at once;
   when the last is gone there is no linger. systemd asks Postgres itself too: it then keeps its connections and takes
   no new ones, and when it ends before its users do, rule 1 holds.
4. Killed: Linux tells Postgres to shut down; users notice and start another supervisor (``server.py``).

Not here: finding or starting this process (``server.py``).
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from enum import Enum, auto
from pathlib import Path
from types import FrameType

from inbox_loop.embedded.account import choose_account
from inbox_loop.embedded.address import Address, delete_address, record_address, render_report
from inbox_loop.embedded.binaries import Binaries, make_reachable
from inbox_loop.embedded.cluster import Cluster, prepare_cluster
from inbox_loop.embedded.folders import Place, turn_log
from inbox_loop.embedded.locks import FileLock
from inbox_loop.embedded.postgres import start_postgres, stop_postgres, wait_for_orphans
from inbox_loop.embedded.sockets import prepare_socket_folder, remove_socket_folder
from inbox_loop.errors import EmbeddedUnavailable

# A script that runs one command after the other attaches in milliseconds instead of starting Postgres each time.
LINGER_SECONDS = 2.0
# Below the 90 seconds after which systemd kills what is left.
DRAIN_SECONDS = 60.0

_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 30.0
_STEADY_SECONDS = 60.0
_LOG_LOOK_SECONDS = 600.0


class Event(Enum):
    """What the supervisor waits for."""

    IDLE = auto()
    SERVER_ENDED = auto()
    ASKED = auto()


def main(arguments: Sequence[str]) -> None:
    """Run as ``folder binaries version``, with ``supervisor.lock`` held by an inherited descriptor.

    The first line on stdout is the report for the starter.
    """
    if os.fork() != 0:
        os._exit(0)  # the starter has a child to wait for; the supervisor itself is nobody's child
    folder, binaries, version = arguments
    place = Place(Path(folder))
    supervisor = Supervisor(place)
    try:
        supervisor.start(Binaries(Path(binaries), version))
    except EmbeddedUnavailable as error:
        _report(render_report(error))
        sys.exit(1)
    _report(render_report(supervisor.address))
    supervisor.serve()


def _report(line: str) -> None:
    """Tell the starter, and let go of the pipe. A starter that is gone does not need to know."""
    try:
        os.write(1, line.encode())
    except BrokenPipeError:
        _note("the process that asked for the server is gone")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)


def _note(text: str) -> None:
    """One line in the log; a full disk loses the line and not the supervisor."""
    with suppress(OSError):
        os.write(2, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {text}\n".encode())


class Supervisor:
    """One server and its users."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._users = FileLock(place.users_lock)
        # Signal handlers and threads put into it; this queue allows both.
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._drain_until: float | None = None
        self._restart_at: float | None = None
        self._pause = _FIRST_PAUSE_SECONDS
        self._log_look_at = time.monotonic() + _LOG_LOOK_SECONDS

    def start(self, binaries: Binaries) -> None:
        """Make what is missing and start the server. Raises ``EmbeddedUnavailable``."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        data = self._place.data(binaries.major)
        account = choose_account(data)
        with FileLock(self._place.postgres_lock) as lock:
            wait_for_orphans(lock, data)
            binaries = make_reachable(binaries, account, self._place)
            self._cluster: Cluster = prepare_cluster(self._place, binaries, account, lock)
        self._sockets = prepare_socket_folder(self._place, account)
        self.address = Address.of(self._sockets)
        self._start_server()

    def serve(self) -> None:
        """Keep the server up until nobody needs it, then stop it."""
        self._watch_users()
        while True:
            event = self._next_event()
            if event is Event.ASKED:
                self._drain_until = self._drain_until or time.monotonic() + DRAIN_SECONDS
            elif event is Event.SERVER_ENDED:
                self._on_server_ended()
            elif event is Event.IDLE:
                if self._stays_idle():
                    break
                self._watch_users()
            elif self._is_due(self._drain_until):
                break
            elif self._is_due(self._restart_at):
                self._restart()
            elif self._is_due(self._log_look_at):
                self._turn_logs()
        self._forget_address()
        stop_postgres(self._server)
        remove_socket_folder(self._place, self._sockets)

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._events.put(Event.ASKED)

    def _next_event(self) -> Event | None:
        """The next event, or None when a planned moment has come first."""
        planned = (self._drain_until, self._restart_at, self._log_look_at)
        moments = [moment for moment in planned if moment is not None]
        try:
            return self._events.get(timeout=max(0.0, min(moments) - time.monotonic()))
        except queue.Empty:
            return None

    @staticmethod
    def _is_due(moment: float | None) -> bool:
        return moment is not None and moment <= time.monotonic()

    def _turn_logs(self) -> None:
        """Keep both logs bounded however long this runs: a start, which turns them as well, may be months ago."""
        self._log_look_at = time.monotonic() + _LOG_LOOK_SECONDS
        for path in (self._place.postgres_log, self._place.supervisor_log):
            try:
                turn_log(path)
            except EmbeddedUnavailable as error:
                _note(str(error))

    # --- users ---------------------------------------------------------------------------------------------------

    def _watch_users(self) -> None:
        def wait_for_the_last() -> None:
            self._users.block_exclusive()
            self._events.put(Event.IDLE)

        threading.Thread(target=wait_for_the_last, daemon=True).start()

    def _stays_idle(self) -> bool:
        """Linger, then look again. True: ``users.lock`` is ours alone and the end has begun."""
        if self._drain_until is not None:
            return True
        self._users.free()
        try:
            event = self._events.get(timeout=LINGER_SECONDS)
        except queue.Empty:
            return self._users.try_exclusive()
        if self._users.try_exclusive():
            return True
        self._events.put(event)  # somebody came meanwhile, so it still has to be dealt with
        return False

    # --- server --------------------------------------------------------------------------------------------------

    def _start_server(self) -> None:
        server = start_postgres(self._cluster, self._sockets, self._place)
        try:
            record_address(self._place, self.address)
        except EmbeddedUnavailable:
            stop_postgres(server)
            raise
        self._server: subprocess.Popen[str] = server
        self._started_at = time.monotonic()

        def wait_for_its_end() -> None:
            server.wait()
            self._events.put(Event.SERVER_ENDED)

        threading.Thread(target=wait_for_its_end, daemon=True).start()

    def _forget_address(self) -> None:
        """Without fail: a stale address leads to a refused connection, and Postgres still has to be looked after."""
        try:
            delete_address(self._place)
        except EmbeddedUnavailable as error:
            _note(str(error))

    def _on_server_ended(self) -> None:
        self._forget_address()
        if time.monotonic() - self._started_at >= _STEADY_SECONDS:
            self._pause = _FIRST_PAUSE_SECONDS
        _note(f"Postgres ended with code {self._server.returncode}; it is started again")
        self._plan_restart()

    def _plan_restart(self) -> None:
        self._restart_at = time.monotonic() + self._pause
        self._pause = min(self._pause * 2, _LONGEST_PAUSE_SECONDS)

    def _restart(self) -> None:
        self._restart_at = None
        try:
            self._start_server()
        except EmbeddedUnavailable as error:
            _note(str(error))
            self._plan_restart()
