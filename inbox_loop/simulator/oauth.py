"""Sign-in: Google's token endpoint and a consent page that agrees at once.

Lives here: grants, refresh tokens, access tokens and their end. Not here: HTTP (``http.py``), and no password or real
secret: the client's id and secret are taken as they come.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

LIFETIME_SECONDS = 3599
READ_SCOPE = "https://www.googleapis.com/auth/gmail.readonly"
_JWT_GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"


class GrantRefused(Exception):
    """The token endpoint's error: ``reason`` is OAuth's word for it."""

    def __init__(self, reason: str, description: str, *, status: int = 400) -> None:
        super().__init__(description)
        self.status = status
        self.body = json.dumps({"error": reason, "error_description": description}).encode()


@dataclass(frozen=True, slots=True)
class _Access:
    address: str
    """Empty for a service account that names no user to act for."""
    expires_at: float


@dataclass(frozen=True, slots=True)
class _Code:
    address: str
    redirect_uri: str
    challenge: str
    scope: str


class Tokens:
    """All sign-ins of one simulator; safe between threads. Moments are monotonic seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._refresh: dict[str, tuple[str, str]] = {}
        self._access: dict[str, _Access] = {}
        self._codes: dict[str, _Code] = {}
        self.lifetime_seconds = LIFETIME_SECONDS

    def issue_refresh_token(self, address: str, scope: str = READ_SCOPE) -> str:
        """A new refresh token for this mailbox."""
        token = "1//" + secrets.token_urlsafe(32)
        with self._lock:
            self._refresh[token] = (address, scope)
        return token

    def issue_access_token(self, address: str) -> str:
        """A new access token for this mailbox."""
        token = "ya29." + secrets.token_urlsafe(32)
        with self._lock:
            self._access[token] = _Access(address, self._clock() + self.lifetime_seconds)
        return token

    def expire_access(self, address: str) -> None:
        """Every access token of this mailbox is over; a refresh gives a new one."""
        with self._lock:
            self._access = {token: access for token, access in self._access.items() if access.address != address}

    def revoke(self, address: str) -> None:
        """Every token of this mailbox is over, refresh tokens too."""
        self.expire_access(address)
        with self._lock:
            self._refresh = {token: held for token, held in self._refresh.items() if held[0] != address}

    def revoke_token(self, token: str) -> None:
        """Revoke the sign-in one token belongs to; raises ``GrantRefused`` for an unknown one."""
        with self._lock:
            held = self._refresh.get(token, ("", ""))[0] or (
                self._access[token].address if token in self._access else ""
            )
        if not held:
            raise GrantRefused("invalid_token", "Token expired or revoked")
        self.revoke(held)

    def find_address(self, access_token: str) -> str | None:
        """Whose token it is; None when it is unknown or over."""
        access = self._access.get(access_token)
        return access.address if access is not None and access.expires_at > self._clock() else None

    def consent(self, asked: Mapping[str, str], default_address: str) -> str:
        """Agree to what a consent page was asked for: the URL to go back to, with a code."""
        redirect_uri = asked.get("redirect_uri", "")
        if urlsplit(redirect_uri).hostname not in {"localhost", "127.0.0.1", "::1"}:
            raise GrantRefused("redirect_uri_mismatch", "Only loopback addresses are redirected to")
        code = "4/" + secrets.token_urlsafe(24)
        with self._lock:
            self._codes[code] = _Code(
                address=asked.get("login_hint") or default_address,
                redirect_uri=redirect_uri,
                challenge=asked.get("code_challenge", ""),
                scope=asked.get("scope", READ_SCOPE),
            )
        answer = {"code": code, "scope": asked.get("scope", READ_SCOPE)}
        if "state" in asked:
            answer["state"] = asked["state"]
        return redirect_uri + ("&" if "?" in redirect_uri else "?") + urlencode(answer)

    def grant(self, asked: Mapping[str, str]) -> dict[str, object]:
        """Answer the token endpoint; raises ``GrantRefused``."""
        match asked.get("grant_type"):
            case "refresh_token":
                held = self._refresh.get(asked.get("refresh_token", ""))
                if held is None:
                    raise GrantRefused("invalid_grant", "Token has been expired or revoked.")
                return self._granted(*held)
            case "authorization_code":
                code = self._take_code(asked)
                refresh_token = self.issue_refresh_token(code.address, code.scope)
                return {**self._granted(code.address, code.scope), "refresh_token": refresh_token}
            case grant_type if grant_type == _JWT_GRANT:
                return self._granted(_subject(asked.get("assertion", "")), READ_SCOPE)
        raise GrantRefused("unsupported_grant_type", "Invalid grant_type")

    def _granted(self, address: str, scope: str) -> dict[str, object]:
        return {
            "access_token": self.issue_access_token(address),
            "expires_in": self.lifetime_seconds,
            "scope": scope,
            "token_type": "Bearer",
        }

    def _take_code(self, asked: Mapping[str, str]) -> _Code:
        """The code, used up; checked against redirect_uri and, where it was started with PKCE, the verifier."""
        with self._lock:
            code = self._codes.pop(asked.get("code", ""), None)
        if code is None or code.redirect_uri != asked.get("redirect_uri"):
            raise GrantRefused("invalid_grant", "Malformed auth code.")
        if code.challenge and _s256(asked.get("code_verifier", "")) != code.challenge:
            raise GrantRefused("invalid_grant", "Invalid code verifier.")
        return code


def _s256(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode("ascii").rstrip("=")


def _subject(assertion: str) -> str:
    """The user a service account's signed assertion names; the signature is not looked at."""
    try:
        claims = assertion.split(".")[1]
        return str(json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4))).get("sub", ""))
    except (IndexError, AttributeError, binascii.Error, ValueError) as error:
        raise GrantRefused("invalid_grant", "Invalid JWT.") from error
