"""The pages of sign-in: token endpoint, consent, revocation.

Lives here: their paths and their HTTP answers. Not here: what is granted (``oauth.py``).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import parse_qsl

from inbox_loop.simulator.oauth import GrantRefused, Tokens
from inbox_loop.simulator.reply import JSON_TYPE, Reply
from inbox_loop.simulator.request import Request

_PAGES = {
    "/token": "token",
    "/oauth2/token": "token",
    "/o/oauth2/auth": "consent",
    "/o/oauth2/v2/auth": "consent",
    "/revoke": "revoke",
}


class SignIn:
    """Answers for the pages of one simulator. Consent is given for the ``login_hint``, else for ``first_address()``."""

    def __init__(self, tokens: Tokens, first_address: Callable[[], str]) -> None:
        self._tokens = tokens
        self._first_address = first_address

    def find_page(self, path: str) -> str | None:
        """The page at this path: ``token``, ``consent`` or ``revoke``; None for any other path."""
        return _PAGES.get(path)

    def reply(self, page: str, request: Request) -> Reply:
        """The page's answer."""
        try:
            match page:
                case "consent":
                    location = self._tokens.consent(dict(parse_qsl(request.query)), self._first_address())
                    return Reply(302, b"", headers={"Location": location})
                case "revoke":
                    self._tokens.revoke_token(dict(parse_qsl(request.form or request.query)).get("token", ""))
                    return Reply(200, b"{}", headers={"Content-Type": JSON_TYPE})
            granted = self._tokens.grant(dict(parse_qsl(request.form)))
            return Reply(200, json.dumps(granted).encode(), headers={"Content-Type": JSON_TYPE})
        except GrantRefused as refused:
            return Reply(refused.status, refused.body, headers={"Content-Type": JSON_TYPE})
