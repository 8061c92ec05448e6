"""Signing in to Gmail with a browser: how a token file comes about.

Lives here: the loopback flow of a Desktop OAuth client (RFC 8252). Not here: the file (``token_file.py``), and what
is printed (``commands/``).

Google hands out a refresh token only for offline access, and again only after a new consent; so both are asked for.
"""

from __future__ import annotations

import errno
import json
import webbrowser
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Any

from google_auth_oauthlib.flow import InstalledAppFlow, WSGITimeoutError
from oauthlib.oauth2 import OAuth2Error  # type: ignore[import-untyped]  # has no type information

from inbox_loop.errors import GmailUnreachable, NeedsAuth, UsageError
from inbox_loop.gmail.auth import SCOPE
from inbox_loop.gmail.safe_url import is_safe_url
from inbox_loop.gmail.token_file import save_token_file

HOST = "127.0.0.1"

# For the one request that turns the browser's code into tokens.
EXCHANGE_TIMEOUT_SECONDS = 30.0


class _Flow(InstalledAppFlow):  # type: ignore[misc]  # its base has no type information
    """Google's flow, but it hands the URL to us instead of printing it, and its request has a timeout."""

    show_url: Callable[[str], None]

    def authorization_url(self, **asked: Any) -> tuple[str, str]:  # noqa: ANN401  # passed through
        url, state = super().authorization_url(**asked)
        self.show_url(url)
        return url, state

    def fetch_token(self, **asked: Any) -> Any:  # noqa: ANN401  # passed through
        return super().fetch_token(timeout=EXCHANGE_TIMEOUT_SECONDS, **asked)


def sign_in(
    client_file: Path,
    token_file: Path,
    *,
    port: int,
    open_browser: bool,
    timeout_seconds: float,
    show_url: Callable[[str], None],
) -> None:
    """Wait for a person to agree in a browser, then write ``token_file``, readable by its owner alone.

    ``client_file`` is the JSON of a Desktop OAuth client. The browser comes back to ``port`` of this machine's
    loopback, 0 for any free one; a browser elsewhere needs that port forwarded. ``show_url`` is handed the page to
    open. Raises ``UsageError`` (client file, port, folder), ``NeedsAuth`` (nobody agreed in time, or not to reading
    Gmail) and ``GmailUnreachable``. An existing token file stays as it is until the new one is complete.
    """
    if not token_file.parent.is_dir():
        raise UsageError(f"There is no folder {token_file.parent} for the token file.", hint="Make it first.")
    flow = _read_client_file(client_file)
    flow.show_url = show_url
    try:
        credentials = _run(flow, port=port, open_browser=open_browser, timeout_seconds=timeout_seconds)
    finally:
        flow.oauth2session.close()
    if not credentials.refresh_token:
        raise NeedsAuth(
            "Google gave no refresh token.",
            hint="Remove this app's access at https://myaccount.google.com/permissions, then sign in again.",
        )
    content = {
        "type": "authorized_user",
        "client_id": credentials.client_id,
        "client_secret": credentials.client_secret,
        "refresh_token": credentials.refresh_token,
        "token_uri": credentials.token_uri,
        "scopes": [SCOPE],
        "token": credentials.token,
        "expiry": credentials.expiry.replace(tzinfo=UTC).isoformat(),
    }
    try:
        save_token_file(token_file, content)
    except OSError as error:
        raise UsageError(f"The token file {token_file} can't be written ({error.strerror}).") from None


def _read_client_file(path: Path) -> _Flow:
    hint = 'In the Google Cloud console make an OAuth client of the type "Desktop app" and download its JSON.'
    try:
        config = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"The client file {path} can't be read ({error.strerror}).", hint=hint) from None
    except ValueError:
        raise UsageError(f"The client file {path} is not JSON.", hint=hint) from None
    if not isinstance(config, dict) or not isinstance(config.get("installed"), dict):
        raise UsageError(f"The client file {path} is not that of a Desktop OAuth client.", hint=hint)
    missing = [
        key for key in ("client_id", "client_secret", "auth_uri", "token_uri") if not config["installed"].get(key)
    ]
    if missing:
        raise UsageError(f"The client file {path} lacks {', '.join(missing)}.", hint=hint)
    if not is_safe_url(str(config["installed"]["token_uri"])):
        raise UsageError(
            f"The client file {path} has a token_uri that the client's secret must not be sent to.", hint=hint
        )
    flow: _Flow = _Flow.from_client_config(config, scopes=[SCOPE])
    return flow


def _run(flow: _Flow, *, port: int, open_browser: bool, timeout_seconds: float) -> Any:  # noqa: ANN401  # google.auth's
    """Google's flow, with its many errors as ours. Their texts may hold the code or the client's secret."""
    try:
        return flow.run_local_server(
            host=HOST,
            port=port,
            authorization_prompt_message="",
            success_message="inbox-loop is signed in. You can close this page.",
            open_browser=open_browser,
            timeout_seconds=timeout_seconds,
            access_type="offline",
            prompt="consent",
        )
    except WSGITimeoutError:
        raise NeedsAuth(
            f"Nobody finished the sign-in within {timeout_seconds:g} seconds.",
            hint=f"Start again. With the browser on another machine, forward the port: ssh -L {port}:{HOST}:{port} …",
        ) from None
    except OAuth2Error as error:
        raise NeedsAuth(f"The sign-in did not succeed ({type(error).__name__}).", hint="Start again.") from None
    except Warning:
        # oauthlib raises one when the scopes agreed to are not those asked for.
        raise NeedsAuth(
            "Reading Gmail was not agreed to.", hint="Start again, and leave the box for Gmail ticked."
        ) from None
    except webbrowser.Error:
        raise UsageError(
            "There is no browser on this machine.", hint="Open the page yourself: sign in again without a browser."
        ) from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise UsageError(f"Port {port} is in use.", hint="Name another port, or 0 for any free one.") from None
        raise GmailUnreachable("Google's token endpoint can't be reached.") from None
