"""Which folder Postgres puts its socket into: the operating system allows about a hundred bytes of path.

Not here: the socket itself, which Postgres makes and removes.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from inbox_loop.embedded.account import Account
from inbox_loop.embedded.folders import CHOOSE_ANOTHER, Place, name_of
from inbox_loop.errors import EmbeddedUnavailable

PORT = 5432

# sun_path has 104 bytes on macOS, 108 on Linux, the closing zero included.
_PATH_BYTES = 103


def prepare_socket_folder(place: Place, account: Account) -> Path:
    """Make (or find) a folder of mode 0700 that belongs to the server account alone.

    In the place itself where a socket's path may be so long, else in the user's runtime folder, else in the folder
    for temporary files; the same place gets the same one again. Raises ``EmbeddedUnavailable``.
    """
    for folder in _candidates(place, account):
        if _fits(folder):
            return _claim(folder, account)
    raise EmbeddedUnavailable(
        f"The path of {place.folder} can't hold a socket, and neither can a folder for temporary files.",
        hint=f"Set TMPDIR to a short path. {CHOOSE_ANOTHER}",
    )


def remove_socket_folder(place: Place, folder: Path) -> None:
    """Tidy up a folder that is not in the place; one that is still in use stays."""
    if folder.parent != place.folder:
        with suppress(OSError):
            folder.rmdir()


def _candidates(place: Place, account: Account) -> Iterator[Path]:
    yield place.folder / "socket"
    name = f"inbox-loop-{account.uid}-{hashlib.sha256(os.fsencode(place.folder)).hexdigest()[:12]}"
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and not account.is_switched and os.access(runtime, os.W_OK | os.X_OK):
        yield Path(runtime) / name
    yield Path(tempfile.gettempdir()) / name


def _fits(folder: Path) -> bool:
    """Short enough, and without the comma that parts several hosts in a URL."""
    return len(os.fsencode(folder / f".s.PGSQL.{PORT}")) <= _PATH_BYTES and "," not in str(folder)


def _claim(folder: Path, account: Account) -> Path:
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        pass
    except OSError as error:
        raise EmbeddedUnavailable(
            f"The folder {folder} for the socket can't be made: {error.strerror}.", hint=CHOOSE_ANOTHER
        ) from error
    else:
        account.own(folder)
    found = folder.lstat()
    # In a folder for temporary files anybody could have made this name first.
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != account.uid or stat.S_IMODE(found.st_mode) & 0o077:
        raise EmbeddedUnavailable(
            f"{folder} should be a private folder of the user {account.name}, and belongs to {name_of(found.st_uid)}.",
            hint="Remove it, or choose a shorter path with database.data_folder.",
        )
    return folder
