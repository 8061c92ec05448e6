"""The connection itself: over TLS, cut off in the middle, and closed after trouble."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from inbox_loop.errors import DeadlineExceeded, GmailUnreachable, Stopped
from inbox_loop.gmail.answers import AnswerTooLarge, NoConnection
from inbox_loop.gmail.bounds import Bounds
from inbox_loop.gmail.http import Link

Handler = Callable[[socket.socket], None]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 and its key, in one PEM file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


@contextmanager
def serving(handler: Handler, certificate: Path | None = None) -> Iterator[str]:
    """A server that reads each request and leaves the answer to ``handler``; its URL."""
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.05)

        def serve() -> None:
            while not over.is_set():
                with suppress(OSError), ExitStack() as held:
                    connection = held.enter_context(listening.accept()[0])
                    connection.settimeout(5)
                    if certificate is not None:
                        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                        context.load_cert_chain(certificate)
                        connection = held.enter_context(context.wrap_socket(connection, server_side=True))
                    while connection.recv(65536):
                        handler(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"{'http' if certificate is None else 'https'}://127.0.0.1:{listening.getsockname()[1]}/"
        finally:
            over.set()
            thread.join(10)


def drip(connection: socket.socket) -> None:
    for byte in HEAD * 100:
        connection.sendall(bytes([byte]))
        time.sleep(0.01)


def answer(connection: socket.socket) -> None:
    connection.sendall(HEAD + b"\r\nhello")


def packed(body: bytes) -> Handler:
    """Answers with ``body``, compressed."""
    content = gzip.compress(body)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(content)}\r\n\r\n".encode()
    return lambda connection: connection.sendall(head + content)


@pytest.fixture
def trusted(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The certificate, among those that the client trusts."""
    monkeypatch.setattr("httplib2.CA_CERTS", str(certificate))
    return certificate


@contextmanager
def link_to(url: str, timeout_seconds: float = 5.0) -> Iterator[Link]:
    with closing(Link(url, timeout_seconds=timeout_seconds)) as link:
        yield link


def test_https_is_encrypted_however_it_is_spelt(trusted: Path, bounds: Bounds) -> None:
    with serving(answer, trusted) as url, link_to(url) as link:
        assert link.send(url.replace("https:", "HTTPS:"), bounds=bounds, headers={}).body == b"hello"


@pytest.mark.parametrize("secure", [False, True])
def test_an_answer_is_read_and_the_connection_kept(trusted: Path, bounds: Bounds, *, secure: bool) -> None:
    with serving(answer, trusted if secure else None) as url, link_to(url) as link:
        for _ in range(3):
            reply = link.send(url, bounds=bounds, headers={})
            assert (reply.status, reply.body) == (200, b"hello")


@pytest.mark.parametrize("secure", [False, True])
def test_dripping_headers_are_cut_off_at_the_deadline(trusted: Path, bounds: Bounds, *, secure: bool) -> None:
    with serving(drip, trusted if secure else None) as url, link_to(url) as link:
        began = time.monotonic()
        with pytest.raises(DeadlineExceeded):
            link.send(url, bounds=bounds.within(0.3), headers={})
        assert 0.25 < time.monotonic() - began < 10


def test_a_stop_cuts_off_a_secure_read(trusted: Path, bounds: Bounds, stop: threading.Event) -> None:
    with serving(drip, trusted) as url, link_to(url) as link:
        threading.Timer(0.15, stop.set).start()
        with pytest.raises(Stopped):
            link.send(url, bounds=bounds, headers={})


def test_a_certificate_nobody_vouches_for_is_not_accepted(certificate: Path, bounds: Bounds) -> None:
    with serving(answer, certificate) as url, link_to(url) as link, pytest.raises(NoConnection, match="certificate"):
        link.send(url, bounds=bounds, headers={})


def test_a_handshake_that_never_comes_is_given_up(bounds: Bounds) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}/"
        with link_to(url) as link, pytest.raises(DeadlineExceeded):
            link.send(url, bounds=bounds.within(0.2), headers={})


def test_an_answer_that_ends_too_soon_is_passing_trouble(bounds: Bounds) -> None:
    def half(connection: socket.socket) -> None:
        connection.sendall(HEAD + b"\r\nhe")
        connection.shutdown(socket.SHUT_RDWR)

    with serving(half) as url, link_to(url) as link, pytest.raises(GmailUnreachable):
        link.send(url, bounds=bounds, headers={})


def test_a_redirect_is_not_followed_with_our_secrets(bounds: Bounds) -> None:
    def redirect(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 308 Elsewhere\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")

    with serving(redirect) as url, link_to(url) as link:
        assert link.send(url, method="POST", body=b"secret", bounds=bounds, headers={}).status == 308


def test_a_proxy_for_the_world_outside_is_not_used_for_loopback(
    bounds: Bounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    with serving(answer) as url, link_to(url) as link:
        assert link.send(url, bounds=bounds, headers={}).body == b"hello"


def test_an_answer_that_swells_past_the_limit_is_not_taken_in(bounds: Bounds, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inbox_loop.gmail.http.MAX_ANSWER_BYTES", 1_000_000)
    with serving(packed(b" " * 2_000_000)) as url, link_to(url) as link, pytest.raises(AnswerTooLarge):
        link.send(url, bounds=bounds, headers={})


def test_a_blank_mail_that_compresses_a_thousandfold_is_still_read(bounds: Bounds) -> None:

    with serving(packed(b" " * 20_000_000)) as url, link_to(url) as link:
        assert len(link.send(url, bounds=bounds, headers={}).body) == 20_000_000
