"""Large messages and large texts: what is downloaded of them, and what it costs to know."""

from __future__ import annotations

from collections.abc import Callable
from email.message import EmailMessage
from urllib.parse import parse_qs

import pytest
from support.fetching import deliver, mail, methods, read, texts

from inbox_loop.errors import (
    GmailRefused,
    GmailThrottled,
    GmailUnreachable,
    InboxLoopError,
)
from inbox_loop.gmail.large import MAX_PAGES
from inbox_loop.gmail.mailbox import GoogleMailbox
from inbox_loop.loop.ports import MessageId
from inbox_loop.message.model import Message
from inbox_loop.simulator.faults import Fault
from inbox_loop.simulator.server import Simulator
from inbox_loop.simulator.store import Account


def test_large_text_is_fetched_and_attachments_are_not(
    account: Account, simulator: Simulator, mailbox: GoogleMailbox
) -> None:
    message = EmailMessage()
    message["From"], message["Subject"] = "ada@example.com", "Large"
    message.set_content("the beginning\n" + "all work and no play\n" * 20_000 + "the end\n")
    message.add_attachment(b"%PDF" * 100_000, maintype="application", subtype="pdf", filename="big.pdf")
    delivered = account.deliver(message.as_bytes())

    answer = read(mailbox, [MessageId(delivered.message_id, delivered.thread_id)])[delivered.message_id]

    assert isinstance(answer, Message)
    assert "the beginning" in answer.text
    assert "the end" in answer.text
    assert [(each.name, each.size) for each in answer.attachments] == [("big.pdf", 400_000)]
    assert methods(simulator) == {"messages.get": 1, "messages.attachments.get": 1}


def test_a_message_whose_text_can_not_be_fetched_is_not_gone(
    account: Account, simulator: Simulator, mailbox: GoogleMailbox
) -> None:
    delivered = account.deliver(mail("all work and no play\n" * 20_000))
    simulator.faults.add(Fault("messages.attachments.get", status=404, reason="notFound"))

    answer = read(mailbox, [MessageId(delivered.message_id, delivered.thread_id)])[delivered.message_id]

    assert type(answer) is GmailUnreachable


