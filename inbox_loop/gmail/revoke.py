"""Giving a sign-in back: Google forgets it, and the token file goes.

Lives here: OAuth's token revocation (RFC 7009). Not here: signing in (``login.py``).
"""

from __future__ import annotations

import http.client
import shlex
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode, urljoin

from inbox_loop.errors import GmailUnreachable, UsageError
from inbox_loop.gmail.answers import read_error_code
from inbox_loop.gmail.bounds import Bounds
from inbox_loop.gmail.http import Link
from inbox_loop.gmail.token_file import read_token_file


def revoke_sign_in(token_file: Path, *, mailbox: str, timeout_seconds: float) -> None:
    """Revoke the sign-in in ``token_file`` and delete the file; a sign-in that is dead already is deleted as well.

    Raises ``NeedsAuth`` (no usable file), ``UsageError`` (a service account's key, which is not ours to revoke; or the
    sign-in is revoked, and its file can't be deleted) and ``Unreachable`` in its kinds. All leave the file in place.
    """
    file = read_token_file(token_file, mailbox=mailbox)
    if file.is_service_account:
        raise UsageError(
            f"The token file {token_file} is a service account's key.",
            hint="Delete the key in the Google Cloud console, then the file.",
        )
    # Google keeps both side by side: https://oauth2.googleapis.com/token and /revoke.
    url = urljoin(file.token_uri, "revoke")
    with closing(Link(url, timeout_seconds=timeout_seconds)) as link:
        reply = link.send(
            url,
            bounds=Bounds(deadline=None, stops=()).within(timeout_seconds),
            method="POST",
            body=urlencode({"token": file.content["refresh_token"]}),
            headers={"content-type": "application/x-www-form-urlencoded"},
        )
    if reply.status != http.client.OK and read_error_code(reply) != "invalid_token":
        raise GmailUnreachable(f"Google answered the revocation with HTTP status {reply.status}.")
    try:
        token_file.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(
            f"Google has revoked the sign-in, but the token file {token_file} can't be deleted ({error.strerror}).",
            hint=f"It opens nothing any more. Delete it as a user who may: rm {shlex.quote(str(token_file))}",
        ) from error
