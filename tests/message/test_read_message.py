"""The promise of ``read_message``: a clean message out of any tree, or the one error for a tree past the limits."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbox_loop.errors import UnreadableMessage
from inbox_loop.message.mime import Part, walk
from inbox_loop.message.model import Header, Message, Unquoted
from inbox_loop.message.raw import MAX_PARSED_PARTS, parse_mail
from inbox_loop.message.read import MAX_DEPTH, MAX_HEADERS, MAX_PARTS, read_headers, read_message
from inbox_loop.message.readable import MAX_TEXT_CHARACTERS

ReadPart = Callable[[Part], Message]
ReadRaw = Callable[[bytes], Message]

EMPTY = Part("text/plain", "", (), b"", 0)


def texts_of(message: Message) -> Iterator[str]:
    yield message.text
    yield message.unquoted.text if message.unquoted else ""
    yield message.mime_type
    for header in message.headers:
        yield from (header.name, header.value)
    for attachment in message.attachments:
        yield from (attachment.name, attachment.mime_type)


def is_clean(text: str) -> bool:
    return all(character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cs"} for character in text)


def test_what_gmail_says_is_kept_as_it_is(read_raw: ReadRaw) -> None:
    message = read_raw(b"Subject: Hi\r\n\r\nText")
    assert (message.labels, message.size) == (frozenset({"INBOX"}), 1234)
    assert (message.header("subject"), message.text, message.mime_type) == ("Hi", "Text", "text/plain")


def test_headers_are_decoded_clean_one_line_and_in_order(read_raw: ReadRaw) -> None:
    raw = b"sUBJECT: =?utf-8?Q?a=00b=1B=0A?=\r\n c\r\nX-A: 1\r\nX-A: 2\r\n"
    raw += b"From: =?utf-8?Q?Winter=2C_Ada?= <a@example.com>\r\n\r\n"
    message = read_raw(raw)
    assert message.header("Subject") == "ab c"
    assert list(message.header_values("x-a")) == ["1", "2"]
    assert message.header("From") == '"Winter, Ada" <a@example.com>'
    assert message.cleaned == 2


def test_the_blanks_of_a_plain_text_are_kept(read_raw: ReadRaw) -> None:
    assert read_raw(b"\r\n\r\n  indented\r\n\r\n\r\n-- \r\nAda\r\n\r\n").text == "  indented\n\n\n-- \nAda"
    assert read_raw(b"\r\n \x00\r\n").text == ""


WROTE = "On Mon, 30 Nov 2026 at 10:12, Tarnwick Teas <support@example.org> wrote:"


def test_what_is_new_stands_apart_from_the_text_with_its_length(read_raw: ReadRaw) -> None:
    quote = f"{WROTE}\n> Tuesday?"
    message = read_raw(f"Subject: Re: Tea\n\nYes.\x00\n\n{quote}\n".encode())
    assert message.text == f"Yes.\n\n{quote}"
    assert message.unquoted == Unquoted("Yes.", len(f"\n\n{quote}"))
    assert message.cleaned == 1


@pytest.mark.parametrize("body", ["Yes.", f"{WROTE}\n> Tuesday?", "> Tuesday?", ""])
def test_without_a_quote_or_without_anything_else_nothing_stands_apart(read_raw: ReadRaw, body: str) -> None:
    message = read_raw(f"Subject: Re: Tea\n\n{body}".encode())
    assert (message.text, message.unquoted) == (body, None)


def test_an_encoded_subject_says_that_a_mail_is_passed_on(read_raw: ReadRaw) -> None:
    message = read_raw(f"Subject: =?utf-8?Q?Fwd=3A_Tea?=\n\nSee this.\n\n{WROTE}\n> Tuesday?".encode())
    assert message.unquoted is None


def test_of_a_message_that_is_too_large_only_the_headers_are_read() -> None:
    text = Part("text/plain", "notes.txt", (), b"never looked at", 15)
    subject = Header("Subject", "=?utf-8?Q?Caf=C3=A9?=")
    for parts in ((), (text,) * (MAX_PARTS + 1)):
        message = read_headers(
            message_id="a",
            thread_id="b",
            labels=("INBOX",),
            internal_date=datetime(2026, 11, 23, tzinfo=UTC),
            size=31_200_000,
            root=Part("multipart/mixed", "", (subject,), None, 0, parts),
        )
        assert (message.header("Subject"), message.mime_type, message.size) == ("Café", "multipart/mixed", 31_200_000)
        assert message.text == "[This message, 31.2 MB, is too large to be read here. All of it is in Gmail.]"
        assert message.headers_only
        assert (message.unquoted, message.attachments, message.cleaned) == (None, (), 0)


def test_missing_headers_are_empty(read_raw: ReadRaw) -> None:
    message = read_raw(b"\r\nText")
    assert (message.header("Subject"), message.header("From"), message.text) == ("", "", "Text")


def test_everything_that_was_cleaned_is_counted(read_part: ReadPart) -> None:
    file = Part("image/png", "\x00a\x01.png", (), b"", 0)
    text = Part("text/plain", "", (), b"a\x00b\x07\r\n" + "\u200c".encode() * 5, 8)
    root = Part("multipart/mixed", "", (Header("X-\x00A", "b\x01"),), None, 0, (text, file))
    assert read_part(root).cleaned == 2 + 2 + 4 + 2


def test_too_many_parts_are_refused_with_a_reason(read_part: ReadPart) -> None:
    assert read_part(Part("multipart/mixed", "", (), None, 0, (EMPTY,) * (MAX_PARTS - 1))).text == ""
    with pytest.raises(UnreadableMessage) as refused:
        read_part(Part("multipart/mixed", "", (), None, 0, (EMPTY,) * MAX_PARTS))
    assert refused.value.reason == "too_many_parts"


def nested(depth: int, mime_type: str) -> Part:
    root = Part("text/plain", "", (), b"deep", 4)
    for _ in range(depth):
        root = Part(mime_type, "", (Header("Subject", "x"),), None, 0, (root,))
    return root


@pytest.mark.parametrize(
    "mime_type", ["multipart/mixed", "multipart/alternative", "message/rfc822", "multipart/related"]
)
def test_nesting_is_read_down_to_the_limit_and_refused_beyond(read_part: ReadPart, mime_type: str) -> None:
    assert read_part(nested(MAX_DEPTH, mime_type)).text.endswith("deep")
    for depth in (MAX_DEPTH + 1, 5000):
        with pytest.raises(UnreadableMessage) as refused:
            read_part(nested(depth, mime_type))
        assert refused.value.reason == "too_deep"


def test_a_forwarded_mail_nested_too_deep_to_be_parsed_is_left_out(read_part: ReadPart) -> None:
    raw = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (n, n) for n in range(3000))
    assert read_part(Part("message/rfc822", "deep.eml", (), raw, len(raw))).attachments[0].name == "deep.eml"


@pytest.mark.parametrize("subtype", ["mixed", "alternative"])
def test_a_forwarded_mail_of_endless_parts_is_read_up_to_the_limit(read_part: ReadPart, subtype: str) -> None:
    raw = b"Content-Type: multipart/%s; boundary=b\r\n\r\n" % subtype.encode()
    raw += b"--b\r\nContent-Type: application/x\r\n\r\n1\r\n" * 5000
    parsed = parse_mail(raw)
    assert parsed is not None
    assert sum(1 for _ in walk(parsed)) == MAX_PARSED_PARTS
    started = time.process_time()
    assert read_part(Part("message/rfc822", "many.eml", (), raw, len(raw))).attachments[0].name == "many.eml"
    assert time.process_time() - started < 2


def test_parts_are_not_compared_with_each_other(read_part: ReadPart, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with each, contents and all: a message of many alternatives would take its square."""

    def refuse(_self: Part, _other: object) -> bool:
        pytest.fail("two parts were compared by value")

    monkeypatch.setattr(Part, "__eq__", refuse)
    kinds = ("text/plain", "text/html", "text/enriched", "text/calendar", "application/x") * 2
    parts = tuple(Part(kind, "", (), b"Hi", 2) for kind in kinds)
    assert read_part(Part("multipart/alternative", "", (), None, 0, parts)).text == "Hi"


