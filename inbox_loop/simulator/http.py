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
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from inbox_loop.simulator.reply import Manner, Reply
from inbox_loop.simulator.request import Request

_REASONS = {200: "OK", 302: "Found", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found"}
_IDLE_SECONDS = 300


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
        super().__init__(("127.0.0.1", port), _Handler)

    def server_bind(self) -> None:
        """Bind without looking up this machine's name, which may take seconds."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "127.0.0.1", self.socket.getsockname()[1]

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

    def stop(self) -> None:
        """End every connection and thread; from another thread than the one that serves."""
        self.stopping.set()
        self.shutdown()
        with self._connections_lock:
            for connection in self._connections:
                with contextlib.suppress(OSError):  # the client was faster
                    connection.shutdown(socket.SHUT_RDWR)
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: HttpServer
    protocol_version = "HTTP/1.1"
    timeout = _IDLE_SECONDS
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        """Nothing is logged: request lines hold tokens and searches."""

    def do_GET(self) -> None:
        self._send(self.server.answer(self._request(body="")))

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        self._send(self.server.answer(self._request(self.rfile.read(length).decode("utf-8", "replace"))))

    def _request(self, body: str) -> Request:
        path, _, query = self.path.partition("?")
        kind, _, token = self.headers.get("Authorization", "").partition(" ")
        # The Google client sends a GET whose URL is over 2048 characters as a POST with the query for a body.
        if self.headers.get("X-HTTP-Method-Override", "").upper() == "GET":
            query, body = body, ""
        return Request(path, query, form=body, bearer=token.strip() if kind.lower() == "bearer" else "")

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
        lines += [f"Content-Length: {len(reply.body)}", "Date: " + self.date_time_string(), "", ""]
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
