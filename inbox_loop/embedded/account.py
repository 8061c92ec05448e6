"""Whom Postgres runs as. It refuses to run as root; root hands it to an unprivileged user that exists already.

Not here: making users or opening folders to others; neither is ever done.
"""

from __future__ import annotations

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path

from inbox_loop.embedded.folders import name_of
from inbox_loop.errors import EmbeddedUnavailable

_UNPRIVILEGED = ("postgres", "nobody")


@dataclass(frozen=True, slots=True)
class Account:
    """A user of this machine; ``is_switched`` where it is not the one that runs this process."""

    name: str
    uid: int
    gid: int
    is_switched: bool

    def popen_user(self) -> int | None:
        """``user=`` of Popen: None where there is nothing to switch."""
        return self.uid if self.is_switched else None

    def popen_group(self) -> int | None:
        """``group=`` of Popen."""
        return self.gid if self.is_switched else None

    def popen_groups(self) -> list[int] | None:
        """``extra_groups=`` of Popen: none of root's stay."""
        return [] if self.is_switched else None

    def own(self, path: Path) -> None:
        """Give a file or folder of ours to this account."""
        if self.is_switched:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def may_pass(self, path: Path) -> bool:
        """Whether this account may run the program, or pass through the folder, and through all folders above it.

        The kernel is asked, as this account: modes alone do not tell. Raises ``EmbeddedUnavailable``.
        """
        if not self.is_switched:
            return os.access(path, os.X_OK)
        try:
            answer = subprocess.run(  # noqa: S603 - a fixed program; the path is an argument of its own
                ["/bin/sh", "-c", 'test -x "$1"', "sh", str(path)],
                user=self.popen_user(),
                group=self.popen_group(),
                extra_groups=self.popen_groups(),
                cwd="/",
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise EmbeddedUnavailable(
                f"This process may not become the user {self.name}, which Postgres would run as.",
                hint="Run inbox-loop as an ordinary user, or set database.url to a Postgres of your own.",
            ) from error
        return answer.returncode == 0


def choose_account(data: Path) -> Account:
    """The owner of existing data; else this user; for root the user postgres, or nobody.

    Raises ``EmbeddedUnavailable``.
    """
    own_uid = os.geteuid()
    if data.exists():
        owner = data.stat().st_uid
        if own_uid not in {0, owner}:
            raise EmbeddedUnavailable(
                f"The data in {data} belongs to the user {name_of(owner)}.", hint=f"Run this as {name_of(owner)}."
            )
        if owner != 0:
            return _account(pwd.getpwuid(owner)) if _exists(owner) else _unnamed(owner, data.stat().st_gid)
    if own_uid != 0:
        return _account(pwd.getpwuid(own_uid)) if _exists(own_uid) else _unnamed(own_uid, os.getegid())
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    for name in _UNPRIVILEGED:
        if name in known and known[name].pw_uid != 0:
            return _account(known[name])
    raise EmbeddedUnavailable(
        "Postgres does not run as root, and this machine has neither a user postgres nor a user nobody.",
        hint="Run inbox-loop as an ordinary user, or set database.url to a Postgres of your own.",
    )


def _exists(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _account(entry: pwd.struct_passwd) -> Account:
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, is_switched=entry.pw_uid != os.geteuid())


def _unnamed(uid: int, gid: int) -> Account:
    """A user without an entry in the list of users, as is usual in containers."""
    return Account(name_of(uid), uid, gid, is_switched=uid != os.geteuid())