@pytest.mark.parametrize(
    ("mime_type", "pattern"),
    [
        ("text/plain", b"word "),
        ("text/plain", b" "),
        ("text/plain", b"\xff"),
        ("text/plain", "\u200c ".encode()),
        ("text/html", b"<p>x"),
        ("text/html", b"<"),
        ("text/calendar", b"\n "),
        ("message/rfc822", b"From: a\n"),
        ("message/rfc822", b"\n"),
    ],
)
def test_megabytes_are_read_within_bounds(read_part: ReadPart, mime_type: str, pattern: bytes) -> None:
    data = pattern * (10_000_000 // len(pattern))
    started = time.process_time()
    message = read_part(Part(mime_type, "", (), data, len(data)))
    assert time.process_time() - started < 5
    assert len(message.text) <= MAX_TEXT_CHARACTERS


def test_many_headers_and_long_ones_are_bounded(read_part: ReadPart) -> None:
    headers = tuple(Header(name, "a@example.com, " * 100_000) for name in ("To", "Subject", "X-A"))
    message = read_part(Part("text/plain", "", headers + (Header("X", "y"),) * 5000, b"", 0))
    assert len(message.headers) == MAX_HEADERS
    assert max(len(header.value) for header in message.headers) <= 70_000


def test_the_odd_mail_python_keeps_for_its_own_tests_is_read(read_raw: ReadRaw) -> None:
    corpus = pytest.importorskip("test.test_email.data", reason="this Python comes without its tests")
    mail = [path for folder in corpus.__path__ for path in sorted(Path(folder).glob("msg_*.txt"))]
    assert mail
    for path in mail:
        assert all(map(is_clean, texts_of(read_raw(path.read_bytes())))), path.name


HOSTILE = st.text(
    st.one_of(st.characters(), st.sampled_from('\x00\r\n\x1b\ud800\udcff\u200c\ufeff=?;"<>@,')), max_size=30
)
MIME_TYPES = st.one_of(
    st.sampled_from(
        ["text/plain", "text/html", "text/calendar", "multipart/mixed", "multipart/alternative", "application/pdf"]
    ),
    st.sampled_from(
        ["multipart/report", "message/rfc822", "message/delivery-status", "multipart/related", "application/ics"]
    ),
    HOSTILE,
)
HEADERS = st.lists(
    st.builds(
        Header,
        st.one_of(st.sampled_from(["From", "To", "Subject", "Content-Type", "content-disposition", "Date"]), HOSTILE),
        st.one_of(
            HOSTILE, st.sampled_from(['text/html; charset="utf-7"', "attachment", "a; name*0*=x'y'%zz; name*2=b"])
        ),
    ),
    max_size=4,
).map(tuple)
DATA = st.one_of(st.none(), st.binary(max_size=60), HOSTILE.map(lambda text: text.encode("utf-8", "surrogatepass")))
PARTS = st.recursive(
    st.builds(Part, MIME_TYPES, HOSTILE, HEADERS, DATA, st.integers()),
    lambda parts: st.builds(
        Part, MIME_TYPES, HOSTILE, HEADERS, DATA, st.integers(), st.lists(parts, max_size=4).map(tuple)
    ),
    max_leaves=8,
)


@given(PARTS)
def test_any_tree_of_parts_becomes_a_clean_message(root: Part) -> None:
    message = read_message(
        message_id="a", thread_id="b", labels=(), internal_date=datetime(2026, 11, 23, tzinfo=UTC), size=0, root=root
    )
    assert all(map(is_clean, texts_of(message)))
    assert all("\n" not in header.value and "\n" not in header.name for header in message.headers)
    assert all(attachment.name and attachment.size >= 0 for attachment in message.attachments)


@given(st.binary())
def test_any_bytes_can_be_taken_apart(data: bytes) -> None:
    assert parse_mail(data) is not None
