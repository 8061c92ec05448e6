"""The simulator itself: start it, deliver mail, point a client at it, stop it.

Lives here: ``Simulator``. Not here: what it answers (``app.py``), or how (``http.py``).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from inbox_loop.simulator.app import Answer, App
from inbox_loop.simulator.calls import Call
from inbox_loop.simulator.faults import Faults
from inbox_loop.simulator.http import HttpServer
from inbox_loop.simulator.oauth import READ_SCOPE, Tokens
from inbox_loop.simulator.spool import Spool
from inbox_loop.simulator.store import Account

CLIENT_ID = "simulator.apps.googleusercontent.com"
CLIENT_SECRET = "not-a-secret"  # noqa: S105 - the simulator takes any


class Simulator:
    """A Gmail API server on 127.0.0.1, in threads of this process, while the ``with`` block runs.

    ``port`` 0 takes any free one. ``units_per_minute`` None sets no quota. ``observe`` is handed every true answer of
    the API before it is sent, in the thread that serves the call.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        units_per_minute: int | None = None,
        observe: Callable[[Answer], None] | None = None,
    ) -> None:
        self._spool = Spool()
        self._app = App(self._spool, units_per_minute=units_per_minute, observe=observe)
        self._port = port
        self._server: HttpServer | None = None

    def __enter__(self) -> Self:
        self._server = HttpServer(self._port, self._app.reply)
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.stop()
        self._spool.close()

    @property
    def url(self) -> str:
        """Base URL, for ``api_endpoint``."""
        if self._server is None:
            raise RuntimeError("the simulator is not started: use it in a with statement")
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def faults(self) -> Faults:
        """What shall go wrong."""
        return self._app.faults

    @property
    def calls(self) -> list[Call]:
        """Every request so far, in the order of their ends. Clear the list to start anew."""
        return self._app.calls

    @property
    def tokens(self) -> Tokens:
        """Sign-ins: to end access tokens early, or revoke."""
        return self._app.tokens

    @property
    def units_per_minute(self) -> int | None:
        """Quota of each account; None for no quota. May be set at any time."""
        return self._app.units_per_minute

    @units_per_minute.setter
    def units_per_minute(self, units: int | None) -> None:
        self._app.units_per_minute = units

    def account(self, address: str) -> Account:
        """The mailbox of this address, made on demand."""
        return self._app.account(address)

    def revoke(self, address: str) -> None:
        """End every sign-in of this mailbox: its tokens get 401, its refreshes ``invalid_grant``."""
        self._app.tokens.revoke(address)

    def token_file(self, address: str, path: Path) -> Path:
        """Sign in, and write Google's authorized-user JSON, mode 0600, whose token_uri is this server's."""
        self.account(address)
        content = {
            "type": "authorized_user",
            "client_id": CLIENT_ID,
            "client_secret": CLIENT_SECRET,
            "refresh_token": self._app.tokens.issue_refresh_token(address),
            "token_uri": f"{self.url}/token",
            "scopes": [READ_SCOPE],
        }
        return _write_private(path, content)

    def client_file(self, path: Path) -> Path:
        """Write the JSON of a Desktop OAuth client whose pages are this server's, for the sign-in flow."""
        installed = {
            "client_id": CLIENT_ID,
            "client_secret": CLIENT_SECRET,
            "auth_uri": f"{self.url}/o/oauth2/auth",
            "token_uri": f"{self.url}/token",
            "redirect_uris": ["http://localhost"],
        }
        return _write_private(path, {"installed": installed})


def _write_private(path: Path, content: Mapping[str, object]) -> Path:
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file)
    return path
