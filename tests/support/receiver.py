"""A receiver of webhooks on loopback, over a real socket, that behaves as a test wants it to.

Lives here: ``Receiver`` and the ways it can answer. ``tests/fixtures/receiver.py`` starts one.
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

SECRET = "whsec_Zm9yIHRoZSB0ZXN0cyBhbG9uZSBhbmQgbm9ib2R5"


@dataclass(frozen=True, slots=True)
class Posted:
    """One request as it came."""

    request_line: str
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> dict[str, Any]:
        """The body, read."""
        document: dict[str, Any] = json.loads(self.body)
        return document


# Answers one request on an open connection.
Answering = Callable[[socket.socket], None]


def status(code: int, *headers: str) -> Answering:
    """A plain answer."""
    lines = [f"HTTP/1.1 {code} Whatever", "Content-Length: 0", *headers]
    return lambda connection: connection.sendall("".join(f"{line}\r\n" for line in (*lines, "")).encode("latin-1"))


def raw(content: bytes) -> Answering:
    """These bytes, whatever they are, and the end of the connection."""
    return lambda connection: connection.sendall(content)


def close(connection: socket.socket) -> None:
    """No answer: the connection ends."""
    connection.shutdown(socket.SHUT_RDWR)


def drip(connection: socket.socket) -> None:
    """An answer that comes byte by byte and has no end, for as long as the other side listens."""
    head = b"HTTP/1.1 200 OK\r\nX-Drip: "
    connection.sendall(head)
    for _ in range(10_000):
        connection.sendall(b"x")
        time.sleep(0.01)


def silent(connection: socket.socket) -> None:
    """Nothing, until the other side has had enough."""
    connection.recv(1)


def silent_until(event: threading.Event) -> Answering:
    """Nothing until ``event``, then 204."""

    def wait(connection: socket.socket) -> None:
        event.wait(30)
        status(204)(connection)

    return wait


def when_all_are_there(together: threading.Barrier) -> Answering:
    """204, but only once as many requests wait for it as ``together`` has parties."""

    def wait(connection: socket.socket) -> None:
        together.wait(10)
        status(204)(connection)

    return wait


@dataclass(slots=True)
class Receiver:
    """What came in, and how it is answered: ``answers`` one after the other, then ``usual``."""

    url: str
    posted: list[Posted] = field(default_factory=list)
    answers: list[Answering] = field(default_factory=list)
    usual: Answering = field(default_factory=lambda: status(204))
    lock: threading.Lock = field(default_factory=threading.Lock)
    most_at_once: int = 0
    at_once: int = 0

    def serve(self, connection: socket.socket) -> None:
        """Read one request, remember it, answer it."""
        request = _read_request(connection)
        if request is None:
            return
        with self.lock:
            self.posted.append(request)
            answering = self.answers.pop(0) if self.answers else self.usual
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            answering(connection)
        finally:
            with self.lock:
                self.at_once -= 1


def _read_request(connection: socket.socket) -> Posted | None:
    with connection.makefile("rb") as stream:
        request_line = stream.readline().decode("latin-1").strip()
        if not request_line:
            return None
        headers: dict[str, str] = {}
        while line := stream.readline().decode("latin-1").strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        return Posted(request_line, headers, stream.read(int(headers.get("content-length", "0"))))


@contextmanager
def receiving(context: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """A receiver while inside; each connection has a thread of its own. With ``context`` it speaks TLS."""
    over = threading.Event()
    threads: list[threading.Thread] = []
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listening:
        listening.settimeout(0.05)
        scheme = "http" if context is None else "https"
        receiver = Receiver(f"{scheme}://127.0.0.1:{listening.getsockname()[1]}/hooks/s3cret-path?key=s3cret-key")

        def serve(accepted: socket.socket) -> None:
            with suppress(OSError), ExitStack() as held:
                connection = held.enter_context(accepted)
                connection.settimeout(10)
                if context is not None:
                    connection = held.enter_context(context.wrap_socket(connection, server_side=True))
                receiver.serve(connection)

        def accept() -> None:
            while not over.is_set():
                with suppress(TimeoutError):
                    threads.append(threading.Thread(target=serve, args=(listening.accept()[0],)))
                    threads[-1].start()

        acceptor = threading.Thread(target=accept)
        acceptor.start()
        try:
            yield receiver
        finally:
            over.set()
            for thread in (acceptor, *threads):
                thread.join(15)
