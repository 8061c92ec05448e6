"""The error tables: what each of Google's answers means."""

from __future__ import annotations

import errno
import http.client
import json
import socket
import ssl
import zlib
from datetime import UTC, datetime

import httplib2
import pytest

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
from inbox_loop.gmail.answers import (
    FAULTS,
    MAX_RETRY_AFTER,
    REMEDIES,
    NoConnection,
    Reply,
    TokenRejected,
    find_retry_after,
    read_fault,
    read_refusal,
    read_token_refusal,
)

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
SECRET = "someone@example.com"


def google_error(status: int, reason: str = "", message: str = SECRET, **headers: str) -> Reply:
    errors = [{"domain": "global", "reason": reason, "message": message}] if reason else []
    body = {"error": {"code": status, "message": message, "errors": errors, "status": "MISLEADING"}}
    return Reply(status, headers, json.dumps(body).encode())


@pytest.mark.parametrize(
    ("method", "reply", "expected"),
    [
        ("messages.get", google_error(429, "rateLimitExceeded"), GmailThrottled),
        ("messages.get", google_error(429, "somethingNew"), GmailThrottled),
        ("messages.get", Reply(429, {}, b"<html>busy</html>"), GmailThrottled),
        ("messages.list", google_error(403, "rateLimitExceeded"), GmailThrottled),
        ("messages.list", google_error(403, "userRateLimitExceeded"), GmailThrottled),
        (
            "history.list",
            google_error(403, "forbidden", "Quota exceeded for quota metric 'Queries' and limit 'per minute'"),
            GmailThrottled,
        ),
        ("messages.list", google_error(403, "dailyLimitExceeded"), GmailParked),
        *(("messages.list", google_error(403, reason), GmailRefused) for reason in REMEDIES),
        ("messages.list", google_error(403, "somethingNew"), GmailRefused),
        ("messages.list", google_error(403), GmailRefused),
        ("messages.list", google_error(400, "failedPrecondition"), GmailRefused),
        ("messages.list", Reply(403, {}, b"<html>Forbidden by the proxy</html>"), GmailUnreachable),
        ("messages.list", google_error(401, "authError"), TokenRejected),
        ("messages.list", Reply(401, {}, b""), TokenRejected),
        ("history.list", google_error(404, "notFound"), HistoryExpired),
        ("history.list", Reply(404, {}, b"<html>no such page</html>"), GmailUnreachable),
        ("messages.get", google_error(404, "notFound"), MessageGone),
        ("messages.get", google_error(410, "deleted"), MessageGone),
        ("threads.get", google_error(404, "notFound"), MessageGone),
        ("messages.attachments.get", google_error(404, "notFound"), MessageGone),
        ("messages.get", Reply(404, {}, b"nothing here"), GmailUnreachable),
        ("getProfile", google_error(404, "notFound"), GmailUnreachable),
        ("messages.get", google_error(400, "invalidArgument"), UnreadableMessage),
        ("messages.list", google_error(400, "invalidArgument"), GmailUnreachable),
        *(("messages.get", google_error(status, "backendError"), GmailUnreachable) for status in (500, 502, 503, 504)),
        ("messages.get", Reply(502, {}, b"<html>Bad Gateway</html>"), GmailUnreachable),
        ("messages.get", Reply(302, {"location": "http://login.example/"}, b""), GmailUnreachable),
    ],
)
def test_each_answer_of_the_api_has_one_meaning(method: str, reply: Reply, expected: type[InboxLoopError]) -> None:
    error = read_refusal(method, reply, NOW)

    assert type(error) is expected
    assert SECRET not in f"{error} {error.hint}"


@pytest.mark.parametrize("reason", sorted(REMEDIES))
def test_a_refusal_says_what_to_do(reason: str) -> None:
    assert read_refusal("messages.get", google_error(403, reason), NOW).hint == REMEDIES[reason]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"error": "text"}',
        b'{"error": {"errors": {}}}',
        b'{"error": {"errors": ["x"], "message": 7}}',
        b"[" * 100_000,
    ],
)
@pytest.mark.parametrize("status", [400, 403, 404, 500])
def test_an_error_body_of_any_shape_is_read(status: int, body: bytes) -> None:
    assert isinstance(read_refusal("messages.get", Reply(status, {}, body), NOW), InboxLoopError)


