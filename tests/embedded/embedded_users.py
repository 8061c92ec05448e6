"""Users of a private Postgres as processes of their own, and a look at what they leave behind.

Lives here: ``UserProcess``, and ``Server`` to look at a server from outside.
Not here: fixtures (``embedded_fixtures.py``).
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from inbox_loop.embedded.binaries import find_binaries
from inbox_loop.embedded.folders import Place
from inbox_loop.embedded.locks import FileLock
from inbox_loop.embedded.throwaway import stop_when_unused

ROOT = Path(__file__).parents[2]
IS_ROOT = os.geteuid() == 0

# What a user does: attach, say where, stay until its input ends. Errors are said, too.
_PROGRAM = """
import json, sys
from pathlib import Path
from inbox_loop.embedded.server import use_embedded
from inbox_loop.errors import InboxLoopError
try:
    with use_embedded(Path(sys.argv[1])) as url:
        print(json.dumps({"url": url}), flush=True)
        sys.stdin.read()
except InboxLoopError as error:
    print(json.dumps({"code": error.code, "error": str(error), "hint": error.hint}), flush=True)
"""


class UserProcess:
    """One process that uses the private Postgres in ``folder``."""

    def __init__(
        self, folder: Path, *, python: str = sys.executable, uid: int | None = None, env: dict[str, str] | None = None
    ) -> None:
        self.process = subprocess.Popen(
            [python, "-c", _PROGRAM, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
            env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
            user=uid,
            group=uid,
            extra_groups=None if uid is None else [],
        )
        self._answer: dict[str, str] | None = None

    @property
    def answer(self) -> dict[str, str]:
        """What it said first: url, or code, error and hint. Waits for it."""
        if self._answer is None:
            assert self.process.stdout is not None
            self._answer = json.loads(self.process.stdout.readline())
        return self._answer

    @property
    def url(self) -> str:
        """Where it reached the server. Waits for it; fails when it was told an error."""
        assert "url" in self.answer, self.answer
        return self.answer["url"]

    def leave(self) -> None:
        """End as a program ends."""
        self.process.communicate(timeout=30)
        assert self.process.returncode == 0

    def kill(self) -> None:
        """End without a chance to tidy up."""
        self.process.kill()
        self.process.communicate(timeout=30)


@dataclass(frozen=True)
class Server:
    """The private Postgres in a folder, seen from outside."""

    folder: Path

    @property
    def place(self) -> Place:
        """The names in its folder."""
        return Place(self.folder)

    @property
    def supervisor(self) -> int:
        """Process id of the supervisor."""
        return int(json.loads(self.place.address.read_text())["supervisor"])

    @property
    def postmaster(self) -> int:
        """Process id of Postgres."""
        (pid_file,) = self.folder.glob("postgres-*/postmaster.pid")
        return int(pid_file.read_text().splitlines()[0])

    @property
    def state(self) -> str:
        """What the data says about how it was left: "shut down" needs no repair."""
        (data,) = self.folder.glob("postgres-[0-9]*")
        program = find_binaries(self.place).program("pg_controldata")
        text = subprocess.run([program, data], capture_output=True, text=True, check=True).stdout
        (line,) = [line for line in text.splitlines() if line.startswith("Database cluster state")]
        return line.partition(":")[2].strip()

    def list_processes(self) -> list[str]:
        """Every process that works in the folder or names it, with what it runs."""
        return [f"{pid}: {command}" for pid in _list_pids() if (command := _describe(pid, self.folder))]

    def wait_until_gone(self) -> None:
        """Wait for the end of the server and of all that belongs to it."""
        for path in (self.place.supervisor_lock, self.place.postgres_lock):
            with FileLock(path) as lock:
                assert lock.wait_exclusive(seconds=20), f"{path} is still held"
        wait_until(lambda: not self.list_processes())


def _list_pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()]


def _describe(pid: int, folder: Path) -> str:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        works_in = str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        return ""
    is_user = _PROGRAM.splitlines()[1] in command
    return command if not is_user and (str(folder) in command or works_in.startswith(str(folder))) else ""


def wait_until(condition: Callable[[], bool], *, seconds: float = 10) -> None:
    """Return as soon as it holds; fail when it does not in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.05)


def query(url: str, sql: str) -> str:
    """Run SQL with psql and return its unadorned output."""
    done = _psql(url, sql)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def complaint(url: str, sql: str) -> str:
    """Run SQL that must fail, and return what the sender is told."""
    done = _psql(url, sql)
    assert done.returncode != 0
    return done.stderr


def answers(url: str) -> bool:
    """Whether the server takes a connection right now."""
    return _psql(url, "select 1").returncode == 0


def fill(url: str, *, rows: int) -> None:
    """Make the table ``kept`` anew, with so many rows."""
    query(url, f"drop table if exists kept; create table kept as select generate_series(1, {rows}) as id")


def _psql(url: str, sql: str) -> subprocess.CompletedProcess[str]:
    psql = find_binaries(Place(Path("/"))).program("psql")
    return subprocess.run([psql, url, "-XAtqc", sql], capture_output=True, text=True, check=False, timeout=30)


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


@contextmanager
def reachable_folder(uid: int | None = None) -> Iterator[Path]:
    """A short, empty folder which the server account can reach; pytest's own are closed to all but root."""
    parent = Path(tempfile.mkdtemp(prefix="embedded-"))
    parent.chmod(0o711)
    folder = parent / "place"
    if uid is not None:
        folder.mkdir(mode=0o700)
        os.chown(folder, uid, uid)
    try:
        yield folder
    finally:
        if Place(folder).supervisor_lock.exists():
            stop_when_unused(Place(folder))
            Server(folder).wait_until_gone()
        shutil.rmtree(parent)
