"""Google's dicts as values: absent keys, odd types, hostile trees."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbox_loop.errors import GmailUnreachable, UnreadableMessage
from inbox_loop.gmail.wire import (
    MAX_TEXT_BYTES,
    MAX_TEXT_READS,
    LargeText,
    WholeMessage,
    decode_base64url,
    drop_content,
    list_large_texts,
    read_download,
    read_history_page,
    read_internal_date,
    read_listing_page,
    read_profile,
)
from inbox_loop.loop.ports import HistoryPage, ListingPage, MessageId, Profile
from inbox_loop.message.model import Message

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def change(message_id: str, *labels: str, thread_id: str = "7") -> dict[str, Any]:
    return {"message": {"id": message_id, "threadId": thread_id}, "labelIds": list(labels)}


def text_message(**changed: object) -> dict[str, Any]:
    payload = {
        "mimeType": "text/plain",
        "headers": [{"name": "Subject", "value": "Hello"}],
        "body": {"size": 2, "data": "aGk"},
    }
    return {"id": "1a", "threadId": "1b", "labelIds": ["INBOX"], "payload": payload, **changed}


# --- pages ---------------------------------------------------------------------------------------------------------


def test_history_takes_new_messages_and_those_that_came_back_into_sight() -> None:
    page = read_history_page(
        {
            "historyId": "99",
            "nextPageToken": "more",
            "history": [
                {"id": "5", "messages": [{"id": "ff", "threadId": "ff"}], "messagesAdded": [change("1"), change("2")]},
                {"id": "6", "messagesAdded": [change("1")], "labelsAdded": [change("3", "INBOX", "UNREAD")]},
                {"id": "7", "labelsAdded": [change("4", "STARRED"), change("3", "INBOX")]},
                {"id": "8", "labelsRemoved": [change("5", "SPAM"), change("6", "TRASH"), change("7", "DRAFT")]},
                {"id": "9", "labelsRemoved": [change("8", "UNREAD"), change("9", "INBOX")], "messagesDeleted": []},
            ],
        }
    )

    assert page == HistoryPage(
        added=(MessageId("1", "7"), MessageId("2", "7")),
        arrived=(MessageId("3", "7"), MessageId("5", "7"), MessageId("6", "7"), MessageId("7", "7")),
        history_id=99,
        next_page="more",
    )


@pytest.mark.parametrize(
    ("record", "label", "arrives"),
    [
        ("labelsRemoved", "CATEGORY_PROMOTIONS", True),
        ("labelsRemoved", "CATEGORY_SOCIAL", True),
        ("labelsRemoved", "CATEGORY_FORUMS", True),
        ("labelsAdded", "CATEGORY_PERSONAL", True),
        ("labelsAdded", "CATEGORY_PROMOTIONS", False),
        ("labelsRemoved", "CATEGORY_PERSONAL", False),
        ("labelsRemoved", "CATEGORY_UPDATES", False),
    ],
)
def test_a_message_moved_to_primary_arrives_there(record: str, label: str, *, arrives: bool) -> None:
    page = read_history_page({"historyId": "9", "history": [{record: [change("1", label)]}]})

    assert page.arrived == ((MessageId("1", "7"),) if arrives else ())


def test_a_message_both_new_and_taken_out_of_spam_stays_both() -> None:
    history = [{"messagesAdded": [change("1")], "labelsRemoved": [change("1", "SPAM")]}]

    page = read_history_page({"historyId": "9", "history": history})

    assert page.added == page.arrived == (MessageId("1", "7"),)


def test_a_middle_page_may_hold_nothing_but_a_token() -> None:
    assert read_history_page({"historyId": "9", "nextPageToken": "t"}) == HistoryPage((), (), 9, "t")


@pytest.mark.parametrize("answer", [{}, {"historyId": 7}, {"historyId": "-1"}, {"historyId": "x"}, {"historyId": ""}])
def test_a_history_page_without_a_position_is_not_taken_for_the_end(answer: dict[str, Any]) -> None:
    with pytest.raises(GmailUnreachable):
        read_history_page(answer)


def test_a_position_may_have_more_digits_than_googles() -> None:
    assert read_profile({"emailAddress": "a@example.com", "historyId": "9" * 21}) == Profile(
        "a@example.com", 10**21 - 1
    )


def test_a_listing_names_each_message_once_and_may_be_empty() -> None:
    message = {"id": "1", "threadId": "7"}

    assert read_listing_page({"messages": [message, message]}) == ListingPage((MessageId("1", "7"),), None)
    assert read_listing_page({"resultSizeEstimate": 0}) == ListingPage((), None)


@settings(max_examples=50, deadline=None)
@given(answer=st.dictionaries(st.sampled_from(["messages", "history", "nextPageToken", "historyId"]), JSON_VALUES))
def test_a_page_of_any_shape_is_read_or_refused(answer: dict[str, Any]) -> None:
    assert isinstance(read_listing_page(answer), ListingPage)
    position = answer.get("historyId")
    if isinstance(position, str) and position.isascii() and position.isdigit():
        assert read_history_page(answer).history_id == int(position)
    else:
        with pytest.raises(GmailUnreachable):
            read_history_page(answer)


def read_whole(answer: dict[str, Any], texts: dict[str, bytes] | None = None) -> Message:
    return read_download(WholeMessage(answer, texts or {}))


# --- messages ------------------------------------------------------------------------------------------------------


def test_a_message_is_read_with_ids_labels_date_size_and_text() -> None:
    message = read_whole(text_message(internalDate="1764504000123", sizeEstimate=321))

    assert (message.message_id, message.thread_id, message.labels) == ("1a", "1b", frozenset({"INBOX"}))
    assert message.internal_date == datetime(2025, 11, 30, 12, 0, 0, 123000, tzinfo=UTC)
    assert (message.size, message.header("subject"), message.text.strip()) == (321, "Hello", "hi")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"id": None}, "no_id"),
        ({"id": "../evil"}, "no_id"),
        ({"threadId": ""}, "no_threadId"),
        ({"payload": None}, "no_payload"),
        ({"payload": []}, "no_payload"),
    ],
)
def test_what_can_not_be_a_message_is_unreadable_with_a_reason(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(UnreadableMessage) as caught:
        read_whole(text_message(**changed))
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", datetime(1970, 1, 1, tzinfo=UTC)),
        ("-5", datetime(1970, 1, 1, tzinfo=UTC)),
        ("", datetime(1970, 1, 1, tzinfo=UTC)),
        ("soon", datetime(1970, 1, 1, tzinfo=UTC)),
        (str(2**64 - 1), datetime(9999, 12, 31, tzinfo=UTC)),
    ],
)
def test_an_absurd_date_is_brought_in_range(text: str, expected: datetime) -> None:
    assert read_internal_date(text) == expected


@settings(max_examples=50, deadline=None)
@given(data=st.binary(max_size=200), padded=st.booleans(), url_safe=st.booleans())
def test_base64_of_either_alphabet_with_or_without_padding_gives_the_bytes(
    data: bytes, *, padded: bool, url_safe: bool
) -> None:
    text = (base64.urlsafe_b64encode if url_safe else base64.b64encode)(data).decode()

    assert decode_base64url(text if padded else text.rstrip("=")) == data


@settings(max_examples=50, deadline=None)
@given(text=st.text(max_size=50))
def test_any_text_is_decoded_to_something(text: str) -> None:
    assert isinstance(decode_base64url(text), bytes)


@settings(max_examples=50, deadline=None)
@given(payload=JSON_VALUES, labels=JSON_VALUES, date=JSON_VALUES, size=JSON_VALUES)
def test_a_message_of_any_shape_is_read_or_unreadable(
    payload: object, labels: object, date: object, size: object
) -> None:
    answer = text_message(payload=payload, labelIds=labels, internalDate=date, sizeEstimate=size)

    if isinstance(payload, dict):
        assert isinstance(read_whole(answer), Message)
    else:
        with pytest.raises(UnreadableMessage):
            read_whole(answer)


def test_a_tree_nested_a_thousand_deep_does_not_exhaust_the_stack() -> None:
    payload: dict[str, Any] = {"mimeType": "text/plain", "body": {"data": "aGk"}}
    for _ in range(1000):
        payload = {"mimeType": "multipart/mixed", "parts": [payload]}

    with pytest.raises(UnreadableMessage) as caught:
        read_whole(text_message(payload=payload))
    assert caught.value.reason == "too_deep"
    assert list_large_texts({"payload": payload}) == ()


# --- large texts ---------------------------------------------------------------------------------------------------


def large(attachment_id: str, mime_type: str = "text/plain", size: int = 9, filename: str = "") -> dict[str, Any]:
    body = {"attachmentId": attachment_id, "size": size}
    return {"mimeType": mime_type, "filename": filename, "body": body}


def test_only_text_that_is_no_attachment_is_asked_for_by_itself() -> None:
    parts = [
        large("a"),
        large("b", "text/HTML"),
        large("c", "text/calendar"),
        large("d", "text/plain", filename="notes.txt"),
        large("e", "image/png"),
        large("f", size=MAX_TEXT_BYTES + 1),
        {"mimeType": "text/plain", "body": {"data": "aGk", "attachmentId": "g"}},
    ]

    found = list_large_texts({"payload": {"mimeType": "multipart/mixed", "parts": parts}})

    assert found == (LargeText("a", 9), LargeText("b", 9), LargeText("c", 9))


@pytest.mark.parametrize(
    "mime_type",
    ["text/calendar", "application/ics", "message/delivery-status", "message/feedback-report"],
)
def test_what_the_text_tells_of_is_asked_for_whatever_its_name(mime_type: str) -> None:
    parts = [large("a", mime_type, filename="file"), {"mimeType": "text/plain", "body": {"data": "aGk"}}]

    assert list_large_texts({"payload": {"parts": parts}}) == (LargeText("a", 9),)


def test_a_text_with_a_file_name_is_asked_for_where_there_is_no_other_and_it_is_not_marked_as_a_file() -> None:
    marked = large("a", filename="a.txt") | {"headers": [{"name": "content-DISPOSITION", "value": "Attachment; x=y"}]}
    named = large("b", filename="b.txt")

    assert list_large_texts({"payload": {"parts": [marked, named]}}) == (LargeText("b", 9),)
    assert list_large_texts({"payload": {"parts": [marked]}}) == ()


def test_a_message_of_a_thousand_large_texts_costs_a_few_reads() -> None:
    parts = [large(str(n)) for n in range(1000)]

    assert len(list_large_texts({"payload": {"parts": parts}})) == MAX_TEXT_READS


def test_a_large_text_takes_its_place_and_one_left_out_says_where_it_is() -> None:
    answer = text_message(payload=large("a", size=6_200_000))

    assert read_whole(answer, {"a": b"read apart"}).text.strip() == "read apart"
    assert read_whole(answer).text == "[The text, 6.2 MB, is left out here. The whole message is in Gmail.]"


PAYLOADS_WITH_CONTENT: list[dict[str, Any]] = [
    {"mimeType": "text/plain"},
    {"mimeType": "text/plain", "body": {"data": "aGk", "size": 2}},
    {"mimeType": "multipart/mixed", "parts": [large("a"), {"mimeType": "image/png", "filename": "x.png", "body": {}}]},
    {"mimeType": "text/plain", "parts": [{"parts": [{}] * 3000}]},
]


@pytest.mark.parametrize("payload", PAYLOADS_WITH_CONTENT)
def test_of_a_message_that_is_too_large_nothing_but_headers_is_read_and_the_text_says_so(
    payload: dict[str, Any],
) -> None:
    payload = {**payload, "headers": [{"name": "Subject", "value": "Huge"}]}
    message = read_download(drop_content(text_message(payload=payload, sizeEstimate=61_000_000)))

    assert message.headers_only
    assert (message.header("Subject"), message.size, message.attachments) == ("Huge", 61_000_000, ())
    assert message.text == "[This message, 61.0 MB, is too large to be read here. All of it is in Gmail.]"


def test_dropping_content_leaves_the_answer_itself_as_it_is() -> None:
    answer = text_message()
    kept = drop_content(answer)

    assert "body" in answer["payload"]
    assert "body" not in kept.answer["payload"]


@pytest.mark.parametrize("payload", [None, [], 1])
def test_what_is_too_large_and_can_not_be_a_message_is_unreadable(payload: object) -> None:
    with pytest.raises(UnreadableMessage):
        read_download(drop_content(text_message(payload=payload)))


@pytest.mark.parametrize("payload", [{}, {"body": {}}, {"parts": []}, {"body": {"data": ""}}])
def test_a_message_without_content_says_nothing(payload: dict[str, Any]) -> None:
    assert read_whole(text_message(payload=payload)).text == ""
