"""The errors Gmail answers with, in Google's JSON.

Lives here: one exception class and a constructor for each error a client may meet. Not here: faults that are asked
for on demand (``faults.py``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

STATUS_NAMES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


class ApiProblem(Exception):
    """An error answer: HTTP status, Google's reason, a message, and headers and extra fields that go with it."""

    def __init__(
        self,
        status: int,
        reason: str,
        message: str,
        *,
        headers: Mapping[str, str] | None = None,
        location: str | None = None,
        details: list[dict[str, Any]] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.headers = dict(headers or {})
        self.location = location
        self.details = details

    def body(self) -> bytes:
        """The answer's JSON."""
        entry = {"message": self.message, "domain": "global", "reason": self.reason}
        if self.location:
            entry |= {"location": self.location, "locationType": "header"}
        error: dict[str, Any] = {
            "code": self.status,
            "message": self.message,
            "errors": [entry],
            "status": STATUS_NAMES.get(self.status, "UNKNOWN"),
        }
        if self.details:
            error["details"] = self.details
        return json.dumps({"error": error}).encode()


def not_found() -> ApiProblem:
    """An id, a path or a historyId that the mailbox does not have."""
    return ApiProblem(404, "notFound", "Requested entity was not found.")


def invalid_argument(message: str) -> ApiProblem:
    """A parameter Gmail can't take."""
    return ApiProblem(400, "invalidArgument", message)


def unauthenticated() -> ApiProblem:
    """No access token, or one that is unknown, expired or revoked."""
    challenge = {"WWW-Authenticate": 'Bearer realm="https://accounts.google.com/", error="invalid_token"'}
    return ApiProblem(401, "authError", "Invalid Credentials", headers=challenge, location="Authorization")


def delegation_denied(address: str) -> ApiProblem:
    """Another mailbox than the token's."""
    return ApiProblem(403, "forbidden", f"Delegation denied for {address}")


def failed_precondition() -> ApiProblem:
    """A service account that names no user to act for."""
    return ApiProblem(400, "failedPrecondition", "Precondition check failed.")
