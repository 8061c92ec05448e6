"""The sockets: requests in, replies out, and every way a reply can go wrong on the wire.

Lives here: the HTTP/1.1 server with keep-alive. Not here: what is answered (``app.py``).

Stopping ends connections that wait for their next request, and those that hang or drip, at once.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import sys
import threading
from collections.abc import Callable, Mapping
from email.utils import formatdate
from http.server import ThreadingHTTPServer
from socketserver import StreamRequestHandler
from typing import Any

from inbox_loop.simulator.problems import invalid_argument
from inbox_loop.simulator.reply import Manner, Reply
from inbox_loop.simulator.request import Request

_REASONS = {200: "OK", 302: "Found", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found"}
_IDLE_SECONDS = 300
_LONGEST_LINE = 1 << 20
_WORDS_OF_REQUEST_LINE = 3


class HttpServer(ThreadingHTTPServer):
    """Serves ``answer`` on loopback until ``stop``."""

    daemon_threads = False
    block_on_close = True
    request_queue_size = 128
    allow_reuse_address = True

    def __init__(self, port: int, answer: Callable[[Request], Reply]) -> None:
        self.answer = answer
        self.stopping = threading.Event()
        self._connections: set[socket.socket] = set()
        self._connections_lock = threading.Lock()
        self._thread = threading.Thread(target=self._take_connections, name="gmail-simulator")
        super().__init__(("127.0.0.1", port), _Handler)

    def server_bind(self) -> None:
        """Bind without looking up this machine's name, which may take seconds."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "127.0.0.1", self.socket.getsockname()[1]

    def start(self) -> None:
        """Take connections from now on, in a thread of its own."""
        self._thread.start()

    def stop(self) -> None:
        """Take no more connections, end those there are, and wait for every thread."""
        self.stopping.set()
        with contextlib.suppress(OSError):  # wakes the waiting thread; it may be awake already
            socket.create_connection(("127.0.0.1", self.server_port)).close()
        self._thread.join()
        with self._connections_lock:
            for connection in self._connections:
                with contextlib.suppress(OSError):  # the client was faster
                    connection.shutdown(socket.SHUT_RDWR)
        self.server_close()

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ANN401, ARG002 - as in the base class
        """Turn away what comes while the server stops."""
        return not self.stopping.is_set()

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - the base class's signature
        """Remember the connection, so that ``stop`` can end it."""
        with self._connections_lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401 - the base class's signature
        """Close a connection and forget it."""
        with self._connections_lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - the base class's signature
        """A client that went away is no error; anything else is shown as usual."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def _take_connections(self) -> None:
        while not self.stopping.is_set():
            self.handle_request()


class _Handler(StreamRequestHandler):
    """One connection. Leaner than the standard library's handler, which spends half of a call on the headers."""

    server: HttpServer
    timeout = _IDLE_SECONDS
    disable_nagle_algorithm = True

    def handle(self) -> None:
        """Serve requests until either side ends the connection."""
        self.close_connection = False
        with contextlib.suppress(TimeoutError):  # idle for too long
            while not self.close_connection and (line := self.rfile.readline(_LONGEST_LINE)):
                self._send(self._reply(line))

    def _reply(self, line: bytes) -> Reply:
        words = line.decode("latin-1").split()
        headers = self._read_headers()
        length = headers.get("content-length", "0")
        if len(words) != _WORDS_OF_REQUEST_LINE or not length.isdigit() or not line.endswith(b"\n"):
            self.close_connection = True
            return Reply.of_problem(invalid_argument("Malformed request"))
        self.close_connection = words[2] == "HTTP/1.0" or headers.get("connection", "").lower() == "close"
        body = self.rfile.read(int(length)).decode("utf-8", "replace")
        return self.server.answer(_read_request(words[0], words[1], headers, body))

    def _read_headers(self) -> dict[str, str]:
        """Header lines up to the blank one, names in lower case."""
        headers: dict[str, str] = {}
        while (line := self.rfile.readline(_LONGEST_LINE)) not in (b"\r\n", b"\n", b""):
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        return headers

    def _send(self, reply: Reply) -> None:
        stopping = self.server.stopping
        if reply.delay and reply.manner is not Manner.DRIP and stopping.wait(reply.delay):
            self.close_connection = True
            return
        match reply.manner:
            case Manner.WHOLE:
                self.wfile.write(self._head(reply) + reply.body)
                return
            case Manner.CUT:
                self.wfile.write(self._head(reply) + reply.body[: len(reply.body) // 2])
            case Manner.DRIP:
                self._drip(self._head(reply) + reply.body, reply.delay)
            case Manner.HANG:
                self._wait_for_the_end()
            case Manner.RESET:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
            case Manner.DROP:
                pass
        self.close_connection = True

    def _head(self, reply: Reply) -> bytes:
        lines = [f"HTTP/1.1 {reply.status} {_REASONS.get(reply.status, 'Status')}"]
        lines += [f"{name}: {value}" for name, value in reply.headers.items()]
        lines += [f"Content-Length: {len(reply.body)}", f"Date: {formatdate(usegmt=True)}", "", ""]
        return "\r\n".join(lines).encode("latin-1")

    def _drip(self, data: bytes, seconds: float) -> None:
        for n in range(len(data)):
            self.wfile.write(data[n : n + 1])
            if self.server.stopping.wait(seconds):
                return

    def _wait_for_the_end(self) -> None:
        """Hold the connection open until the client closes it or the server stops."""
        self.connection.settimeout(None)
        while not self.server.stopping.is_set() and self.rfile.read(1):
            pass


def _read_request(verb: str, target: str, headers: Mapping[str, str], body: str) -> Request:
    path, _, query = target.partition("?")
    # The Google client sends a GET whose URL is over 2048 characters as a POST with the query for a body.
    if headers.get("x-http-method-override", "").upper() == "GET":
        verb, query, body = "GET", body, ""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return Request(verb, path, query, form=body, bearer=token.strip() if kind.lower() == "bearer" else "")
