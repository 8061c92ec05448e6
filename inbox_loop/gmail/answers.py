"""What Google's answers mean: one table, from an answer to a typed error. Pure.

Lives here: the table for the Gmail API (https://developers.google.com/workspace/gmail/api/guides/handle-errors), the
one for the OAuth token endpoint (RFC 6749, section 5.2), and the one for trouble below HTTP.
Not here: what is done about an error (``calls.py``).

Texts that Google or a server in between wrote are not repeated in ours: they may name an address.
"""

from __future__ import annotations

import errno
import http.client
import json
import math
import re
import socket
import ssl
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httplib2

from inbox_loop.errors import (
    GmailParked,
    GmailRefused,
    GmailThrottled,
    GmailUnreachable,
    HistoryExpired,
    InboxLoopError,
    MessageGone,
    NeedsAuth,
    UnreadableMessage,
)

# Longest wait that is taken from an answer, in seconds: a day. More is a fault of the server, not an instruction.
MAX_RETRY_AFTER = 86_400.0


class NoConnection(GmailUnreachable):
    """There is nobody to talk to at all, so that no other call would fare better."""


class AnswerTooLarge(UnreadableMessage):
    """An answer is larger than what is taken into memory."""

    def __init__(self) -> None:
        super().__init__("Gmail's answer is larger than this program takes in.", reason="too_large")


class TokenRejected(NeedsAuth):
    """Gmail answered 401: the access token is not good (any more). A new one may be."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer. Header names are lower case."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


# --- the Gmail API -------------------------------------------------------------------------------------------------

THROTTLED = frozenset({"rateLimitExceeded", "userRateLimitExceeded"})
PARKED = frozenset({"dailyLimitExceeded"})
ONE_THING = frozenset({"messages.get", "messages.attachments.get", "threads.get"})

BAD_REQUEST, UNAUTHORIZED, FORBIDDEN, TOO_MANY = 400, 401, 403, 429
GONE = frozenset({404, 410})

# What a person does about each reason. A 403 or failedPrecondition with another reason is refused as well.
REMEDIES = {
    "insufficientPermissions": (
        "Sign in again and grant read access to Gmail: inbox-loop auth login (scope gmail.readonly)."
    ),
    "accessNotConfigured": "Enable the Gmail API in the Google Cloud project of this OAuth client, then wait a minute.",
    "domainPolicy": "Ask the Workspace's administrator to allow this app and Gmail API access.",
    "failedPrecondition": (
        "Check that the account has Gmail switched on; a service account needs domain-wide delegation, and "
        '"subject" in its key file must be the mailbox\'s address.'
    ),
}


def read_refusal(method: str, reply: Reply, now: datetime) -> InboxLoopError:
    """The error that an answer other than 2xx to ``method`` stands for. ``now`` is the moment it came in.

    Only an answer in Google's own form speaks for Gmail; a page of HTML from something in between is passing trouble.
    """
    error = _error_object(reply.body)
    if reply.status == TOO_MANY or (reply.status == FORBIDDEN and _is_throttle(error)):
        return _throttled(reply, error, now)
    if reply.status == UNAUTHORIZED:
        return TokenRejected("Gmail does not accept the access token.")
    if reply.status == FORBIDDEN and error:
        return _parked() if _reason(error) in PARKED else _refused(_reason(error))
    if reply.status == BAD_REQUEST and _reason(error) == "failedPrecondition":
        return _refused("failedPrecondition")
    about_one_thing = _refusal_of_one_thing(method, reply.status) if error else None
    return about_one_thing or GmailUnreachable(f"Gmail answered {method} with HTTP status {reply.status}.")


def _refusal_of_one_thing(method: str, status: int) -> InboxLoopError | None:
    """What an answer says of the message or the history that was asked for, if it is about that alone."""
    if status in GONE and method == "history.list":
        return HistoryExpired("Gmail no longer has the history since the cursor.")
    if status in GONE and method in ONE_THING:
        return MessageGone(f"Gmail answers {method} with 404: it has no such message.")
    if status == BAD_REQUEST and method in ONE_THING:
        return UnreadableMessage("Gmail calls the request for this message a bad one.", reason="bad_request")
    return None


def _is_throttle(error: Mapping[str, Any]) -> bool:
    return _reason(error) in THROTTLED or "quota exceeded for quota metric" in _message(error).lower()


def _parked() -> GmailParked:
    return GmailParked(
        "The Google project's own daily limit for the Gmail API is used up.",
        hint="It starts afresh at midnight Pacific time; the project's owner can raise it in the Google Cloud console.",
    )


def _refused(reason: str) -> GmailRefused:
    return GmailRefused(
        f"Gmail refuses to let this mailbox be read ({reason or 'no reason given'}).",
        hint=REMEDIES.get(reason, "See https://developers.google.com/workspace/gmail/api/guides/handle-errors."),
    )


def _throttled(reply: Reply, error: Mapping[str, Any], now: datetime) -> GmailThrottled:
    return GmailThrottled("Gmail asks to slow down.", retry_after=find_retry_after(reply.headers, _message(error), now))


def find_retry_after(headers: Mapping[str, str], message: str, now: datetime) -> float:
    """Seconds to wait, from a Retry-After header (RFC 9110) or "Retry after <time>" in the text; else 0.

    Moments are measured against the server's own Date header where it sent one, so that our clock may be wrong.
    """
    sent_at = _http_date(headers.get("date", "")) or now
    header = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", header):
        return _bounded(float(header))
    moment = _http_date(header)
    stamp = re.search(r"retry after\s+([0-9T:.+-]{16,40}Z?)", message, re.IGNORECASE)
    if moment is None and stamp is not None:
        moment = _iso_date(stamp[1])
    return 0.0 if moment is None else _bounded((moment - sent_at).total_seconds())


def _bounded(seconds: float) -> float:
    return max(0.0, min(seconds, MAX_RETRY_AFTER)) if math.isfinite(seconds) else 0.0


def _http_date(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _iso_date(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.rstrip("."))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _error_object(body: bytes) -> Mapping[str, Any]:
    """``error`` of Google's JSON error body; empty when the answer is not one."""
    try:
        error = json.loads(body).get("error")
    except (ValueError, AttributeError, RecursionError):
        return {}
    return error if isinstance(error, dict) else {}


