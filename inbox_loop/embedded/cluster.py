"""The data of the private Postgres: made whole or not at all.

Lives here: initdb, and the one role and database we connect to. Not here: running the server (``postgres.py``),
what is in the database (``repository/migrations``).
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from inbox_loop.embedded.account import Account
from inbox_loop.embedded.binaries import Binaries
from inbox_loop.embedded.children import run_to_end
from inbox_loop.embedded.folders import CHOOSE_ANOTHER, Place
from inbox_loop.embedded.locks import FileLock
from inbox_loop.errors import EmbeddedUnavailable

ROLE = "inbox_loop"
DATABASE = "inbox_loop"
SUPERUSER = "postgres"

_LEAST_FREE_BYTES = 128_000_000
_BUILTIN_LOCALE_MAJOR = 17

# The role may make databases and is no superuser: SQL that goes astray can't run programs.
_SETUP = f"create role {ROLE} login createdb;\ncreate database {DATABASE} owner {ROLE};\n"


@dataclass(frozen=True, slots=True)
class Cluster:
    """One data folder, the programs that fit it and the account that owns it."""

    data: Path
    binaries: Binaries
    account: Account


def prepare_cluster(place: Place, binaries: Binaries, account: Account, lock: FileLock) -> Cluster:
    """Make the data folder if there is none. ``lock`` is ``postgres.lock``, held. Raises ``EmbeddedUnavailable``."""
    data = place.data(binaries.major)
    if not (data / "PG_VERSION").is_file():
        new = Cluster(_new_folder(place, data, account), binaries, account)
        _make_data(place, new, lock)
        _put_in_place(data)
    return Cluster(data, binaries, account)


def _unfinished(data: Path) -> Path:
    return data.with_name(f"{data.name}.new")


def _new_folder(place: Place, data: Path, account: Account) -> Path:
    if data.exists():
        raise EmbeddedUnavailable(
            f"{data} is in the way: it is not the data of a Postgres.", hint="Move it elsewhere and try again."
        )
    free = shutil.disk_usage(place.folder).free
    if free < _LEAST_FREE_BYTES:
        raise EmbeddedUnavailable(
            f"The disk of {place.folder} has {free // 1_000_000} MB free, and a new Postgres needs "
            f"{_LEAST_FREE_BYTES // 1_000_000} MB.",
            hint=f"Free some space. {CHOOSE_ANOTHER}",
        )
    new = _unfinished(data)
    try:
        if new.exists():
            shutil.rmtree(new)  # left by a start that was interrupted
        new.mkdir(mode=0o700)
        account.own(new)
    except OSError as error:
        raise EmbeddedUnavailable(f"{new} can't be made: {error.strerror}.", hint=CHOOSE_ANOTHER) from error
    return new


def _make_data(place: Place, new: Cluster, lock: FileLock) -> None:
    """Three programs; only the last waits for the disk, because until the rename a loss costs nothing."""
    options = [f"--username={SUPERUSER}", "--auth=trust", "--data-checksums", "--no-instructions", "--no-sync"]
    options += ["--encoding=UTF8", "--locale=C.UTF-8"]
    if new.binaries.major >= _BUILTIN_LOCALE_MAJOR:
        # Compares citext in half of the time that the system's library takes.
        options += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    initdb, postgres = new.binaries.program("initdb"), new.binaries.program("postgres")
    run_to_end([initdb, "-D", new.data, *options], account=new.account, place=place, lock=lock)
    run_to_end(
        [postgres, "--single", "--exit_on_error=on", "--fsync=off", "-D", new.data, "postgres"],
        account=new.account,
        place=place,
        lock=lock,
        text=_SETUP,
    )
    run_to_end([initdb, "-D", new.data, "--sync-only"], account=new.account, place=place, lock=lock)


def _put_in_place(data: Path) -> None:
    _unfinished(data).rename(data)
    folder = os.open(data.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
