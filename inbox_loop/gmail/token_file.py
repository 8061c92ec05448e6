"""The token file: the sign-in of one mailbox on disk.

Lives here: what shapes it may have, who may read it, and how it is replaced so that no crash can leave half of one.
Not here: access tokens and their renewal (``auth.py``), and how a sign-in comes about (``login.py``).

Two shapes: Google's authorized-user JSON (client_id, client_secret, refresh_token, token_uri; token, expiry and
scopes may be there), and a service account's key with the mailbox's address added as "subject".
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from inbox_loop.errors import NeedsAuth
from inbox_loop.gmail.safe_url import is_safe_url

USER_KEYS = ("client_id", "client_secret", "refresh_token", "token_uri")
SERVICE_KEYS = ("client_email", "private_key", "token_uri", "subject")
SERVICE_TYPE = "service_account"

# What tells one sign-in from another. All else in the file may change without a new one.
USER_IDENTITY = ("client_id", "refresh_token")
SERVICE_IDENTITY = ("client_email", "subject")

# Hexadecimal digits: enough to tell sign-ins apart, too few to be taken for a secret.
FINGERPRINT_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Stamp:
    """Tells one version of a file from another."""

    inode: int
    size: int
    changed_at_ns: int


@dataclass(frozen=True, slots=True)
class TokenFile:
    """A token file's content, of a known shape, as it was at ``stamp``."""

    content: Mapping[str, Any] = field(repr=False)
    stamp: Stamp

    @property
    def is_service_account(self) -> bool:
        """Whether it is a service account's key; else it is an authorized user."""
        return bool(self.content.get("type") == SERVICE_TYPE)

    @property
    def subject(self) -> str | None:
        """The address a service account reads the mailbox for; None for an authorized user."""
        return str(self.content["subject"]) if self.is_service_account else None

    @property
    def fingerprint(self) -> str:
        """Stands for this sign-in without giving any of it away: the same until someone else, or anew, signs in.

        A refresh token that Google replaced makes another one as well.
        """
        keys = SERVICE_IDENTITY if self.is_service_account else USER_IDENTITY
        identity = json.dumps([self.content[key] for key in keys])
        return hashlib.sha256(identity.encode()).hexdigest()[:FINGERPRINT_DIGITS]

    @property
    def scopes(self) -> tuple[str, ...]:
        """What was agreed to, as far as the file says."""
        scopes = self.content.get("scopes")
        return tuple(scope for scope in scopes if isinstance(scope, str)) if isinstance(scopes, list) else ()

    @property
    def changed_at(self) -> datetime:
        """When the file was written, in UTC: for an authorized user, as a rule, when they signed in."""
        return datetime.fromtimestamp(self.stamp.changed_at_ns / 1e9, UTC)

    @property
    def token_uri(self) -> str:
        """Where access tokens come from."""
        return str(self.content["token_uri"])

    @property
    def access_token(self) -> tuple[str, datetime] | None:
        """The access token and its end in UTC, if the file has both."""
        token, expiry = self.content.get("token"), self.content.get("expiry")
        if not (isinstance(token, str) and token and isinstance(expiry, str)):
            return None
        try:
            moment = datetime.fromisoformat(expiry)
        except ValueError:
            return None
        return token, moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def login_command(mailbox: str) -> str:
    """What to type to sign in."""
    return f"inbox-loop auth login --mailbox {mailbox}"


def find_stamp(path: Path) -> Stamp | None:
    """The version of the file that is there now; None when there is none, or it can't be looked at."""
    try:
        return _stamp(path.stat())
    except OSError:
        return None


def read_token_file(path: Path, *, mailbox: str) -> TokenFile:
    """Read and check it. Raises ``NeedsAuth``: missing, unreadable, open to others, or of no known shape."""
    command = login_command(mailbox)
    try:
        with open(path, "rb", opener=_open_without_waiting) as file:
            status = os.fstat(file.fileno())
            _check_status(status, path, command)
            text = file.read()
    except FileNotFoundError:
        raise NeedsAuth(f"There is no token file {path}.", hint=f"Sign in: {command}") from None
    except OSError as error:
        raise NeedsAuth(
            f"The token file {path} can't be read ({error.strerror}).",
            hint="Check that it is a file of the user that runs this program.",
        ) from None
    return TokenFile(content=parse_token_file(text, path, command=command), stamp=_stamp(status))


def _open_without_waiting(path: str, flags: int) -> int:
    """Opening a pipe would wait for someone to write to it."""
    return os.open(path, flags | os.O_NONBLOCK)


def _check_status(status: os.stat_result, path: Path, command: str) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise NeedsAuth(f"The token file {path} is not a file.", hint=f"Sign in: {command}")
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise NeedsAuth(
            f"The token file {path} can be read or changed by other users of this machine.",
            hint=f"chmod 600 {shlex.quote(str(path))}",
        )


def parse_token_file(text: bytes, path: Path, *, command: str) -> Mapping[str, Any]:
    """The content, once its shape is known to be one of the two. Raises ``NeedsAuth``."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        # Not from the error: it carries the text, and the text may be a secret.
        raise NeedsAuth(f"The token file {path} is not JSON.", hint=f"Sign in: {command}") from None
    if not isinstance(content, dict):
        raise NeedsAuth(f"The token file {path} is not a JSON object.", hint=f"Sign in: {command}")
    if "installed" in content or "web" in content:
        raise NeedsAuth(
            f"The token file {path} is the OAuth client's own file, not a sign-in.",
            hint=f"Keep it under another name and sign in with it: {command}",
        )
    keys = SERVICE_KEYS if content.get("type") == SERVICE_TYPE else USER_KEYS
    missing = [key for key in keys if not (isinstance(content.get(key), str) and content[key])]
    if missing:
        raise NeedsAuth(f"The token file {path} lacks {', '.join(missing)}.", hint=_remedy(missing, command))
    if not is_safe_url(content["token_uri"]):
        raise NeedsAuth(
            f"The token file {path} has a token_uri that the sign-in must not be sent to.",
            hint="It must be an https:// URL, for Google https://oauth2.googleapis.com/token; "
            "http:// only for a server on this machine.",
        )
    return content


def _remedy(missing: list[str], command: str) -> str:
    if missing == ["subject"]:
        return 'Add "subject": the address of the mailbox that the service account reads for its owner.'
    return f"Sign in: {command}"


def save_token_file(path: Path, content: Mapping[str, Any]) -> Stamp:
    """Put ``content`` in place of the file, whole or not at all, readable by its owner alone. Raises ``OSError``."""
    target = path.resolve()  # a symbolic link stays one
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".new")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(dict(content), file, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
            stamp = _stamp(os.fstat(file.fileno()))
        os.replace(name, target)  # noqa: PTH105  # the word for it, beside fsync
    except BaseException:
        os.unlink(name)  # noqa: PTH108  # half of a secret must not stay behind
        raise
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return stamp


def _stamp(status: os.stat_result) -> Stamp:
    return Stamp(inode=status.st_ino, size=status.st_size, changed_at_ns=status.st_mtime_ns)