def test_a_message_too_large_to_take_in_is_read_by_its_headers(
    account: Account, simulator: Simulator, mailbox: GoogleMailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inbox_loop.gmail.http.MAX_ANSWER_BYTES", 20_000)
    delivered = account.deliver(mail("all work and no play\n" * 4000, subject="Huge"))

    answer = read(mailbox, [MessageId(delivered.message_id, delivered.thread_id)])[delivered.message_id]

    assert isinstance(answer, Message)
    assert answer.header("Subject") == "Huge"
    assert answer.text == "[This message, 84 kB, is too large to be read here. All of it is in Gmail.]"
    assert [call.query for call in simulator.calls if "format=metadata" in call.query]


def test_a_thread_too_large_to_take_in_is_read_message_by_message(
    account: Account, simulator: Simulator, mailbox: GoogleMailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inbox_loop.gmail.http.MAX_ANSWER_BYTES", 6_000)
    thread = deliver(account, 1)[0].thread_id
    wanted = deliver(account, 12, thread_id=thread)

    assert texts(read(mailbox, wanted)) == {each.message_id: f"number {n}" for n, each in enumerate(wanted)}
    assert methods(simulator) == {"threads.get": 1, "messages.get": 12}


LIMIT = 1024 * 1024
"""The lowest that the setting takes."""


def huge_mail(subject: str = "Huge", size: int = LIMIT + 1) -> bytes:
    """A mail of exactly so many bytes."""
    head = mail("look at the photos\n", subject=subject)
    return head + b"x" * (size - len(head))


@pytest.fixture
def limited(open_mailbox: Callable[..., GoogleMailbox]) -> GoogleMailbox:
    """The mailbox with the lowest limit."""
    return open_mailbox(max_message_bytes=LIMIT)


def deliver_huge(account: Account, **how: object) -> MessageId:
    delivered = account.deliver(huge_mail(), **how)  # type: ignore[arg-type]  # passed on as they came
    return MessageId(delivered.message_id, delivered.thread_id)


def format_of_reads(simulator: Simulator, message_id: str) -> list[str]:
    """The formats in which a message was asked for by itself, in order."""
    asked = [call for call in simulator.calls if call.method == "messages.get" and call.entity_id == message_id]
    return [parse_qs(call.query)["format"][0] for call in asked]


def assert_headers_only(answer: Message | InboxLoopError) -> None:
    assert isinstance(answer, Message)
    assert (answer.header("Subject"), answer.headers_only, answer.size) == ("Huge", True, LIMIT + 1)
    assert "photos" not in answer.text


def test_the_content_of_a_message_over_the_limit_is_never_asked_for(
    account: Account, simulator: Simulator, limited: GoogleMailbox
) -> None:
    huge, spam = deliver_huge(account), deliver_huge(account, labels=("SPAM",))
    others = deliver(account, 2)

    answers = read(limited, [huge, spam, *others])

    for each in (huge, spam):
        assert_headers_only(answers[each.message_id])
        assert format_of_reads(simulator, each.message_id) == ["metadata"]
    assert [texts(answers)[each.message_id] for each in others] == ["number 0", "number 1"]
    assert limited.usage().quota_units == 5 + 4 * 20


def test_of_many_large_messages_some_are_known_beforehand_and_the_rest_by_their_size(
    account: Account, simulator: Simulator, limited: GoogleMailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inbox_loop.gmail.large.PAGE_SIZE", 1)
    oldest, *others = (deliver_huge(account) for _ in range(4))

    answers = read(limited, [oldest, *others])

    for answer in answers.values():
        assert_headers_only(answer)
    assert len(searches(simulator)) == MAX_PAGES == 2
    assert [format_of_reads(simulator, each.message_id)[0] for each in (oldest, *others)] == [
        "full",
        "full",
        "metadata",
        "metadata",
    ]


def test_a_message_exactly_at_the_limit_is_read(account: Account, limited: GoogleMailbox) -> None:
    delivered = account.deliver(huge_mail(size=LIMIT))

    answer = read(limited, [MessageId(delivered.message_id, delivered.thread_id)])[delivered.message_id]

    assert isinstance(answer, Message)
    assert not answer.headers_only
    assert "photos" in answer.text


def test_what_is_too_large_is_asked_once_a_pass_and_not_when_nothing_is_fetched(
    account: Account, simulator: Simulator, mailbox: GoogleMailbox
) -> None:
    wanted = deliver(account, 4)

    with mailbox.within(30):
        read(mailbox, [])
        assert searches(simulator) == []
        read(mailbox, wanted[:2])
        read(mailbox, wanted[2:])
        assert len(searches(simulator)) == 1
    with mailbox.within(30):
        read(mailbox, wanted[:1])
    assert searches(simulator) == [f"larger:{25 * 1024 * 1024}"] * 2


def searches(simulator: Simulator) -> list[str]:
    return [parse_qs(call.query)["q"][0] for call in simulator.calls if call.method == "messages.list"]


@pytest.mark.parametrize("in_one_thread", [True, False])
def test_a_message_that_the_search_does_not_know_yet_loses_its_content_when_its_size_is_seen(
    account: Account, simulator: Simulator, limited: GoogleMailbox, *, in_one_thread: bool
) -> None:
    wanted = deliver(account, 2)
    with limited.within(30):
        read(limited, wanted[:1])
        huge = deliver_huge(account, thread_id=wanted[0].thread_id if in_one_thread else None)
        more = deliver(account, 2, thread_id=huge.thread_id)
        answers = read(limited, [huge, *more])

    assert_headers_only(answers[huge.message_id])
    assert methods(simulator) == {"messages.get": 1, "threads.get": 1}


def test_a_thread_with_a_large_message_is_read_message_by_message(
    account: Account, simulator: Simulator, limited: GoogleMailbox
) -> None:
    huge = deliver_huge(account)
    wanted = deliver(account, 3, thread_id=huge.thread_id)

    assert sorted(texts(read(limited, wanted)).values()) == ["number 0", "number 1", "number 2"]
    assert methods(simulator) == {"messages.get": 3}


def test_a_server_that_finds_everything_too_large_makes_reading_dearer_and_nothing_else(
    account: Account, simulator: Simulator, mailbox: GoogleMailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inbox_loop.simulator.search.Query.matches", lambda _query, _message: True)
    wanted = deliver(account, 1)

    assert texts(read(mailbox, wanted)) == {wanted[0].message_id: "number 0"}
    assert format_of_reads(simulator, wanted[0].message_id) == ["metadata", "full"]


def test_where_the_search_fails_the_messages_are_read_all_the_same(
    account: Account, simulator: Simulator, open_mailbox: Callable[..., GoogleMailbox]
) -> None:
    huge, others = deliver_huge(account), deliver(account, 2)
    simulator.faults.add(Fault("messages.list", status=500, times=None))
    mailbox = open_mailbox(max_message_bytes=LIMIT, backoff_base=0.001)

    answers = read(mailbox, [huge, *others])

    assert_headers_only(answers[huge.message_id])
    assert [texts(answers)[each.message_id] for each in others] == ["number 0", "number 1"]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault("messages.list", status=403, reason="insufficientPermissions", times=None), GmailRefused),
        (Fault("messages.list", status=429, times=None), GmailThrottled),
    ],
    ids=["refused", "throttled"],
)
def test_trouble_of_the_whole_mailbox_ends_the_search_and_the_pass(
    account: Account,
    simulator: Simulator,
    open_mailbox: Callable[..., GoogleMailbox],
    fault: Fault,
    expected: type[InboxLoopError],
) -> None:
    wanted = deliver(account, 1)
    simulator.faults.add(fault)

    with pytest.raises(expected):
        read(open_mailbox(backoff_base=0.001), wanted)
    assert methods(simulator) == {}
