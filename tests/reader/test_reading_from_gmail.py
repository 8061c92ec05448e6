"""Gmail's messages, read in processes of their own: one that costs too much does not hold up the others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from support.desk import plain_mail
from support.processes import reading_processes

from inbox_loop.errors import DeadlineExceeded, ReaderUnavailable, Stopped, UnreadableMessage
from inbox_loop.gmail.mailbox import GoogleMailbox
from inbox_loop.loop.ports import MessageId
from inbox_loop.message.model import Message
from inbox_loop.reader.limits import ReadingLimits
from inbox_loop.reader.pool import ReadingPool
from inbox_loop.simulator.store import Account

MEMORY_BYTES = 1024**3


def slow_mail(parts: int = 600) -> bytes:
    """12 MB of HTML in many parts: seconds of work."""
    part = b"--b\r\nContent-Type: text/html\r\n\r\n" + b"<p>all <b>work</b> and no play</p>\r\n" * 600
    head = b"From: ann@example.org\r\nSubject: slow\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
    return head + part * parts + b"--b--\r\n"


@pytest.fixture
def open_limited(open_mailbox: Callable[..., GoogleMailbox]) -> Iterator[Callable[[float], GoogleMailbox]]:
    """Opens the mailbox with so many seconds of the processor for each message."""
    pools: list[ReadingPool] = []

    def open_one(cpu_seconds: float) -> GoogleMailbox:
        pools.append(ReadingPool(ReadingLimits(cpu_seconds, MEMORY_BYTES)))
        return open_mailbox(read_download=pools[-1].read)

    yield open_one
    for pool in pools:
        pool.close()
    assert reading_processes() == set()


def deliver(account: Account, *mails: bytes) -> list[MessageId]:
    delivered = [account.deliver(each) for each in mails]
    return [MessageId(each.message_id, each.thread_id) for each in delivered]


def test_a_message_over_its_time_is_unreadable_and_the_others_are_read(
    account: Account, open_limited: Callable[[float], GoogleMailbox]
) -> None:
    wanted = deliver(account, plain_mail("one"), slow_mail(), *(plain_mail(f"more {n}") for n in range(6)))

    answers = {each.message_id: each.result for each in open_limited(0.5).fetch_messages(wanted)}

    slow = answers.pop(wanted[1].message_id)
    assert isinstance(slow, UnreadableMessage)
    assert slow.reason == "took_too_long"
    subjects = [each.header("Subject") for each in answers.values() if isinstance(each, Message)]
    assert sorted(subjects) == ["more 0", "more 1", "more 2", "more 3", "more 4", "more 5", "one"]


def test_the_end_of_the_pass_ends_the_reading_of_a_message(
    account: Account, open_limited: Callable[[float], GoogleMailbox]
) -> None:
    wanted = deliver(account, slow_mail())
    mailbox = open_limited(30)

    with mailbox.within(2), pytest.raises(DeadlineExceeded):
        list(mailbox.fetch_messages(wanted))
    assert reading_processes() == set()


def test_a_stop_ends_the_reading_of_a_message(
    account: Account, open_limited: Callable[[float], GoogleMailbox], stop: threading.Event
) -> None:
    wanted = deliver(account, slow_mail())
    timer = threading.Timer(1.5, stop.set)
    timer.start()

    with pytest.raises(Stopped):
        list(open_limited(30).fetch_messages(wanted))
    assert reading_processes() == set()
    timer.join()


def test_where_no_process_can_be_started_the_pass_ends_and_no_message_is_blamed(
    account: Account, open_limited: Callable[[float], GoogleMailbox], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = deliver(account, plain_mail("one"))
    monkeypatch.setattr("sys.executable", "/bin/false")

    with pytest.raises(ReaderUnavailable):
        list(open_limited(5).fetch_messages(wanted))
