"""The sign-in of one mailbox in use: access tokens, and how they are renewed.

Lives here: ``Credentials``, over google.auth. Not here: the file (``token_file.py``), how a sign-in comes about
(``login.py``), and what the token endpoint's answers mean (``answers.py``).

Rules:
* One renewal for many threads: those who come while one is under way take its outcome, good or bad.
* A token is never given up for a passing fault of the token endpoint.
* The file is looked at before each use of a token; a new sign-in on disk takes effect without a restart.
* A new access token stays in memory: the file need not be writable, and has nothing in it that it lacked. A
  refresh token that Google replaced is saved at once, unless someone has signed in anew meanwhile.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import google.oauth2.credentials
import google.oauth2.service_account
import structlog
from google.auth.exceptions import GoogleAuthError

from inbox_loop.errors import GmailUnreachable, NeedsAuth
from inbox_loop.gmail.answers import Reply, read_token_refusal
from inbox_loop.gmail.bounds import Bounds
from inbox_loop.gmail.http import Link
from inbox_loop.gmail.token_file import TokenFile, find_stamp, login_command, read_token_file, save_token_file

SCOPE = "https://www.googleapis.com/auth/gmail.readonly"

# A token is renewed this long before its end, in seconds, or a tenth of its life before when that is less.
MARGIN_SECONDS = 60.0

log = structlog.get_logger()


class Credentials:
    """Access tokens for one mailbox. Thread-safe.

    The file is read at the first use, so that a missing sign-in is trouble of the pass that needs it.
    """

    def __init__(self, token_file: Path, *, timeout_seconds: float, mailbox: str) -> None:
        self._path = token_file
        self._timeout_seconds = timeout_seconds
        self._mailbox = mailbox
        self._lock = threading.Lock()
        self._renewals = 0
        self._file: TokenFile | None = None

    def __repr__(self) -> str:
        return f"Credentials(token_file={str(self._path)!r})"

    def find_token(self, bounds: Bounds, *, rejected: str = "") -> str:
        """An access token that Gmail has not rejected, renewed when it is due.

        Raises ``NeedsAuth``, ``GmailUnreachable``, ``Stopped`` or ``DeadlineExceeded``.
        """
        seen = self._renewals
        with bounds.holding(self._lock):
            file = self._use_new_file()
            token = str(self._google.token or "")
            if token not in {"", rejected} and time.monotonic() < self._good_until:
                return token
            if self._renewals != seen and self._failure is not None:
                raise self._failure
            self._renew(file, bounds)
            return str(self._google.token)

    def find_sign_in(self) -> str:
        """Fingerprint of the sign-in that lies on disk now. Asks nobody and waits for nobody; raises ``NeedsAuth``."""
        return read_token_file(self._path, mailbox=self._mailbox).fingerprint

    def _use_new_file(self) -> TokenFile:
        if self._file is None or find_stamp(self._path) != self._file.stamp:
            self._file = self._use(read_token_file(self._path, mailbox=self._mailbox))
        return self._file

    def _use(self, file: TokenFile) -> TokenFile:
        self._failure: NeedsAuth | GmailUnreachable | None = None
        self._google = _google_credentials(file, self._path, self._mailbox)
        self._good_until = 0.0
        if file.access_token is not None:
            token, end = file.access_token
            self._google.token = token
            self._good_until = _good_until(end)
        return file

    def _renew(self, file: TokenFile, bounds: Bounds) -> None:
        """Get a new access token. The lock is held."""
        self._failure = None
        try:
            self._ask_for_token(file, bounds)
        except (NeedsAuth, GmailUnreachable) as failure:
            self._failure = failure
            raise
        finally:
            self._renewals += 1
        end = self._google.expiry
        self._good_until = float("inf") if end is None else _good_until(end.replace(tzinfo=UTC))
        if not file.is_service_account and self._google.refresh_token != file.content["refresh_token"]:
            self._save_refresh_token(file)

    def _ask_for_token(self, file: TokenFile, bounds: Bounds) -> None:
        with closing(Link(file.token_uri, timeout_seconds=self._timeout_seconds)) as link:
            try:
                self._google.refresh(_TokenRequest(link, bounds, login_command(self._mailbox)))
            except (GoogleAuthError, ValueError, TypeError, OverflowError) as error:
                # google.auth reads an answer that has a token in it; what it can't read is a fault of the endpoint.
                # Its text may quote the answer, so it goes no further.
                raise GmailUnreachable(
                    f"The answer of Google's token endpoint can't be used ({type(error).__name__})."
                ) from None

    def _save_refresh_token(self, file: TokenFile) -> None:
        if find_stamp(self._path) != file.stamp:
            return  # a new sign-in lies there, and is used from the next look on
        content = {**file.content, "refresh_token": self._google.refresh_token, "token": self._google.token}
        if self._google.expiry is not None:
            content["expiry"] = self._google.expiry.replace(tzinfo=UTC).isoformat()
        try:
            stamp = save_token_file(self._path, content)
        except OSError as error:
            # The one in memory goes on working; after a restart it may take a new sign-in, which is what to know.
            log.warning("mailbox.token_not_saved", mailbox=self._mailbox, reason=error.strerror)
            return
        self._file = TokenFile(content=content, stamp=stamp)


@dataclass(frozen=True, slots=True)
class _TokenReply:
    """An answer by the names that google.auth knows."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    data: bytes = field(repr=False)


class _TokenRequest:
    """What google.auth calls to reach the token endpoint.

    It judges the answer itself: google.auth would try again on its own, with waits that no stop ends, and calls an
    answer of 502 final.
    """

    def __init__(self, link: Link, bounds: Bounds, command: str) -> None:
        self._link = link
        self._bounds = bounds
        self._command = command

    def __call__(
        self, url: str, method: str = "POST", body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> _TokenReply:
        reply: Reply = self._link.send(url, bounds=self._bounds, method=method, body=body, headers=headers or {})
        refusal = read_token_refusal(reply, self._command)
        if refusal is not None:
            raise refusal
        return _TokenReply(status=reply.status, headers=reply.headers, data=reply.body)


def _google_credentials(file: TokenFile, path: Path, mailbox: str) -> Any:  # noqa: ANN401  # google.auth has no types
    content = file.content
    if not file.is_service_account:
        # Not from_authorized_user_info: it puts Google's own token_uri in place of the file's.
        return google.oauth2.credentials.Credentials(  # type: ignore[no-untyped-call]  # typed in name only
            token=None,
            refresh_token=content["refresh_token"],
            token_uri=content["token_uri"],
            client_id=content["client_id"],
            client_secret=content["client_secret"],
        )
    try:
        return google.oauth2.service_account.Credentials.from_service_account_info(  # type: ignore[no-untyped-call]  # so too
            dict(content), scopes=[SCOPE], subject=content["subject"]
        )
    except (GoogleAuthError, ValueError):
        # Without the cause: its text may quote the key.
        raise NeedsAuth(
            f"The private key in the token file {path} of mailbox {mailbox} is damaged.",
            hint="Make a new key for the service account in the Google Cloud console and put it there.",
        ) from None


def _good_until(end: datetime) -> float:
    """The moment of the monotonic clock until which a token that ends at ``end`` is used."""
    life = (end - datetime.now(UTC)).total_seconds()
    return time.monotonic() + life - min(MARGIN_SECONDS, max(life, 0.0) / 10)
