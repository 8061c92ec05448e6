"""Reading messages: by the cheapest calls, several at once, never the wrong one."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from fixtures.gmail import ADDRESS
from support.fetching import deliver, methods, read, texts

from inbox_loop.errors import (
    DeadlineExceeded,
    GmailRefused,
    GmailThrottled,
    GmailUnreachable,
    InboxLoopError,
    MessageGone,
    NeedsAuth,
    Stopped,
    UnreadableMessage,
)
from inbox_loop.gmail.mailbox import GoogleMailbox
from inbox_loop.gmail.turns import FAILURES_IN_A_ROW
from inbox_loop.gmail.wire import Download, read_download
from inbox_loop.loop.ports import Fetched, MessageId
from inbox_loop.message.model import Message
from inbox_loop.simulator.faults import Fault, Kind
from inbox_loop.simulator.server import Simulator
from inbox_loop.simulator.store import Account


def test_eight_threads_at_once_read_the_right_messages(
    account: Account, open_mailbox: Callable[..., GoogleMailbox]
) -> None:
    wanted = deliver(account, 20)
    expected = {each.message_id: f"number {n}" for n, each in enumerate(wanted)}
    mailbox = open_mailbox(max_in_flight=8)

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: texts(read(mailbox, wanted)), range(8)))

    assert answers == [expected] * 8


def test_no_more_calls_are_in_flight_than_allowed(
    account: Account, simulator: Simulator, open_mailbox: Callable[..., GoogleMailbox]
) -> None:
    wanted = deliver(account, 12)
    simulator.faults.add(Fault("messages.get", kind="delay", seconds=0.05, times=None))

    read(open_mailbox(max_in_flight=3), wanted)

    spans = [(call.at, call.at + 0.05) for call in simulator.calls if call.method == "messages.get"]
    assert 1 < max(sum(start <= at < end for start, end in spans) for at, _ in spans) <= 3


def test_a_thread_is_read_by_one_call_from_its_third_wanted_message_on(
    account: Account, simulator: Simulator, mailbox: GoogleMailbox
) -> None:
    thread = deliver(account, 1)[0].thread_id
    wanted = deliver(account, 3, thread_id=thread)
    others = deliver(account, 2)

    answers = read(mailbox, wanted + others)

    assert list(texts(answers).values()).count("number 2") == 1
    assert answers.keys() == {each.message_id for each in wanted + others}
    assert methods(simulator) == {"threads.get": 1, "messages.get": 2}
    assert mailbox.usage().quota_units == 5 + 80


def test_a_thread_of_120_messages_is_read_whole(account: Account, simulator: Simulator, mailbox: GoogleMailbox) -> None:
    thread = deliver(account, 1)[0].thread_id
    wanted = deliver(account, 120, thread_id=thread)

    assert texts(read(mailbox, wanted)) == {each.message_id: f"number {n}" for n, each in enumerate(wanted)}
    assert methods(simulator) == {"threads.get": 1}


def test_messages_that_left_their_thread_are_read_one_by_one(
    account: Account, simulator: Simulator, mailbox: GoogleMailbox
) -> None:
    old = deliver(account, 1)[0].thread_id
    wanted = deliver(account, 3, thread_id=old)
    new = deliver(account, 1)[0].thread_id
    account.rethread(wanted[0].message_id, new)

    answers = read(mailbox, wanted)

    moved = answers[wanted[0].message_id]
    assert isinstance(moved, Message)
    assert moved.thread_id == new
    assert methods(simulator) == {"threads.get": 1, "messages.get": 1}


def test_a_thread_that_is_gone_does_not_take_its_messages_with_it(
    account: Account, simulator: Simulator, mailbox: GoogleMailbox
) -> None:
    wanted = [MessageId(each.message_id, "dead") for each in deliver(account, 3)]

    assert sorted(texts(read(mailbox, wanted)).values()) == ["number 0", "number 1", "number 2"]
    assert methods(simulator) == {"threads.get": 1, "messages.get": 3}


def test_a_thread_whose_messages_take_long_is_read_on_one_by_one_and_each_is_answered_when_it_is_done(
    account: Account,
    simulator: Simulator,
    open_mailbox: Callable[..., GoogleMailbox],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read_slowly(download: Download, _check: Callable[[], None]) -> Message:
        time.sleep(0.4)
        return read_download(download)

    monkeypatch.setattr("inbox_loop.gmail.patience.SHARE", 0.01)
    monkeypatch.setattr("inbox_loop.gmail.patience.SHORTEST_SECONDS", 1.0)
    wanted = deliver(account, 8, thread_id=deliver(account, 1)[0].thread_id)
    mailbox = open_mailbox(read_download=read_slowly)

    with mailbox.within(20):
        answers = read(mailbox, wanted)

    assert sorted(texts(answers).values()) == [f"number {n}" for n in range(8)]
    assert methods(simulator)["threads.get"] == 1
    assert 5 <= methods(simulator)["messages.get"] <= 8


def test_an_id_wanted_twice_is_answered_once(account: Account, mailbox: GoogleMailbox) -> None:
    wanted = deliver(account, 1)

    assert len(read(mailbox, wanted * 3)) == 1


def test_nothing_wanted_asks_nothing(simulator: Simulator, mailbox: GoogleMailbox) -> None:
    assert read(mailbox, []) == {}
    assert simulator.calls == []


# --- trouble with one message ----------------------------------------------------------------------------------------


def test_a_deleted_message_is_gone_and_the_others_are_read(account: Account, mailbox: GoogleMailbox) -> None:
    wanted = deliver(account, 3)
    account.delete(wanted[1].message_id)

    answers = read(mailbox, wanted)

    assert isinstance(answers[wanted[1].message_id], MessageGone)
    assert sorted(texts(answers).values()) == ["message.gone", "number 0", "number 2"]


def test_a_message_not_visible_yet_is_gone_now_and_there_later(
    account: Account, simulator: Simulator, mailbox: GoogleMailbox
) -> None:
    wanted = deliver(account, 1)
    simulator.faults.add(Fault("messages.get", status=404, reason="notFound"))

    assert texts(read(mailbox, wanted)) == {wanted[0].message_id: "message.gone"}
    assert texts(read(mailbox, wanted)) == {wanted[0].message_id: "number 0"}


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault("messages.get", status=500, times=None), GmailUnreachable),
        (Fault("messages.get", kind="html", times=None), GmailUnreachable),
        (Fault("messages.get", kind="wrong_id", times=None), GmailUnreachable),
        (Fault("messages.get", kind="reset", times=None), GmailUnreachable),
        (Fault("messages.get", kind="hang", times=None), GmailUnreachable),
        (Fault("messages.get", status=400, reason="invalidArgument", times=None), UnreadableMessage),
    ],
    ids=lambda value: f"{value.kind}-{value.status}" if isinstance(value, Fault) else None,
)
def test_lasting_trouble_with_one_message_is_its_value_and_does_not_hold_up_the_rest(
    account: Account,
    simulator: Simulator,
    open_mailbox: Callable[..., GoogleMailbox],
    fault: Fault,
    expected: type[InboxLoopError],
) -> None:
    wanted = deliver(account, 4)
    poison = wanted[2].message_id
    simulator.faults.add(replace(fault, message_id=poison))

    answers = read(open_mailbox(backoff_base=0.001, timeout_seconds=0.15), wanted)

    assert type(answers.pop(poison)) is expected
    assert sorted(texts(answers).values()) == ["number 0", "number 1", "number 3"]


@pytest.mark.parametrize("kind", ["wrong_id", "html", "garbage", "truncated", "truncated_gzip", "drop", "reset"])
@pytest.mark.parametrize("method", ["messages.get", "threads.get"])
def test_a_spoilt_answer_is_thrown_away_and_asked_for_again(
    account: Account, simulator: Simulator, mailbox: GoogleMailbox, kind: Kind, method: str
) -> None:
    thread = deliver(account, 1)[0].thread_id
    wanted = deliver(account, 3, thread_id=thread if method == "threads.get" else None)
    simulator.faults.add(Fault(method, kind=kind))

    answers = read(mailbox, wanted)

    assert texts(answers) == {each.message_id: f"number {n}" for n, each in enumerate(wanted)}
    assert methods(simulator).keys() == {method}
    assert simulator.faults.waiting == ()


# --- trouble with the mailbox ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault("messages.get", status=403, reason="insufficientPermissions", times=None), GmailRefused),
        (Fault("messages.get", status=401, reason="authError", times=None), NeedsAuth),
        (Fault("messages.get", status=429, times=None), GmailThrottled),
        (Fault("messages.get", status=503, times=None), GmailUnreachable),
    ],
    ids=lambda value: f"{value.status}-{value.reason}" if isinstance(value, Fault) else None,
)
def test_trouble_with_every_message_is_the_mailboxs_and_ends_the_pass(
    account: Account,
    simulator: Simulator,
    open_mailbox: Callable[..., GoogleMailbox],
    fault: Fault,
    expected: type[InboxLoopError],
) -> None:
    wanted = deliver(account, 40)
    simulator.faults.add(fault)
    mailbox = open_mailbox(backoff_base=0.001)

    answered: list[Fetched] = []
    with pytest.raises(expected) as caught:
        answered.extend(mailbox.fetch_messages(wanted))

    assert isinstance(caught.value, expected)
    assert methods(simulator)["messages.get"] <= (FAILURES_IN_A_ROW + 4) * 8
    assert threads_of_gmail() == []


def test_nobody_there_is_not_blamed_on_a_message(account: Account, open_mailbox: Callable[..., GoogleMailbox]) -> None:
    wanted = deliver(account, 2)
    mailbox = open_mailbox(api_endpoint="http://127.0.0.1:1", backoff_base=0.001)

    with pytest.raises(GmailUnreachable, match="refused"):
        read(mailbox, wanted)


def test_what_was_read_before_the_trouble_is_yielded(
    account: Account, simulator: Simulator, open_mailbox: Callable[..., GoogleMailbox]
) -> None:
    wanted = deliver(account, 10)
    simulator.faults.add(Fault("messages.get", status=403, reason="domainPolicy", skip=6, times=None))

    got: list[str] = []
    with pytest.raises(GmailRefused):
        got.extend(fetched.message_id for fetched in open_mailbox(max_in_flight=1).fetch_messages(wanted))

    assert got == [each.message_id for each in wanted[:6]]


@pytest.mark.parametrize("kind", ["hang", "drip"])
def test_reading_ends_at_the_deadline_however_the_server_behaves(
    account: Account, simulator: Simulator, mailbox: GoogleMailbox, kind: Kind
) -> None:
    wanted = deliver(account, 10)
    simulator.faults.add(Fault("messages.get", kind=kind, seconds=0.02, times=None))

    with mailbox.within(0.3), pytest.raises(DeadlineExceeded):
        read(mailbox, wanted)
    assert threads_of_gmail() == []


def test_a_stop_ends_reading_and_its_threads(
    account: Account, simulator: Simulator, mailbox: GoogleMailbox, stop: threading.Event
) -> None:
    wanted = deliver(account, 10)
    simulator.faults.add(Fault("messages.get", kind="hang", times=None))
    threading.Timer(0.1, stop.set).start()

    with pytest.raises(Stopped):
        read(mailbox, wanted)
    assert threads_of_gmail() == []


def test_a_reader_that_turns_away_leaves_no_thread_and_no_call(
    account: Account, simulator: Simulator, mailbox: GoogleMailbox
) -> None:
    wanted = deliver(account, 50)
    fetched: Iterator[Fetched] = mailbox.fetch_messages(wanted)
    next(fetched)
    asked = methods(simulator)["messages.get"]
    del fetched

    assert asked <= 10
    assert threads_of_gmail() == []


def test_one_refresh_serves_all_threads(account: Account, simulator: Simulator, mailbox: GoogleMailbox) -> None:
    wanted = deliver(account, 20)
    mailbox.find_profile()
    simulator.tokens.expire_access(ADDRESS)
    simulator.calls.clear()

    assert len(read(mailbox, wanted)) == 20
    assert sum(call.method == "token" for call in simulator.calls) == 1


def threads_of_gmail() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("gmail_")]
