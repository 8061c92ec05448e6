"""What is left out of mail that is far too much, told by counts: a limit holds for all parts of a message together."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import pytest

from inbox_loop.errors import UnreadableMessage
from inbox_loop.message.body import MAX_READ_BYTES
from inbox_loop.message.mime import Part
from inbox_loop.message.model import Header, Message
from inbox_loop.message.raw import MAX_PARSED_BYTES, parse_mail
from inbox_loop.message.read import MAX_HEADER_CHARACTERS, MAX_HEADERS_CHARACTERS, MAX_PARTS
from inbox_loop.message.readable import MAX_TEXT_CHARACTERS

ReadPart = Callable[[Part], Message]

TEN_MEGABYTES = 10_000_000


def leaf(kind: str, data: bytes) -> Part:
    return Part(kind, "", (), data, len(data))


def multi(*parts: Part) -> Part:
    return Part("multipart/mixed", "", (), None, 0, parts)


def test_ten_megabytes_of_blanks_are_an_empty_text(read_part: ReadPart) -> None:
    assert read_part(leaf("text/plain", b" " * TEN_MEGABYTES)).text == ""


@pytest.mark.parametrize(
    "pattern", [b"<b>word</b> ", b"<div>word ", b"<td>word", b"&nbsp;word", b"<word ", b"<!-- word"]
)
def test_ten_megabytes_of_html_in_one_line_are_read_up_to_the_limit(read_part: ReadPart, pattern: bytes) -> None:
    message = read_part(leaf("text/html", pattern * (TEN_MEGABYTES // len(pattern))))
    assert 0 < len(message.text) <= MAX_TEXT_CHARACTERS


def test_five_thousand_nested_parts_are_refused_as_a_tree_and_can_not_be_taken_apart(read_part: ReadPart) -> None:
    tree = reduce(lambda inner, _: multi(inner), range(5000), leaf("text/plain", b"deep"))
    with pytest.raises(UnreadableMessage, match="nested"):
        read_part(tree)
    raw = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (n, n) for n in range(5000))
    assert parse_mail(raw) is None


def test_of_a_hundred_thousand_recipients_the_first_are_kept(read_part: ReadPart) -> None:
    recipients = ", ".join(f"person{number}@example.org" for number in range(100_000))
    kept = read_part(Part("text/plain", "", (Header("To", recipients),), b"", 0)).header("To")
    assert kept.startswith("person0@example.org, person1@example.org, ")
    assert MAX_HEADER_CHARACTERS - 100 < len(kept) <= MAX_HEADER_CHARACTERS


def test_all_headers_together_are_bounded(read_part: ReadPart) -> None:
    headers = tuple(Header("X-Long", "x" * MAX_HEADER_CHARACTERS) for _ in range(100))
    message = read_part(Part("text/plain", "", headers, b"", 0))
    assert sum(len(header.value) for header in message.headers) == MAX_HEADERS_CHARACTERS
    assert len(message.headers) == len(headers)


def test_of_parts_without_an_end_the_text_is_read_up_to_a_limit_for_all(
    read_part: ReadPart, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is beyond does not cost anything: the text of no further part is looked at."""
    looked_at: list[int] = []

    def count(text: object, _standing: object) -> str:
        looked_at.append(len(str(text)))
        return str(text)

    monkeypatch.setattr("inbox_loop.message.body.cut_quotes", count)
    part = leaf("text/plain", b"word " * 50_000)
    message = read_part(multi(*[part] * (MAX_PARTS - 1)))
    assert MAX_TEXT_CHARACTERS < sum(looked_at) <= MAX_READ_BYTES
    assert len(message.text) <= MAX_TEXT_CHARACTERS + 2 * MAX_PARTS


def test_of_many_forwarded_mails_a_megabyte_is_taken_apart(
    read_part: ReadPart, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []

    def count(data: bytes) -> Part | None:
        taken.append(len(data))
        return parse_mail(data)

    monkeypatch.setattr("inbox_loop.message.body.parse_mail", count)
    forwarded = leaf("message/rfc822", b"Subject: x\n\n" + b"word " * 60_000)
    assert read_part(multi(*[forwarded] * 20)).text.count("Subject: x") == 4
    assert sum(taken) == MAX_PARSED_BYTES
