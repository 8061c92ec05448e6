"""One HTTP connection for one post, cut off at a deadline or by a stop. The only importer of urllib3.

urllib3's timeout is for each read, so a receiver that drips its answer byte by byte would hold a post for ever; here
every read also looks at the deadline and at the stop. Opening a connection ends after a few seconds, however many
addresses the name has; a stop is seen after that. Looking up a name can't be cut off: it takes as long as this
machine's resolver settings say.

No redirect is followed, no proxy of the environment is asked, and a certificate must be one this machine trusts.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

from inbox_loop.errors import Stopped
from inbox_loop.webhook.address import Address

# To connect, TLS included, takes at most so long, in seconds: what a stop may have to wait for.
OPEN_SECONDS = 5.0
# A wait for bytes looks up so often, in seconds.
SLICE_SECONDS = 0.1
# A timeout of 0 would mean something else to a socket.
SHORTEST_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class Bounds:
    """The end of a post: a moment of the monotonic clock, or the stop signal."""

    deadline: float
    stop: threading.Event

    def seconds_left(self) -> float:
        """More than 0; raises ``TimeoutError`` after the deadline, ``Stopped`` after a stop."""
        if self.stop.is_set():
            raise Stopped("Stopped on request; what was finished stands.")
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time for the post is over")
        return max(left, SHORTEST_SECONDS)


def post(
    address: Address, context: ssl.SSLContext | None, body: bytes, headers: Mapping[str, str], bounds: Bounds
) -> tuple[int, str | None]:
    """Post ``body``; the status of the answer and its Retry-After. ``context`` is for https.

    Raises ``Stopped``, and for whatever kept an answer from coming ``OSError``, ``UnicodeError`` (the host's name) or
    ``HTTPException`` (what came is no HTTP).
    """
    timeout = bounds.seconds_left()
    connection = (
        _Bounded(address.host, address.port, timeout=timeout)
        if context is None
        else _Secure(address.host, address.port, timeout=timeout, ssl_context=context)
    )
    connection.bounds = bounds
    with closing(connection):
        try:
            connection.request("POST", address.target, body=body, headers=headers, preload_content=False)
            with closing(connection.getresponse()) as response:
                return response.status, response.headers.get("retry-after")
        except HTTPError as error:
            raise http.client.HTTPException from error


class _Bounded(HTTPConnection):
    """A connection whose opening and reading end by ``bounds``."""

    bounds: Bounds

    def connect(self) -> None:
        super().connect()
        self.sock.settimeout(self.bounds.seconds_left())

    def _new_conn(self) -> socket.socket:
        opening = Bounds(min(self.bounds.deadline, time.monotonic() + OPEN_SECONDS), self.bounds.stop)
        connected = _connect(self.host, self.port, opening)
        connected.settimeout(opening.seconds_left())  # for the handshake, which counts it once for the whole
        return connected

    def response_class(  # type: ignore[override]  # http.client only ever calls it
        self, sock: socket.socket, debuglevel: int = 0, method: str | None = None, url: str | None = None
    ) -> http.client.HTTPResponse:
        """http.client's own way to read answers through something else than HTTPResponse."""
        response = http.client.HTTPResponse(sock, debuglevel, method, url)
        response.fp.close()
        response.fp = io.BufferedReader(_BoundedReader(sock, self.bounds))
        return response


class _Secure(_Bounded, HTTPSConnection):
    """The same over https."""


def _connect(host: str, port: int, bounds: Bounds) -> socket.socket:
    """A connection to the first address that answers. An address that is silent leaves the others their share."""
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    trouble = OSError("the name has no address")
    for index, (family, kind, protocol, _name, address) in enumerate(addresses):
        opened = socket.socket(family, kind, protocol)
        try:
            opened.settimeout(bounds.seconds_left() / (len(addresses) - index))
            opened.connect(address)
            # Head and body are sent apart: neither is to wait for the other's receipt.
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            opened.close()
            trouble = error
        except BaseException:
            opened.close()
            raise
        else:
            return opened
    raise trouble


class _BoundedReader(io.RawIOBase):
    """Reads a socket in short waits, so that each can be the last."""

    def __init__(self, sock: socket.socket, bounds: Bounds) -> None:
        self._sock = sock
        self._bounds = bounds
        # http.client closes its socket before the last answer is read and relies on this to hold it open.
        self._hold = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # the stub wants any buffer
        while True:
            self._sock.settimeout(min(self._bounds.seconds_left(), SLICE_SECONDS))
            try:
                return self._sock.recv_into(buffer)
            except TimeoutError:
                continue

    def close(self) -> None:
        self._hold.close()
        super().close()
