"""Starting programs of Postgres as the server account, so that none outlives the supervisor.

Not here: which programs, and why (``cluster.py``, ``postgres.py``).
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from inbox_loop.embedded.account import Account
from inbox_loop.embedded.folders import CHOOSE_ANOTHER, Place, open_log, read_tail
from inbox_loop.embedded.locks import FileLock
from inbox_loop.errors import EmbeddedUnavailable

# Taken from the supervisor's surroundings; PGPORT, PGDATA and their kin would change what the programs do, and the
# secrets that may be among the rest are none of their business.
_KEPT_VARIABLES = ("PATH", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")

_PR_SET_PDEATHSIG = 1
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - looked at, not written to
_SHORT_BYTES = 16_000_000

# The part of a line that is for people; what comes before is the time and the process.
_COMPLAINT = re.compile(r"\b(?:PANIC|FATAL|ERROR|error):\s+(.*)")

# Slow disks have been seen to take half a minute for initdb.
_END_SECONDS = 120.0


def start(
    command: Sequence[str | Path],
    *,
    account: Account,
    log: int,
    keep: FileLock,
    death_signal: signal.Signals,
    stdin: int = subprocess.DEVNULL,
) -> subprocess.Popen[str]:
    """Start a program in a session of its own, both outputs to ``log``; it shares the lock ``keep``.

    Linux sends ``death_signal`` to it when this process ends, however it ends. Call from the main thread:
    the kernel watches the thread, not the process. Raises ``EmbeddedUnavailable``.
    """
    try:
        return subprocess.Popen(  # noqa: S603 - programs of ours, no shell
            [str(part) for part in command],
            stdin=stdin,
            stdout=log,
            stderr=log,
            cwd="/",
            env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ} | {"LC_ALL": "C"},
            text=True,
            encoding="utf-8",
            start_new_session=True,
            pass_fds=(keep.fd,),
            user=account.popen_user(),
            group=account.popen_group(),
            extra_groups=account.popen_groups(),
            umask=0o077,
            preexec_fn=_tie_to_parent(death_signal),  # noqa: PLW1509 - it only makes two system calls
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise EmbeddedUnavailable(
            f"{command[0]} could not be started as the user {account.name}.", hint=CHOOSE_ANOTHER
        ) from error


def _tie_to_parent(death_signal: signal.Signals) -> Callable[[], None] | None:
    """What a child does last before it becomes its program. After the change of user, which would undo it."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def tie() -> None:
        prctl(_PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)  # the parent died before the kernel was asked to tell

    return tie


def run_to_end(
    command: Sequence[str | Path], *, account: Account, place: Place, lock: FileLock, text: str = ""
) -> None:
    """Run a program that ends by itself, with ``text`` as its input; it and its own children share ``lock``.

    Raises ``EmbeddedUnavailable`` with the program's last words.
    """
    log = open_log(place.postgres_log)
    begin = os.fstat(log).st_size
    try:
        child = start(
            command,
            account=account,
            log=log,
            keep=lock,
            death_signal=signal.SIGKILL,
            stdin=subprocess.PIPE,
        )
    finally:
        os.close(log)
    try:
        child.communicate(text, timeout=_END_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
    if child.returncode != 0:
        raise explain_failure(Path(command[0]).name, place, begin)


def explain_failure(program: str, place: Place, begin: int) -> EmbeddedUnavailable:
    """The error for a program that failed: its last words since byte ``begin`` of the log, and what to do."""
    words = read_tail(place.postgres_log, start=begin).splitlines()
    telling = [match[1] for match in map(_COMPLAINT.search, words) if match]
    said = "; ".join((telling or words)[-3:]) or "it said nothing"
    return EmbeddedUnavailable(f"{program} failed: {said}", hint=" ".join((*_advice(place), _see(place))))


def _see(place: Place) -> str:
    return f"All it said is in {place.postgres_log}."


def _advice(place: Place) -> list[str]:
    """What is plainly short on this machine: looked up, not guessed from a message."""
    advice = []
    if shutil.disk_usage(place.folder).free < _SHORT_BYTES:
        advice.append(f"The disk of {place.folder} is full: free some space.")
    if _SHARED_MEMORY.exists() and shutil.disk_usage(_SHARED_MEMORY).free < _SHORT_BYTES:
        advice.append("Shared memory is short: free some in /dev/shm (in a container: --shm-size=128m).")
    return advice
