"""Bytes to text: who is believed, the bytes or the declaration."""

# ruff: noqa: RUF001 - letters of other alphabets are what this is about
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbox_loop.message.charset import decode_labelled, decode_text, find_codec

RUSSIAN = "Здравствуйте, где мой заказ?"
JAPANESE = "抹茶の在庫はありますか。"
GERMAN = "Grüße aus Köln – 5 €"


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("utf-8", RUSSIAN),
        ("UTF8", RUSSIAN),
        ('"utf-8"', RUSSIAN),
        ("koi8-r", RUSSIAN),
        ("windows-1251", RUSSIAN),
        ("iso-8859-5", RUSSIAN),
        ("x-mac-cyrillic", RUSSIAN),
        ("windows-1252", GERMAN),
        ("iso-8859-15", "Grüße aus Köln: 5 €"),
        ("macintosh", "Grüße aus Köln"),
        ("gb2312", "请问可以开发票吗"),
        ("gbk", "請問可以開發票嗎"),
        ("gb18030", "请问𠮷可以吗"),
        ("big5", "請問可以開發票嗎"),
        ("shift_jis", JAPANESE),
        ("x-sjis", JAPANESE),
        ("euc-jp", JAPANESE),
        ("iso-2022-jp", JAPANESE),
        ("iso-2022-kr", "차를 주문하고 싶습니다"),
        ("ks_c_5601-1987", "차를 주문하고 싶습니다"),
        ("euc-kr", "똠방각하"),
        ("hz-gb-2312", "请问可以开发票吗"),
        ("utf-7", "Grüße aus Köln"),
        ("unicode-1-1-utf-7", "Grüße"),
        ("utf-16", GERMAN),
        ("utf-16le", GERMAN),
        ("utf-16be", GERMAN),
        ("utf-32", GERMAN),
        ("tis-620", "สวัสดี"),
        ("iso-8859-8-i", "שלום"),
        ("windows-1255", "שלום"),
    ],
)
def test_text_in_its_declared_charset_is_read(charset: str, text: str) -> None:
    codec = find_codec(charset)
    assert decode_text(text.encode(codec), charset) == text


@pytest.mark.parametrize(
    ("data", "declared", "text"),
    [
        pytest.param(RUSSIAN.encode(), "iso-8859-1", RUSSIAN, id="valid UTF-8 beats a wrong declaration"),
        pytest.param(JAPANESE.encode(), "iso-2022-jp", JAPANESE, id="converted to UTF-8, declaration left"),
        pytest.param(GERMAN.encode(), "utf-16", GERMAN, id="UTF-8 declared as UTF-16"),
        pytest.param(GERMAN.encode("utf-16"), None, GERMAN, id="UTF-16 by its mark"),
        pytest.param(GERMAN.encode("utf-32"), "utf-8", GERMAN, id="UTF-32 by its mark"),
        pytest.param(GERMAN.encode("cp1252"), None, GERMAN, id="undeclared"),
        pytest.param(GERMAN.encode("cp1252"), "us-ascii", GERMAN, id="more than was declared"),
        pytest.param(GERMAN.encode("cp1252"), "utf-8", GERMAN, id="declared as UTF-8, and is not"),
        pytest.param(GERMAN.encode("cp1252"), "x-unknown", GERMAN, id="a charset that says it knows nothing"),
        pytest.param(GERMAN.encode("cp1252"), "x-nosuch", GERMAN, id="a charset nobody knows"),
        pytest.param(GERMAN.encode("cp1252"), "iso-8859-1", GERMAN, id="Latin-1 means windows-1252"),
        pytest.param(b"\x81caf\xe9", "windows-1252", "\x81café", id="not even windows-1252: a character for each byte"),
        pytest.param(RUSSIAN.encode()[:-1] + b"\xd0", "utf-8", RUSSIAN[:-1] + "\ufffd", id="cut in a character"),
        pytest.param(("茶" * 40).encode("gbk") + b"\xff!", "gbk", "茶" * 40 + "\ufffd!", id="one broken byte"),
        pytest.param(b"1 + 1 = 2 C++", "utf-7", "1 + 1 = 2 C++", id="no UTF-7 in spite of its plus signs"),
        pytest.param(b"caf\\u00e9", "unicode_escape", "caf\\u00e9", id="a codec of Python that is no charset"),
        pytest.param(b"aGVsbG8=", "base64", "aGVsbG8=", id="a codec that does not give text"),
        pytest.param(b"", "utf-8", "", id="nothing"),
    ],
)
def test_the_bytes_are_believed_before_a_wrong_declaration(data: bytes, declared: str | None, text: str) -> None:
    assert decode_text(data, declared) == text


def test_a_short_east_asian_word_is_not_taken_for_utf8_letters() -> None:
    name = "模拟"
    assert name.encode("gb2312")[:2].decode("utf-8") == "ģ"
    assert decode_labelled("模".encode("gb2312"), "gb2312") == "模"
    assert decode_labelled(name.encode(), "gb2312") == name


def test_a_body_converted_to_utf8_is_utf8_whatever_it_was_declared_as() -> None:
    assert decode_text("Привет".encode(), "gb2312") == "Привет"


CHARSETS = st.one_of(
    st.none(),
    st.text(max_size=20),
    st.sampled_from(["utf-7", "utf-8", "utf-16", "utf-32-be", "iso-2022-jp", "iso-2022-kr", "hz", "big5", "gb2312"]),
    st.sampled_from(["idna", "punycode", "rot13", "zlib", "undefined", "mbcs", "unicode-escape", "../x", "a\x00b"]),
)
BYTES = st.one_of(
    st.binary(), st.lists(st.sampled_from([b"\x1b$B", b"~{", b"+2AA-", b"\x00", b"\xff", b"a"])).map(b"".join)
)


@given(BYTES, CHARSETS)
def test_any_bytes_become_text_under_any_declaration(data: bytes, declared: str | None) -> None:
    assert bool(decode_text(data, declared)) or len(data) <= 4
    decode_labelled(data, declared or "")


@given(st.text(), st.sampled_from(["iso-8859-1", "koi8-r", "big5", "gb2312", "euc-jp", "us-ascii", None]))
def test_valid_utf8_is_read_as_utf8(text: str, declared: str | None) -> None:
    data = text.encode()
    assert decode_text(data, declared) == text or data.startswith((b"\xff\xfe", b"\xfe\xff"))


@pytest.mark.parametrize("declared", [None, "us-ascii", "utf-8"])
def test_japanese_escapes_are_known_without_a_declaration(declared: str | None) -> None:
    assert decode_text("日本語のメール".encode("iso2022_jp"), declared) == "日本語のメール"
