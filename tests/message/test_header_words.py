"""Encoded words (RFC 2047) as they come: well-formed, broken, and not encoded at all."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbox_loop.message.headers import decode_header


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        pytest.param("plain", "plain", id="plain"),
        pytest.param(" a\r\n b\n\tc ", "a b c", id="unfolded"),
        pytest.param("=?utf-8?Q?Caf=C3=A9_Lumen?=", "Café Lumen", id="Q"),
        pytest.param("=?UTF-8?b?Q2Fmw6k=?=", "Café", id="B, any case"),
        pytest.param("=?utf-8*en?Q?Caf=C3=A9?=", "Café", id="with a language"),
        pytest.param("Re: =?utf-8?Q?Caf=C3=A9?= menu", "Re: Café menu", id="among plain words"),
        pytest.param("=?utf-8?Q?a?= \r\n =?utf-8?Q?b?=", "ab", id="blanks between neighbours vanish"),
        pytest.param("=?utf-8?Q?a_?= =?iso-8859-1?Q?=E9?=", "a é", id="neighbours of two charsets"),
        pytest.param("=?utf-8?Q?P=C3?=\n =?utf-8?Q?=99?=", "PÙ", id="split in a character"),
        pytest.param("=?utf-8?B?UMU=?= =?utf-8?Q?=99?=", "Př", id="split in a character, B then Q"),
        pytest.param("=?gb2312?B?xKM=?=", "模", id="GB2312 that passes for UTF-8"),
        pytest.param("=?iso-2022-jp?B?GyRCS3VDYxsoQg==?=", "抹茶", id="escape sequences"),
        pytest.param("=?utf-8?Q?Hello big world?=", "Hello big world", id="blanks inside"),
        pytest.param("=?utf-8?B?Q2Fmw6k?=", "Café", id="padding missing"),
        pytest.param("=?utf-8?B?Q2Fm w6k=!?=", "Café", id="foreign characters in base64"),
        pytest.param("=?utf-8?B?Q2Fmw6k=IQ==?=", "Café!", id="two texts in one word"),
        pytest.param("\x1b$BKuCc\x1b(B A", "抹茶 A", id="ISO-2022-JP as it is"),
        pytest.param("\x1b[1m A", "\x1b[1m A", id="an escape of terminals"),
        pytest.param("=?utf-8?B?Q?=", "", id="six bits of base64"),
        pytest.param("=?utf-8?Q?50=_100%=ZZ?=", "50= 100%=ZZ", id="an escape that is none"),
        pytest.param("x=?utf-8?Q?Caf=C3=A9?=y", "xCaféy", id="no blanks around"),
        pytest.param('"=?utf-8?Q?Caf=C3=A9?="', '"Café"', id="in quotes"),
        pytest.param("=?x-nosuch?Q?Caf=E9?=", "Café", id="a charset nobody knows"),
        pytest.param("=??Q?Caf=E9?=", "Café", id="no charset"),
        pytest.param("=?utf-8?Q?Caf=E9?=", "Café", id="a wrong charset"),
        pytest.param("=?utf-8?Q?unfinished", "=?utf-8?Q?unfinished", id="without an end"),
        pytest.param("=?utf-8?X?abc?=", "=?utf-8?X?abc?=", id="an encoding nobody knows"),
        pytest.param("Grüße aus Köln", "Grüße aus Köln", id="decoded already"),
        pytest.param("GrÃ¼Ã\x9fe", "Grüße", id="UTF-8 read byte by byte"),
        pytest.param("Gr\udcc3\udcbc\udcc3\udc9fe", "Grüße", id="UTF-8 smuggled as surrogates"),
        pytest.param("Gr\udcfc\udcdfe \udc80", "Grüße €", id="windows-1252 smuggled as surrogates"),
        pytest.param("\x93Grüße\x94", "“Grüße”", id="windows-1252 read as Latin-1"),
        pytest.param("抹茶 =?utf-8?Q?caf=C3=A9?=", "抹茶 café", id="decoded and encoded mixed"),
    ],
)
def test_header_values_are_decoded(raw: str, text: str) -> None:
    assert decode_header(raw) == text


PIECES = st.sampled_from(
    ["=?", "?=", "utf-8", "gb2312", "?B?", "?Q?", "=C3", "w6k=", "\ud800", "\udcff", "é", " ", "\n", "*"]
)


@given(st.one_of(st.text(), st.lists(PIECES).map("".join)))
def test_any_header_value_is_decoded(raw: str) -> None:
    assert "\n" not in decode_header(raw.replace("=?", "")) or "\n" not in raw


def test_a_header_of_many_beginnings_is_decoded_in_passing() -> None:
    started = time.process_time()
    assert decode_header("=?a?Q? " * 10_000).startswith("=?a?Q?")
    assert decode_header("=?a?Q? " * 10_000 + "?=").startswith(" =?a?Q?")
    assert decode_header("=?" * 30_000 + "?=").startswith("=?")
    assert time.process_time() - started < 5
