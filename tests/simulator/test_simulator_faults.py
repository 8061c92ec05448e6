"""Each fault reaches a client as the field reports it, as often as asked for, and stopping ends all of them."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from googleapiclient.errors import HttpError

from inbox_loop.simulator.faults import WRONG_ID, Fault, Kind
from inbox_loop.simulator.server import Simulator

ME = "ann@example.com"
MAIL = b"Subject: Hello\r\n\r\nHello.\r\n"
Client = Callable[[str], Any]


@contextmanager
def connected(simulator: Simulator, path: str) -> Iterator[tuple[http.client.HTTPConnection, dict[str, str]]]:
    """A bare connection with a token, where the client library would hide what is on the wire."""
    host = simulator.url.removeprefix("http://")
    headers = {"Authorization": f"Bearer {simulator.tokens.issue_access_token(ME)}"}
    with closing(http.client.HTTPConnection(host, timeout=10)) as connection:
        connection.request("GET", path, headers=headers)
        yield connection, headers


def test_a_status_fault_answers_googles_error_then_all_is_well(simulator: Simulator, gmail_client: Client) -> None:
    message_id = simulator.account(ME).deliver(MAIL).message_id
    simulator.faults.add(Fault("messages.get", status=404, reason="notFound", message_id=message_id))
    get = gmail_client(ME).users().messages().get(userId="me", id=message_id)

    with pytest.raises(HttpError) as missing:
        get.execute()

    assert missing.value.status_code == 404
    assert get.execute()["id"] == message_id
    assert simulator.faults.waiting == ()


def test_a_fault_hits_only_the_calls_it_is_for(simulator: Simulator, gmail_client: Client) -> None:
    one, two = (simulator.account(ME).deliver(MAIL).message_id for _ in range(2))
    simulator.faults.add(Fault("messages.get", message_id=two, times=None))
    messages = gmail_client(ME).users().messages()

    assert messages.get(userId="me", id=one).execute()["id"] == one
    for _ in range(2):
        with pytest.raises(HttpError):
            messages.get(userId="me", id=two).execute()
    simulator.faults.clear()
    assert messages.get(userId="me", id=two).execute()["id"] == two


def test_a_fault_can_wait_for_a_later_call(simulator: Simulator, gmail_client: Client) -> None:
    simulator.account(ME)
    simulator.faults.add(Fault("getProfile", skip=2))
    profile = gmail_client(ME).users().getProfile(userId="me")
    profile.execute()
    profile.execute()
    with pytest.raises(HttpError):
        profile.execute()
    profile.execute()


def test_a_fault_names_when_to_try_again(simulator: Simulator, gmail_client: Client) -> None:
    simulator.account(ME)
    simulator.faults.add(Fault("*", status=429, reason="rateLimitExceeded", retry_after=7))
    with pytest.raises(HttpError) as throttled:
        gmail_client(ME).users().getProfile(userId="me").execute()
    assert throttled.value.resp["retry-after"] == "7"


@pytest.mark.parametrize("kind", ["drop", "reset"])
def test_a_connection_can_end_without_an_answer(simulator: Simulator, kind: Kind) -> None:
    simulator.account(ME)
    simulator.faults.add(Fault("getProfile", kind=kind))
    with connected(simulator, "/gmail/v1/users/me/profile") as (connection, _), pytest.raises(ConnectionError):
        connection.getresponse()
    assert simulator.calls[-1].status == 0


def test_an_answer_can_be_cut_short(simulator: Simulator) -> None:
    simulator.account(ME)
    simulator.faults.add(Fault("getProfile", kind="truncated"))
    with (
        connected(simulator, "/gmail/v1/users/me/profile") as (connection, _),
        pytest.raises(http.client.IncompleteRead),
    ):
        connection.getresponse().read()


def test_an_answer_can_be_gzip_that_ends_too_early(simulator: Simulator) -> None:
    simulator.account(ME)
    simulator.faults.add(Fault("getProfile", kind="truncated_gzip"))
    with connected(simulator, "/gmail/v1/users/me/profile") as (connection, _):
        answer = connection.getresponse()
        body = answer.read()
    assert answer.headers["Content-Encoding"] == "gzip"
    unpacker = zlib.decompressobj(wbits=31)
    unpacker.decompress(body)
    assert not unpacker.eof


@pytest.mark.parametrize("kind", ["garbage", "html"])
def test_a_200_can_hold_no_json(simulator: Simulator, kind: Kind) -> None:
    simulator.account(ME)
    simulator.faults.add(Fault("getProfile", kind=kind))
    with connected(simulator, "/gmail/v1/users/me/profile") as (connection, headers):
        answer = connection.getresponse()
        assert answer.status == 200
        with pytest.raises((json.JSONDecodeError, UnicodeDecodeError)):
            json.loads(answer.read())
        connection.request("GET", "/gmail/v1/users/me/profile", headers=headers)
        assert json.loads(connection.getresponse().read())["emailAddress"] == ME


def test_a_message_can_come_back_under_another_id(simulator: Simulator, gmail_client: Client) -> None:
    message_id = simulator.account(ME).deliver(MAIL).message_id
    simulator.faults.add(Fault("messages.get", kind="wrong_id"))
    assert gmail_client(ME).users().messages().get(userId="me", id=message_id).execute()["id"] == WRONG_ID


def test_an_answer_can_come_late(simulator: Simulator, gmail_client: Client) -> None:
    simulator.account(ME)
    profile = gmail_client(ME).users().getProfile(userId="me")
    profile.execute()
    simulator.faults.add(Fault("getProfile", kind="delay", seconds=0.3))
    began = time.monotonic()
    assert profile.execute()["emailAddress"] == ME
    assert time.monotonic() - began >= 0.3


def test_an_answer_can_drip_byte_by_byte(simulator: Simulator) -> None:
    simulator.account(ME)
    simulator.faults.add(Fault("getProfile", kind="drip", seconds=0.001))
    with connected(simulator, "/gmail/v1/users/me/profile") as (connection, _):
        assert json.loads(connection.getresponse().read())["emailAddress"] == ME


def test_faults_of_the_api_do_not_touch_the_token_endpoint(simulator: Simulator, gmail_client: Client) -> None:
    simulator.account(ME)
    simulator.faults.add(Fault("*", times=None))
    with pytest.raises(HttpError):
        gmail_client(ME).users().getProfile(userId="me").execute()
    assert [(call.method, call.status) for call in simulator.calls] == [("token", 200), ("getProfile", 503)]


@pytest.mark.parametrize("kind", ["hang", "drip", "delay"])
def test_stopping_ends_calls_that_never_end_and_leaves_no_thread(kind: Kind) -> None:
    before = set(threading.enumerate())
    with Simulator() as simulator:
        simulator.account(ME)
        simulator.faults.add(Fault("getProfile", kind=kind, seconds=30, times=None))
        waiting = [connected(simulator, "/gmail/v1/users/me/profile") for _ in range(3)]
        for connection in waiting:
            connection.__enter__()
        idle = socket.create_connection(("127.0.0.1", int(simulator.url.rpartition(":")[2])))
        began = time.monotonic()
    assert time.monotonic() - began < 5
    assert set(threading.enumerate()) <= before
    idle.close()
    for connection in waiting:
        connection.__exit__(None, None, None)


def test_a_client_that_gives_up_frees_a_hanging_call(simulator: Simulator) -> None:
    simulator.account(ME)
    simulator.faults.add(Fault("getProfile", kind="hang"))
    with connected(simulator, "/gmail/v1/users/me/profile") as (connection, _):
        assert connection.sock is not None
        connection.sock.settimeout(0.1)
        with pytest.raises(TimeoutError):
            connection.getresponse()


def test_a_request_that_is_no_http_is_answered_and_dropped(simulator: Simulator) -> None:
    with socket.create_connection(("127.0.0.1", int(simulator.url.rpartition(":")[2])), timeout=10) as connection:
        connection.sendall(b"\xff\xfe\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 400 ")