def _reason(error: Mapping[str, Any]) -> str:
    errors = error.get("errors")
    first = errors[0] if isinstance(errors, list) and errors else {}
    reason = first.get("reason") if isinstance(first, dict) else ""
    return reason if isinstance(reason, str) and re.fullmatch(r"[A-Za-z0-9_.]{1,60}", reason) else ""


def _message(error: Mapping[str, Any]) -> str:
    message = error.get("message")
    return message if isinstance(message, str) else ""


# --- the token endpoint --------------------------------------------------------------------------------------------

# The only answers that mean that a person must act, and what may lie behind each.
TOKEN_REMEDIES = {
    "invalid_grant": (
        "It was revoked, its password changed, it was unused for six months, or the OAuth app is External and still in "
        '"Testing", where a sign-in lasts 7 days: make the app Internal (Workspace) or put it "In production". For a '
        "service account, check its subject and this machine's clock."
    ),
    "invalid_client": "The OAuth client's id and secret do not belong together, or the secret was replaced.",
    "unauthorized_client": "The OAuth client may not do this; a service account needs domain-wide delegation.",
    "deleted_client": "The OAuth client was deleted in the Google Cloud console; make a new one.",
}


def read_token_refusal(reply: Reply, command: str) -> InboxLoopError | None:
    """The error that the token endpoint's answer stands for; None for a new token. ``command`` signs in again."""
    if reply.status == http.client.OK and isinstance(_json_object(reply.body).get("access_token"), str):
        return None
    code = read_error_code(reply)
    if code in TOKEN_REMEDIES:
        return NeedsAuth(
            f"Google no longer accepts the sign-in ({code}).",
            hint=f"{TOKEN_REMEDIES[code]} Then sign in again: {command}",
        )
    return GmailUnreachable(f"Google's token endpoint answered with HTTP status {reply.status} and no token.")


def read_error_code(reply: Reply) -> str:
    """OAuth's ``error`` in an answer (RFC 6749, section 5.2); empty when there is none."""
    code = _json_object(reply.body).get("error")
    return code if isinstance(code, str) else ""


def _json_object(body: bytes) -> Mapping[str, Any]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


# --- below HTTP ----------------------------------------------------------------------------------------------------

# All that httplib2, http.client, ssl and the sockets under them raise. OSError covers resets, timeouts and TLS.
FAULTS = (OSError, EOFError, http.client.HTTPException, httplib2.HttpLib2Error, zlib.error)

_NOBODY_THERE = (ConnectionRefusedError, socket.gaierror, httplib2.ServerNotFoundError)
_NO_WAY = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN})


def read_fault(fault: BaseException) -> GmailUnreachable:
    """The error that trouble below HTTP stands for."""
    if isinstance(fault, ssl.SSLCertVerificationError):
        return NoConnection(
            "The server's certificate can't be verified.",
            hint="Check this machine's clock, and for a proxy in between.",
        )
    if isinstance(fault, httplib2.error.ProxiesUnavailableError):
        return NoConnection(
            "A proxy is named in the environment (https_proxy), and the library for proxies is missing.",
            hint="Install PySocks beside inbox-loop, or start it without the proxy.",
        )
    if isinstance(fault, _NOBODY_THERE) or (isinstance(fault, OSError) and fault.errno in _NO_WAY):
        return NoConnection("Google can't be reached: the connection was refused, or its name is unknown here.")
    if isinstance(fault, TimeoutError):
        return GmailUnreachable("Google did not answer in time.")
    if isinstance(fault, httplib2.HttpLib2Error | zlib.error):
        return GmailUnreachable(f"Google's answer is damaged ({type(fault).__name__}).")
    return GmailUnreachable(f"The connection to Google broke off ({type(fault).__name__}).")
