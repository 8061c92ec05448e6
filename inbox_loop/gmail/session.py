"""Google's client, one session for each call in flight.

Lives here: ``Call``, a method and its arguments as data; ``Session``, a service object with a connection of its own;
``Sessions``, which lends them out. Not here: quota, tries and sign-in (``calls.py``).

Google's client is not thread-safe: two threads on one Http object get each other's answers, without an error. So a
session is lent to one call at a time, and goes back when the call is over.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import httplib2
from googleapiclient.discovery import build

from inbox_loop.errors import GmailUnreachable, UnreadableMessage
from inbox_loop.gmail.answers import Reply, read_refusal
from inbox_loop.gmail.bounds import Bounds
from inbox_loop.gmail.http import Link
from inbox_loop.gmail.wire import Answer

OK = range(200, 300)


@dataclass(frozen=True, slots=True)
class Call:
    """A method below ``users``, named as in Google's table of quota units, and its arguments."""

    method: str
    arguments: Mapping[str, Any] = field(default_factory=dict, repr=False)


class _Refused(Exception):
    """Carries an answer other than 2xx past Google's client, which would log parts of it."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


class _AuthorizedHttp:
    """What Google's client takes for an Http object: the link, with the access token and bounds of the call."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self.token = ""
        self.bounds = Bounds(deadline=None, stops=())

    def request(
        self, uri: str, method: str = "GET", body: str | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[httplib2.Response, bytes]:
        reply = self._link.send(
            uri,
            bounds=self.bounds,
            method=method,
            body=body,
            headers={**(headers or {}), "authorization": f"Bearer {self.token}"},
        )
        if reply.status not in OK:
            raise _Refused(reply)
        return httplib2.Response({**reply.headers, "status": str(reply.status)}), reply.body

    def close(self) -> None:
        self._link.close()


class Session:
    """A service object of Google's client and its connection."""

    def __init__(self, api_endpoint: str, timeout_seconds: float) -> None:
        self._http = _AuthorizedHttp(Link(api_endpoint, timeout_seconds=timeout_seconds))
        # Google's client makes a resource's methods anew each time it is asked for it: 2 ms of processor a call.
        self._methods: dict[str, Any] = {}
        self._service = build(
            "gmail",
            "v1",
            http=self._http,
            static_discovery=True,
            cache_discovery=False,
            client_options={"api_endpoint": api_endpoint},
        )

    def execute(self, call: Call, token: str, bounds: Bounds) -> Answer:
        """Send ``call`` once. Raises what ``answers.py`` reads from the answer; 200 without JSON is unreachable."""
        self._http.token, self._http.bounds = token, bounds
        try:
            answer = self._request(call).execute(num_retries=0)
        except _Refused as refused:
            raise read_refusal(call.method, refused.reply, datetime.now(UTC)) from None
        except UnicodeDecodeError:
            answer = None
        except RecursionError as error:
            raise UnreadableMessage("Gmail's answer is nested too deep to be read.", reason="too_deep") from error
        if not isinstance(answer, dict):
            raise GmailUnreachable(f"Gmail answered {call.method} with something that is not JSON.")
        return answer

    def close(self) -> None:
        """Close the connection."""
        self._service.close()

    def _request(self, call: Call) -> Any:  # noqa: ANN401  # Google's client has no types
        if call.method not in self._methods:
            self._methods[call.method] = _find_method(self._service, call.method)
        return self._methods[call.method](userId="me", **call.arguments)


def _find_method(service: Any, dotted: str) -> Any:  # noqa: ANN401  # Google's client has no types
    resource = service.users()
    *path, method = dotted.split(".")
    for name in path:
        resource = getattr(resource, name)()
    return getattr(resource, method)


class Sessions:
    """The sessions of one mailbox, as many as there are calls at the same time."""

    def __init__(self, api_endpoint: str, timeout_seconds: float) -> None:
        self._api_endpoint = api_endpoint
        self._timeout_seconds = timeout_seconds
        self._idle: list[Session] = []
        self._lock = threading.Lock()
        self._closed = False

    @contextmanager
    def lend(self) -> Iterator[Session]:
        """A session that nobody else has until the block is left."""
        with self._lock:
            session = self._idle.pop() if self._idle else None
        session = session or Session(self._api_endpoint, self._timeout_seconds)
        try:
            yield session
        finally:
            with self._lock:
                if self._closed:
                    session.close()
                else:
                    self._idle.append(session)

    def close(self) -> None:
        """Close the idle sessions now, and those that are lent when they come back."""
        with self._lock:
            self._closed = True
            for session in self._idle:
                session.close()
            self._idle.clear()