@pytest.mark.parametrize(
    ("headers", "message", "seconds"),
    [
        ({"retry-after": "7"}, "", 7.0),
        ({"retry-after": "0.25"}, "", 0.25),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT"}, "", 30.0),
        ({}, "User-rate limit exceeded.  Retry after 2026-11-30T12:01:30.500Z", 90.5),
        ({}, "User-rate limit exceeded. Retry after 2026-11-30T12:00:10Z.", 10.0),
        ({"retry-after": "7"}, "Retry after 2026-11-30T12:01:30Z", 7.0),
        ({"date": "Mon, 30 Nov 2026 13:00:00 GMT"}, "Retry after 2026-11-30T13:00:20Z", 20.0),
        ({}, "Retry after 2026-11-30T11:00:00Z", 0.0),
        ({}, "Retry after 9999-12-31T23:59:59Z", MAX_RETRY_AFTER),
        ({"retry-after": "999999999"}, "", MAX_RETRY_AFTER),
        ({"retry-after": "-5"}, "", 0.0),
        ({"retry-after": "soon"}, "Retry after lunch", 0.0),
        ({}, "Retry after 2026-99-99T99:99:99Z", 0.0),
        ({}, "", 0.0),
    ],
)
def test_the_time_gmail_names_is_found(headers: dict[str, str], message: str, seconds: float) -> None:
    assert find_retry_after(headers, message, NOW) == seconds


def test_a_throttle_carries_the_time_gmail_names() -> None:
    reply = google_error(403, "userRateLimitExceeded", "Retry after 2026-11-30T12:00:05Z")

    error = read_refusal("messages.get", reply, NOW)

    assert isinstance(error, GmailThrottled)
    assert error.retry_after == 5.0


@pytest.mark.parametrize("code", ["invalid_grant", "invalid_client", "unauthorized_client", "deleted_client"])
@pytest.mark.parametrize("status", [400, 401, 403])
def test_four_answers_of_the_token_endpoint_need_a_person(code: str, status: int) -> None:
    body = json.dumps({"error": code, "error_description": SECRET}).encode()

    error = read_token_refusal(Reply(status, {}, body), "inbox-loop auth login --mailbox desk")

    assert type(error) is NeedsAuth
    assert code in str(error)
    assert error.hint.endswith("inbox-loop auth login --mailbox desk")
    assert SECRET not in f"{error} {error.hint}"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(500, {}, b'{"error": "internal_failure"}'),
        Reply(502, {}, b"<html>Bad Gateway</html>"),
        Reply(503, {}, b""),
        Reply(429, {}, b'{"error": "rate_limit_exceeded"}'),
        Reply(400, {}, b'{"error": "temporarily_unavailable"}'),
        Reply(400, {}, b'{"error": {"code": "invalid_grant"}}'),
        Reply(400, {}, b'{"error": ["invalid_grant"]}'),
        Reply(200, {}, b"<html>Sign in to the network</html>"),
        Reply(200, {}, b'["access_token"]'),
        Reply(200, {}, b"{}"),
        Reply(200, {}, b'{"access_token": 7}'),
    ],
)
def test_every_other_answer_of_the_token_endpoint_is_passing(reply: Reply) -> None:
    assert type(read_token_refusal(reply, "")) is GmailUnreachable


def test_a_new_token_is_no_refusal() -> None:
    assert read_token_refusal(Reply(200, {}, b'{"access_token": "t"}'), "") is None


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (ConnectionRefusedError(), NoConnection),
        (socket.gaierror(), NoConnection),
        (httplib2.error.ProxiesUnavailableError(), NoConnection),
        (httplib2.ServerNotFoundError(), NoConnection),
        (OSError(errno.ENETUNREACH, "network unreachable"), NoConnection),
        (ssl.SSLCertVerificationError(), NoConnection),
        (ssl.SSLError(), GmailUnreachable),
        (TimeoutError(), GmailUnreachable),
        (ConnectionResetError(), GmailUnreachable),
        (BrokenPipeError(), GmailUnreachable),
        (http.client.IncompleteRead(b""), GmailUnreachable),
        (http.client.RemoteDisconnected(SECRET), GmailUnreachable),
        (http.client.BadStatusLine(SECRET), GmailUnreachable),
        (zlib.error(), GmailUnreachable),
        (EOFError(), GmailUnreachable),
        (httplib2.HttpLib2Error(SECRET), GmailUnreachable),
    ],
)
def test_trouble_below_http_is_passing(fault: Exception, expected: type[InboxLoopError]) -> None:
    assert isinstance(fault, FAULTS)
    error = read_fault(fault)
    assert type(error) is expected
    assert SECRET not in str(error)
