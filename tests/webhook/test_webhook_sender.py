"""The post itself, over real sockets: what is sent, what each answer is read as, and that nothing holds it up."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from io import StringIO
from pathlib import Path
from traceback import format_exception
from uuid import UUID

import pytest
from support.receiver import SECRET, Answering, Receiver, close, drip, raw, silent, status

from inbox_loop import __version__
from inbox_loop.commands.logs import configure_logs
from inbox_loop.errors import Stopped
from inbox_loop.loop.outbox_ports import Answer, Delivery, TaskInBrief, Trouble
from inbox_loop.settings import LogSettings
from inbox_loop.task import TaskStatus
from inbox_loop.webhook.sender import Sender, read_retry_after
from inbox_loop.webhook.signature import read_secret, sign

NOW = datetime(2026, 11, 30, 12, 0, 0, 500_000, tzinfo=UTC)
DELIVERY = Delivery(
    tenant_id=UUID(int=1),
    notification_id=7,
    event_id=UUID(int=2),
    topic="task.created",
    created_at=datetime(2026, 11, 30, 13, tzinfo=timezone(timedelta(hours=1))),
    tenant="acme",
    attempts=1,
    claimed_until=datetime(2026, 11, 30, 14, tzinfo=UTC),
    task=TaskInBrief(
        task_id=UUID(int=3),
        number=12,
        project=None,
        title='Überweisung "prüfen"',
        status=TaskStatus.OPEN,
        labels=("billing",),
        external_ref="gmail:1#a",
        container_ref="gmail:1",
        created_at=datetime(2026, 11, 30, 12, tzinfo=UTC),
    ),
)
MakeSender = Callable[..., Sender]


@pytest.fixture
def stop() -> threading.Event:
    return threading.Event()


@pytest.fixture
def sender_to(stop: threading.Event) -> MakeSender:
    """Makes a sender to a URL."""

    def make(url: str, timeout_seconds: float = 5.0) -> Sender:
        return Sender(url, SECRET, timeout_seconds=timeout_seconds, stop=stop)

    return make


def test_a_post_is_a_signed_document(receiver: Receiver, sender_to: MakeSender) -> None:
    assert sender_to(receiver.url).send(DELIVERY, NOW) == Answer(204)
    (posted,) = receiver.posted
    assert posted.request_line == "POST /hooks/s3cret-path?key=s3cret-key HTTP/1.1"
    assert posted.document == {
        "id": "00000000-0000-0000-0000-000000000002",
        "topic": "task.created",
        "created_at": "2026-11-30T12:00:00Z",
        "tenant": "acme",
        "task": {
            "id": "00000000-0000-0000-0000-000000000003",
            "number": 12,
            "project": None,
            "title": 'Überweisung "prüfen"',
            "status": "open",
            "labels": ["billing"],
            "external_ref": "gmail:1#a",
            "container_ref": "gmail:1",
            "created_at": "2026-11-30T12:00:00Z",
        },
    }
    headers = posted.headers
    assert headers["host"] == receiver.url.split("/")[2]
    assert headers["content-type"] == "application/json"
    assert headers["user-agent"] == f"inbox-loop/{__version__}"
    assert headers["webhook-id"] == posted.document["id"]
    assert headers["webhook-timestamp"] == str(int(NOW.timestamp()))
    assert headers["webhook-signature"] == sign(
        read_secret(SECRET), event_id=headers["webhook-id"], timestamp=int(NOW.timestamp()), body=posted.body
    )


def test_the_largest_task_fits(receiver: Receiver, sender_to: MakeSender) -> None:
    task = replace(DELIVERY.task, title="\u20ac" * 1000, labels=tuple(f"{n:02}" + "\u20ac" * 98 for n in range(50)))
    sender_to(receiver.url).send(replace(DELIVERY, task=task), NOW)
    assert receiver.posted[0].document["task"]["labels"] == list(task.labels)


@pytest.mark.parametrize(
    ("answering", "expected"),
    [
        (status(200), Answer(200)),
        (status(299), Answer(299)),
        (status(500), Answer(500)),
        (status(410), Answer(410)),
        (status(429, "Retry-After: 120"), Answer(429, timedelta(minutes=2))),
        (status(503, "Retry-After: Mon, 30 Nov 2026 12:01:00 GMT"), Answer(503, timedelta(seconds=59.5))),
        (status(204, "Retry-After: Mon, 01 Jan 99999999999999999999999 00:00:00 GMT"), Answer(204)),
        (status(204, "Retry-After: 120"), Answer(204)),
        (raw(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"), Answer(200)),
        (raw(b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n"), Answer(200)),
        (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"), Trouble.BAD_ANSWER),
        (raw(b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(200))), Trouble.BAD_ANSWER),
        (raw(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000), Trouble.BAD_ANSWER),
        (raw(b"SSH-2.0-OpenSSH_9.9\r\n"), Trouble.BAD_ANSWER),
        (raw(b"HTTP/1.1 2"), Trouble.BAD_ANSWER),
        (close, Trouble.CLOSED),
    ],
)
def test_every_answer_is_read_as_what_it_is(
    receiver: Receiver, sender_to: MakeSender, answering: Answering, expected: Answer | Trouble
) -> None:
    receiver.usual = answering
    assert sender_to(receiver.url).send(DELIVERY, NOW) == expected
    assert len(receiver.posted) == 1  # nothing is tried again here


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(receiver: Receiver, sender_to: MakeSender, code: int) -> None:
    receiver.usual = status(code, f"Location: {receiver.url}")
    assert sender_to(receiver.url).send(DELIVERY, NOW) == Answer(code)
    assert len(receiver.posted) == 1


def test_the_body_of_an_answer_is_not_taken_in(receiver: Receiver, sender_to: MakeSender) -> None:
    def endless(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
        while True:
            connection.sendall(gzip.compress(b" " * 1_000_000))

    receiver.usual = endless
    began = time.monotonic()
    assert sender_to(receiver.url).send(DELIVERY, NOW) == Answer(200)
    assert time.monotonic() - began < 3


@pytest.mark.parametrize("answering", [drip, silent], ids=["drips", "says nothing"])
def test_a_receiver_that_drips_or_says_nothing_is_cut_off_in_time(
    receiver: Receiver, sender_to: MakeSender, answering: Answering
) -> None:
    receiver.usual = answering
    began = time.monotonic()
    assert sender_to(receiver.url, timeout_seconds=0.4).send(DELIVERY, NOW) == Trouble.TIMEOUT
    assert 0.35 < time.monotonic() - began < 1.8


def test_so_is_one_that_drips_over_https(
    secure_receiver: Receiver, sender_to: MakeSender, receiver_certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(receiver_certificate))
    secure_receiver.usual = drip
    began = time.monotonic()
    assert sender_to(secure_receiver.url, timeout_seconds=0.4).send(DELIVERY, NOW) == Trouble.TIMEOUT
    assert 0.35 < time.monotonic() - began < 3


@contextmanager
def silent_listener() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def test_a_handshake_that_never_comes_is_given_up(sender_to: MakeSender) -> None:
    with silent_listener() as place:
        began = time.monotonic()
        assert sender_to(f"https://{place}/", timeout_seconds=0.4).send(DELIVERY, NOW) == Trouble.TIMEOUT
    assert time.monotonic() - began < 3


def test_a_stop_cuts_a_post_off(receiver: Receiver, sender_to: MakeSender, stop: threading.Event) -> None:
    receiver.usual = drip
    threading.Timer(0.2, stop.set).start()
    began = time.monotonic()
    with pytest.raises(Stopped):
        sender_to(receiver.url, timeout_seconds=60).send(DELIVERY, NOW)
    assert time.monotonic() - began < 3


def test_nothing_is_sent_after_a_stop(receiver: Receiver, sender_to: MakeSender, stop: threading.Event) -> None:
    stop.set()
    with pytest.raises(Stopped):
        sender_to(receiver.url).send(DELIVERY, NOW)
    assert receiver.posted == []


def test_a_certificate_nobody_vouches_for_is_refused_before_anything_is_sent(
    secure_receiver: Receiver, sender_to: MakeSender
) -> None:
    assert sender_to(secure_receiver.url).send(DELIVERY, NOW) == Trouble.CERTIFICATE
    assert secure_receiver.posted == []


def test_a_certificate_for_another_host_is_refused(
    secure_receiver: Receiver, sender_to: MakeSender, receiver_certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(receiver_certificate))
    url = secure_receiver.url.replace("127.0.0.1", "localhost")
    assert sender_to(url).send(DELIVERY, NOW) == Trouble.CERTIFICATE
    assert sender_to(secure_receiver.url).send(DELIVERY, NOW) == Answer(204)  # and for its own it is taken
    assert len(secure_receiver.posted) == 1


def test_a_receiver_that_speaks_no_tls_is_told_apart(sender_to: MakeSender) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(1) as pool:
        port = listening.getsockname()[1]
        asked = pool.submit(sender_to(f"https://127.0.0.1:{port}/").send, DELIVERY, NOW)
        with listening.accept()[0] as connection:
            connection.recv(1)
            connection.sendall(b"HTTP/1.1 400 Bad\r\n\r\n")
            assert asked.result() == Trouble.TLS


def test_a_port_nobody_listens_on(sender_to: MakeSender) -> None:
    with silent_listener() as place:
        pass
    assert sender_to(f"http://{place}/").send(DELIVERY, NOW) == Trouble.REFUSED


def test_a_name_that_nobody_knows(sender_to: MakeSender, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    # What this machine's resolver would answer, and when, is not for a test to depend on.
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert sender_to("http://no-such-host.invalid/").send(DELIVERY, NOW) == Trouble.NAME_UNKNOWN


def test_a_name_that_can_not_be_one_is_asked_of_no_resolver(sender_to: MakeSender) -> None:
    assert sender_to(f"http://{'a' * 64}.invalid/").send(DELIVERY, NOW) == Trouble.NAME_UNKNOWN


def test_every_address_of_a_name_is_tried(
    receiver: Receiver, sender_to: MakeSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = int(receiver.url.split(":")[2].split("/")[0])
    with silent_listener() as place:
        closed = int(place.split(":")[1])
    kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
    # A name with two addresses, the first of which nobody listens on, is for the resolver to have.
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(*kind, ("127.0.0.1", p)) for p in (closed, port)])
    assert sender_to("http://two.example.com/").send(DELIVERY, NOW) == Answer(204)


def test_proxies_of_the_environment_are_not_asked(
    receiver: Receiver, sender_to: MakeSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert sender_to(receiver.url).send(DELIVERY, NOW) == Answer(204)


def test_a_sender_shows_neither_url_nor_secret(sender_to: MakeSender) -> None:
    sender = sender_to("https://example.com/s3cret-path")
    key = read_secret(SECRET)
    forms = ("s3cret", SECRET, SECRET.removeprefix("whsec_"), str(key), repr(key), key.hex())
    for shown in (repr(sender), str(sender), f"{sender}", str([sender])):
        assert [form for form in forms if form in shown] == []


@pytest.mark.parametrize("url", ["https://example.com/s3cret path", "https://me:s3cret@example.com/", "s3cret:"])
def test_nor_does_the_refusal_of_a_url(sender_to: MakeSender, url: str) -> None:
    with pytest.raises(ValueError, match=r"^must ") as caught:
        sender_to(url)
    assert "s3cret" not in "".join(format_exception(caught.value))


def test_nor_does_the_refusal_of_a_secret(stop: threading.Event) -> None:
    with pytest.raises(ValueError, match=r"^a webhook's secret is ") as caught:
        Sender("https://example.com/", "whsec_s3cret", timeout_seconds=1, stop=stop)
    assert "s3cret" not in str(caught.value)


@pytest.mark.usefixtures("logging_restored")
def test_whatever_a_receiver_answers_puts_no_url_into_the_log(receiver: Receiver, sender_to: MakeSender) -> None:
    receiver.usual = raw(b"HTTP/1.1 200 OK\r\ns3cret without a colon\r\n\r\n")
    stream = StringIO()
    configure_logs(LogSettings(format="json", level="debug"), stream)
    sender_to(receiver.url).send(DELIVERY, NOW)
    assert "library.warned" in stream.getvalue()  # urllib3 names the URL, and its text is left out
    assert "s3cret" not in stream.getvalue()
    assert "127.0.0.1" not in stream.getvalue()


TOO_LARGE = (
    "Mon, 01 Jan 99999999999999999999999 00:00:00 GMT",
    "Mon, 30 Nov 2026 12:00:00 +9999999999999999",
    "Mon, 30 Nov 2026 99999999999999999999:00:00 GMT",
)


@pytest.mark.parametrize("value", [None, "", "soon", "-5", "1.5", "٣", "Mon, 99 Nov 2026 12:00:00 GMT", *TOO_LARGE])
def test_a_wait_that_makes_no_sense_is_none(value: str | None) -> None:
    assert read_retry_after(value, NOW) is None


@pytest.mark.parametrize("value", ["9" * 10, "9" * 60_000, "Mon, 30 Nov 9998 12:00:00 GMT"])
def test_a_wait_of_any_size_is_read(value: str) -> None:
    wait = read_retry_after(value, NOW)
    assert wait is None or wait > timedelta(days=10)


def test_a_date_in_the_past_is_no_wait() -> None:
    assert read_retry_after("Sun, 29 Nov 2026 12:00:00 GMT", NOW) == timedelta()
