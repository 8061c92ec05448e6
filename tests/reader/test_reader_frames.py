"""Nothing but messages comes out of what a reading process says, whatever it says."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.downloads import leaf, plain, whole

from inbox_loop.errors import UnreadableMessage
from inbox_loop.gmail.wire import drop_content, read_download
from inbox_loop.message.model import Attachment, Message, Unquoted
from inbox_loop.reader.frames import LENGTH, Unreadable, pack_reply, pack_request, unpack_request
from inbox_loop.reader.replies import open_reply

MESSAGE = replace(
    read_download(whole({**leaf("h\u00e9llo \N{SNOWMAN}".encode()), "headers": [{"name": "Subject", "value": "x"}]})),
    attachments=(Attachment("a.pdf", "application/pdf", 3),),
    labels=frozenset({"INBOX"}),
    cleaned=3,
    unquoted=Unquoted("hello", 7),
    headers_only=True,
)


def content_of(reply: Message | Unreadable) -> bytes:
    return pack_reply(reply)[LENGTH.size :]


def reason_of(content: bytes) -> str:
    with pytest.raises(UnreadableMessage) as caught:
        open_reply(content)
    return caught.value.reason


def test_a_frame_begins_with_the_length_of_its_content() -> None:
    for frame in (pack_reply(MESSAGE), pack_request(plain("hello"))):
        assert LENGTH.unpack(frame[: LENGTH.size]) == (len(frame) - LENGTH.size,)


def test_every_field_of_a_message_comes_through() -> None:
    assert open_reply(content_of(MESSAGE)) == MESSAGE


def test_why_there_is_no_message_comes_through() -> None:
    assert reason_of(content_of(Unreadable("why", "too_deep"))) == "too_deep"


def test_a_request_is_what_was_packed() -> None:
    for download in (plain("hello"), drop_content(plain("hello").answer)):
        assert unpack_request(pack_request(download)[LENGTH.size :]) == download


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"5",
        b"{}",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        pickle.dumps(MESSAGE),
        json.dumps({**json.loads(content_of(MESSAGE)), "headers": 5}).encode(),
        json.dumps({**json.loads(content_of(MESSAGE)), "internal_date": "soon"}).encode(),
    ],
    ids=["nothing", "number", "empty", "list", "bytes", "deep", "pickle", "headers", "date"],
)
def test_a_reply_that_is_no_reply_is_a_crash(content: bytes) -> None:
    assert reason_of(content) == "reader_crashed"


def test_the_error_about_a_spoilt_reply_does_not_quote_it() -> None:
    with pytest.raises(UnreadableMessage) as caught:
        open_reply(b'{"text": "a secret"}')
    assert caught.value.__suppress_context__
    assert "secret" not in str(caught.value)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_a_reply_with_bytes_changed_is_a_message_or_a_crash(data: st.DataObject) -> None:
    content = bytearray(content_of(MESSAGE))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    try:
        message: Message | None = open_reply(bytes(content))
    except UnreadableMessage:
        message = None
    assert message is None or isinstance(message, Message)
