"""One HTTP connection, cut off when the pass is over.

Lives here: ``Link``, around httplib2. httplib2's timeout is for each read, so a server that sends a byte now and then
would hold a call for ever; here every read also looks at the deadline and the stop signals of the pass.
Not here: what an answer means (``answers.py``), and who may use which link when (``session.py``).

Opening a connection ends by its timeout or at the deadline; a stop is seen after that. Looking up a name can't be cut
off at all: it takes as long as this machine's resolver settings say.
"""

from __future__ import annotations

import http.client
import io
import socket
import time
from collections.abc import Mapping
from typing import ClassVar
from urllib.parse import urlsplit

import httplib2
from httplib2.decode import DecodeLimitError

from inbox_loop import __version__
from inbox_loop.gmail.answers import FAULTS, AnswerTooLarge, Reply, read_fault
from inbox_loop.gmail.bounds import SLICE_SECONDS, Bounds
from inbox_loop.gmail.safe_url import is_loopback

# Google compresses answers only for agents with "gzip" in their name.
USER_AGENT = f"inbox-loop/{__version__} (gzip)"

# More than this is not taken into memory, compressed or not. Gmail's limit for a message is 50 MB on its way in.
MAX_ANSWER_BYTES = 64 * 1024 * 1024

# A timeout of 0 would mean something else to a socket.
SHORTEST_SECONDS = 0.001


class Link:
    """An HTTP client to one server that keeps its connection open. For one call at a time."""

    def __init__(self, url: str, *, timeout_seconds: float) -> None:
        self.timeout_seconds = timeout_seconds
        self.bounds = Bounds(deadline=None, stops=())
        self._http = httplib2.Http(
            timeout=timeout_seconds,
            # A proxy is for the world outside; httplib2 would send loopback there as well.
            proxy_info=None if is_loopback(urlsplit(url).hostname or "") else httplib2.proxy_info_from_environment,
            decode_limit_hard=MAX_ANSWER_BYTES,
            decode_limit_ratio=0,  # a mail of blanks compresses a thousandfold and is still a mail
        )
        # Neither the API nor the token endpoint redirects. Following would take secrets to another server.
        self._http.follow_redirects = False
        self._plain = type("Connection", (_PlainConnection,), {"link": self})
        self._secure = type("Connection", (_SecureConnection,), {"link": self})

    def send(
        self,
        url: str,
        *,
        bounds: Bounds,
        method: str = "GET",
        body: str | bytes | None = None,
        headers: Mapping[str, str],
    ) -> Reply:
        """Ask, and answer with whatever status came.

        Raises ``GmailUnreachable`` for trouble below HTTP, ``AnswerTooLarge``, ``Stopped`` and ``DeadlineExceeded``.
        After any of them the connection is closed: what it would deliver next belongs to nobody.
        """
        self.bounds = bounds
        try:
            response, content = self._http.request(
                url,
                method,
                body=body,
                headers={**headers, "user-agent": USER_AGENT},
                connection_type=self._secure if urlsplit(url).scheme == "https" else self._plain,
            )
        except FAULTS as fault:
            self.close()
            bounds.check()  # what cut the call off may be the end of the pass
            raise read_fault(fault) from fault
        except DecodeLimitError as fault:
            self.close()
            raise AnswerTooLarge from fault
        except BaseException:
            self.close()
            raise
        return Reply(
            status=response.status, headers={str(k).lower(): str(v) for k, v in response.items()}, body=content
        )

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        self._http.close()


class _Bounded(http.client.HTTPConnection):
    """A connection that takes its bounds from the link it belongs to. httplib2 makes it, hence the class attribute."""

    link: ClassVar[Link]

    def connect(self) -> None:
        self.link.bounds.check()
        self.timeout = max(min(self.link.timeout_seconds, self.link.bounds.seconds_left()), SHORTEST_SECONDS)
        super().connect()

    def response_class(  # type: ignore[override]  # http.client only ever calls it
        self, sock: socket.socket, debuglevel: int = 0, method: str | None = None, url: str | None = None
    ) -> http.client.HTTPResponse:
        """http.client's own way to read answers through something else than HTTPResponse."""
        response = http.client.HTTPResponse(sock, debuglevel, method, url)
        response.fp.close()
        response.fp = io.BufferedReader(_BoundedReader(sock, self.link))
        return response


class _PlainConnection(_Bounded, httplib2.HTTPConnectionWithTimeout):
    """Over http."""


class _SecureConnection(_Bounded, httplib2.HTTPSConnectionWithTimeout):
    """Over https."""


class _BoundedReader(io.RawIOBase):
    """Reads a socket in short waits, so that each can be the last."""

    def __init__(self, sock: socket.socket, link: Link) -> None:
        self._sock = sock
        self._link = link
        self._received = 0
        # http.client closes its socket before the last answer is read and relies on this to hold it open.
        self._hold = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # the stub wants any buffer
        received = self._wait_for_bytes(buffer)
        self._received += received
        if self._received > MAX_ANSWER_BYTES:
            raise AnswerTooLarge
        return received

    def _wait_for_bytes(self, buffer: bytearray | memoryview) -> int:
        patient_until = time.monotonic() + self._link.timeout_seconds
        while True:
            self._link.bounds.check()
            left = min(patient_until - time.monotonic(), self._link.bounds.seconds_left(), SLICE_SECONDS)
            self._sock.settimeout(max(left, SHORTEST_SECONDS))
            try:
                return self._sock.recv_into(buffer)
            except TimeoutError:
                if time.monotonic() >= patient_until:
                    raise
            finally:
                self._sock.settimeout(self._link.timeout_seconds)

    def close(self) -> None:
        self._hold.close()
        super().close()
