"""Transfer encodings as they come: named with blemishes, broken, and where none belongs."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbox_loop.message.model import Message
from inbox_loop.message.transfer import undo_encoding

CAFE = "Café".encode()


@pytest.mark.parametrize(
    ("data", "declared", "content"),
    [
        pytest.param(b"Q2Fmw6k=", "base64", CAFE, id="base64"),
        pytest.param(b"Q2Fmw6k=", '"BASE64"', CAFE, id="named in quotes, in capitals"),
        pytest.param(b"Q2Fmw6k=", "base64;", CAFE, id="named with a semicolon"),
        pytest.param(b"Q2Fmw6k=", "base64 (of course)", CAFE, id="named with a comment"),
        pytest.param(b"Caf=C3=A9", "\r\n quoted-printable", CAFE, id="named on the next line"),
        pytest.param(b"Q2Fmw6k", "base64", CAFE, id="padding missing"),
        pytest.param(b"Q2F!mw 6k=", "base64", CAFE, id="foreign characters in it"),
        pytest.param(b"Q2Fm\r\nw6k=\r\n", "base64", CAFE, id="in lines"),
        pytest.param(b"Q2Fmw6k=\nQ2Fmw6k=\n", "base64", CAFE * 2, id="two texts in a row"),
        pytest.param(b"Q2Fmw6k=Q", "base64", CAFE, id="six bits at the end"),
        pytest.param(b"Q2Fmw6k=\n-- \nThis is the footer of a list\n", "base64", CAFE, id="a list's footer below"),
        pytest.param(b"Caf=C3=A9 =ZZ=\r\n 100%=3", "quoted-printable", CAFE + b" =ZZ 100%=3", id="broken escapes"),
        pytest.param(b"begin 644 a.txt\n%0V%FPZD`\n`\nend\n", "x-uuencode", CAFE, id="uuencode"),
        pytest.param(b"begin 644 a.txt\n%0V%FPZD`xyz\nend\n", "uuencode", CAFE, id="uuencode, too long a line"),
        pytest.param(b"no uuencode", "x-uuencode", b"no uuencode", id="uuencode without a beginning"),
        pytest.param(b"begin 644 a\n#\xff\xff\n", "uue", b"begin 644 a\n#\xff\xff\n", id="uuencode, broken"),
        pytest.param(CAFE, "8bit", CAFE, id="8bit"),
        pytest.param(CAFE, "x-nosuch", CAFE, id="an encoding nobody knows"),
        pytest.param(CAFE, "", CAFE, id="none"),
    ],
)
def test_an_encoding_is_undone_however_it_is_named_or_broken(data: bytes, declared: str, content: bytes) -> None:
    assert undo_encoding(data, declared) == content


ENCODINGS = st.sampled_from(["base64", "quoted-printable", "x-uuencode", "8bit", ""])


@given(
    st.one_of(st.binary(), st.binary().map(base64.encodebytes), st.text("begin 64\n`#=\r").map(str.encode)), ENCODINGS
)
def test_any_bytes_can_be_undone(data: bytes, declared: str) -> None:
    assert isinstance(undo_encoding(data, declared), bytes)


@given(st.binary())
def test_what_was_encoded_as_it_should_be_comes_back(data: bytes) -> None:
    assert undo_encoding(base64.encodebytes(data), "base64") == data
    assert undo_encoding(binascii.b2a_qp(data, istext=False), "quoted-printable") == data


def test_a_mail_with_a_misnamed_encoding_is_read(read_raw: Callable[[bytes], Message]) -> None:
    raw = b"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding:\r\n 'base64'\r\n\r\nQ2Fmw6k="
    assert read_raw(raw).text == "Café"


def test_a_forwarded_mail_in_base64_is_read_though_it_must_not_be(read_raw: Callable[[bytes], Message]) -> None:
    inner = base64.encodebytes(b"Subject: =?utf-8?Q?Caf=C3=A9?=\r\n\r\nWhere is it?")
    raw = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: message/rfc822\r\n"
    message = read_raw(raw + b"Content-Transfer-Encoding: base64\r\n\r\n" + inner + b"\r\n--b--\r\n")
    assert message.text == "---------- Forwarded message ----------\nSubject: Café\n\nWhere is it?"


def test_a_delivery_report_in_base64_is_read(read_raw: Callable[[bytes], Message]) -> None:
    inner = base64.encodebytes(b"Reporting-MTA: dns; mx.example.org\n\nAction: failed\nStatus: 5.1.1\n")
    raw = b"Content-Type: multipart/report; boundary=b\r\n\r\n--b\r\nContent-Type: message/delivery-status\r\n"
    message = read_raw(raw + b"Content-Transfer-Encoding: base64\r\n\r\n" + inner + b"\r\n--b--\r\n")
    assert message.text == "Reporting-MTA: dns; mx.example.org\n\nAction: failed\nStatus: 5.1.1"
