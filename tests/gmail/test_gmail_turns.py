"""Whose turn it is to be read, and when failures are the mailbox's."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from inbox_loop.errors import GmailUnreachable, MessageGone
from inbox_loop.gmail.patience import StillWaiting
from inbox_loop.gmail.plan import ReadMessage
from inbox_loop.gmail.turns import FAILURES_IN_A_ROW, Turns
from inbox_loop.loop.ports import Fetched, MessageId
from inbox_loop.message.mime import Part
from inbox_loop.message.read import read_message

HUNG = Fetched("aa", StillWaiting())
FAILED = Fetched("bb", GmailUnreachable("HTTP status 503"))
GONE = Fetched("cc", MessageGone("404"))
READ = Fetched(
    "dd",
    read_message(
        message_id="dd",
        thread_id="dd",
        labels=frozenset(),
        internal_date=datetime(2026, 11, 30, tzinfo=UTC),
        size=0,
        root=Part(mime_type="text/plain", filename="", headers=(), data=b"", size=0, parts=()),
    ),
)


def message(n: int) -> MessageId:
    return MessageId(f"{n:x}", f"{n:x}")


def turns_of(count: int) -> Turns:
    return Turns([ReadMessage(message(n)) for n in range(count)])


def numbers(turns: Turns, count: int) -> list[int]:
    return [int(each.wanted.message_id, 16) for each in turns.take(count) if isinstance(each, ReadMessage)]


def test_reads_come_in_their_order_and_no_more_than_there_are() -> None:
    turns = turns_of(5)

    assert numbers(turns, 3) == [0, 1, 2]
    assert numbers(turns, 3) == [3, 4]
    assert numbers(turns, 3) == []


@pytest.mark.parametrize("failure", [HUNG, FAILED])
def test_after_a_failure_the_far_end_is_tried_until_something_is_answered(failure: Fetched) -> None:
    turns = turns_of(9)
    turns.note(failure)
    assert numbers(turns, 2) == [8, 7]

    turns.note(READ)
    assert numbers(turns, 2) == [0, 1]


def test_what_a_thread_left_over_comes_next_and_in_order() -> None:
    turns = turns_of(2)
    turns.put_first([message(7), message(8)])

    assert numbers(turns, 9) == [7, 8, 0, 1]


@pytest.mark.parametrize("failure", [HUNG, FAILED])
def test_failures_in_a_row_from_the_start_are_the_mailboxs(failure: Fetched) -> None:
    turns = turns_of(9)
    for _ in range(FAILURES_IN_A_ROW - 1):
        turns.note(failure)

    with pytest.raises(GmailUnreachable) as caught:
        turns.note(failure)
    assert caught.value is failure.result


@pytest.mark.parametrize("answer", [READ, GONE])
def test_once_gmail_answered_for_a_message_those_that_hang_are_their_own_trouble(answer: Fetched) -> None:
    turns = turns_of(9)
    turns.note(answer)
    for _ in range(2 * FAILURES_IN_A_ROW):
        turns.note(HUNG)

    assert numbers(turns, 1) == [0]


def test_other_failures_in_a_row_are_the_mailboxs_after_an_answer_as_well_and_an_answer_between_ends_the_row() -> None:
    turns = turns_of(9)
    for _ in range(3):
        for _ in range(FAILURES_IN_A_ROW - 1):
            turns.note(FAILED)
        turns.note(GONE)
    for _ in range(FAILURES_IN_A_ROW - 1):
        turns.note(FAILED)

    with pytest.raises(GmailUnreachable):
        turns.note(FAILED)
