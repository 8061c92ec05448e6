"""The folder of the private Postgres: what lies where in it, and whether it is fit for use.

Not here: what is inside of the data folder (``cluster.py``), where the socket goes (``sockets.py``).
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path

from inbox_loop.errors import EmbeddedUnavailable

_LOG_BYTES = 1_000_000
_TAIL_BYTES = 8_000

CHOOSE_ANOTHER = "Choose another folder with database.data_folder, or set database.url to a Postgres of your own."


@dataclass(frozen=True, slots=True)
class Place:
    """The names in one folder. Several users name the same folder to share one server."""

    folder: Path

    @property
    def start_lock(self) -> Path:
        """Held while the supervisor is looked for or started."""
        return self.folder / "start.lock"

    @property
    def users_lock(self) -> Path:
        """Shared by each user."""
        return self.folder / "users.lock"

    @property
    def supervisor_lock(self) -> Path:
        """Held by the supervisor."""
        return self.folder / "supervisor.lock"

    @property
    def postgres_lock(self) -> Path:
        """Held by each process of Postgres, and by whoever makes or repairs its data."""
        return self.folder / "postgres.lock"

    @property
    def address(self) -> Path:
        """Where the running server is reached; there while it accepts connections."""
        return self.folder / "address.json"

    @property
    def supervisor_log(self) -> Path:
        """What the supervisor had to say."""
        return self.folder / "supervisor.log"

    @property
    def postgres_log(self) -> Path:
        """What initdb and Postgres had to say."""
        return self.folder / "postgres.log"

    def data(self, major: int) -> Path:
        """The data of one major version of Postgres."""
        return self.folder / f"postgres-{major}"

    def list_majors(self) -> tuple[int, ...]:
        """The major versions that have data here, newest first."""
        names = (path.parent.name.removeprefix("postgres-") for path in self.folder.glob("postgres-*/PG_VERSION"))
        return tuple(sorted((int(name) for name in names if name.isdecimal()), reverse=True))


def prepare_place(folder: Path) -> Place:
    """Make the folder if it is not there, and check that it is this user's alone.

    An existing folder keeps its mode. One that a group may write is refused, but for the user's own private group: many
    systems give every user a group of the same name, which nobody else is in, and let it write what the user makes.

    Raises ``EmbeddedUnavailable``.
    """
    try:
        folder = folder.expanduser().absolute()
        _make_folder(folder)
        found = folder.stat()
    except OSError as error:
        raise EmbeddedUnavailable(
            f"The folder {folder} can't be used: {error.strerror}.", hint=CHOOSE_ANOTHER
        ) from error
    except RuntimeError as error:
        raise EmbeddedUnavailable(f"The user's home in {folder} is not known.", hint=CHOOSE_ANOTHER) from error
    if found.st_uid != os.geteuid():
        owner = name_of(found.st_uid)
        raise EmbeddedUnavailable(
            f"The folder {folder} belongs to the user {owner}.", hint=f"Run this as {owner}. {CHOOSE_ANOTHER}"
        )
    if found.st_mode & stat.S_IWOTH:
        raise EmbeddedUnavailable(
            f"The folder {folder} can be written by every user of this machine.",
            hint=f"Name a folder of its own, for example {folder / 'inbox-loop'}.",
        )
    if found.st_mode & stat.S_IWGRP and not _is_private_group(found.st_gid):
        raise EmbeddedUnavailable(
            f"The folder {folder} can be written by a group of users.",
            hint=f"Take that from the group (chmod g-w {folder}), or name a folder of its own, "
            f"for example {folder / 'inbox-loop'}.",
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise EmbeddedUnavailable(f"The folder {folder} can't be written.", hint=CHOOSE_ANOTHER)
    return Place(folder)


def _is_private_group(gid: int) -> bool:
    """Whether it is the group of this user alone: its first one, of the same name, and without other members."""
    try:
        group, user = grp.getgrgid(gid), pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return gid == user.pw_gid and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}


def _make_folder(folder: Path) -> None:
    """Make it for this user; root's can be passed through, because Postgres runs as somebody else below it."""
    if folder.is_dir():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    mode = 0o711 if os.geteuid() == 0 else 0o700
    try:
        folder.mkdir(mode=mode)
    except FileExistsError:
        if not folder.is_dir():
            raise
    else:
        folder.chmod(mode)  # whatever the umask took away


def name_of(uid: int) -> str:
    """The name of a user; the number where the machine knows no name."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"number {uid}"


def open_log(path: Path) -> int:
    """Turn a log if need be and open it for appending. Raises ``EmbeddedUnavailable``."""
    turn_log(path)
    try:
        return _open_private(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    except OSError as error:
        raise EmbeddedUnavailable(f"{path} can't be written: {error.strerror}.", hint=CHOOSE_ANOTHER) from error


def turn_log(path: Path) -> None:
    """Past a megabyte: keep the last megabyte as ``.1`` and empty the log, so that the two hold two at most.

    It is emptied in place, since a running Postgres has it open and writes on at the new end. What is written at this
    very moment may be lost. Raises ``EmbeddedUnavailable``.
    """
    try:
        if not path.exists() or path.stat().st_size <= _LOG_BYTES:
            return
        with os.fdopen(_open_private(path, os.O_RDWR), "r+b") as log:
            log.seek(-_LOG_BYTES, os.SEEK_END)
            kept = _open_private(path.with_name(f"{path.name}.1"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            with os.fdopen(kept, "wb") as older:
                older.write(log.read(_LOG_BYTES))
            log.truncate(0)
    except OSError as error:
        raise EmbeddedUnavailable(f"{path} can't be turned: {error.strerror}.", hint=CHOOSE_ANOTHER) from error


def _open_private(path: Path, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def read_tail(path: Path, *, start: int) -> str:
    """The last lines of a log from byte ``start`` on; empty when there is nothing."""
    try:
        with path.open("rb") as log:
            end = log.seek(0, os.SEEK_END)
            log.seek(max(min(start, end), end - _TAIL_BYTES))
            return log.read().decode("utf-8", "replace").strip()
    except FileNotFoundError:
        return ""
