"""Parameters of Content-Type and Content-Disposition (RFC 2231), and the file names in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbox_loop.message.mime import Part
from inbox_loop.message.model import Header
from inbox_loop.message.parameters import parse_parameters


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        pytest.param('attachment; filename="report.pdf"', "report.pdf", id="quoted"),
        pytest.param("attachment; filename=report.pdf", "report.pdf", id="bare"),
        pytest.param("attachment; filename=my report.pdf", "my report.pdf", id="bare, with a blank"),
        pytest.param('attachment; FileName = "a;b.pdf"', "a;b.pdf", id="a semicolon in quotes, blanks, case"),
        pytest.param(r'attachment; filename="say \"hi\".txt"', 'say "hi".txt', id="escaped quotes"),
        pytest.param('attachment; filename="never ends.txt', "never ends.txt", id="quotes that never end"),
        pytest.param("attachment; filename*=utf-8''caf%C3%A9.txt", "café.txt", id="extended"),
        pytest.param("attachment; filename*=iso-8859-1'fr'caf%E9.txt", "café.txt", id="extended, with a language"),
        pytest.param("attachment; filename*=caf%C3%A9.txt", "café.txt", id="extended, charset missing"),
        pytest.param("attachment; filename*=x-nosuch''caf%E9.txt", "café.txt", id="extended, charset unknown"),
        pytest.param(
            "attachment; filename=\"cafe.txt\"; filename*=utf-8''caf%C3%A9.txt", "café.txt", id="both: extended"
        ),
        pytest.param('a; filename*0="long "; filename*1="name.txt"', "long name.txt", id="continued"),
        pytest.param(
            "a; filename*1*=%A9.txt; filename*0*=utf-8''caf%C3", "café.txt", id="out of order, in a character"
        ),
        pytest.param("a; filename*0*=utf-8''caf%C3%A9; filename*1=\" 100%.txt\"", "café 100%.txt", id="half extended"),
        pytest.param('a; filename="=?utf-8?Q?caf=C3=A9.txt?="', "café.txt", id="an encoded word in quotes"),
        pytest.param(
            'a; filename*0="=?utf-8?Q?caf=C3"; filename*1="=A9.txt?="', "café.txt", id="an encoded word, continued"
        ),
        pytest.param('a; filename="caf\udcc3\udca9.txt"', "café.txt", id="raw bytes"),
        pytest.param(
            "a; filename*0*=utf-8''caf; filename*1*=\udcc3\udca9; filename*2=\udcc3\udca9.txt",
            "caféé.txt",
            id="raw bytes, continued",
        ),
        pytest.param('a;\r\n filename="a.txt"', "a.txt", id="folded"),
        pytest.param('a; filename="C:\\Users\\ada\\a.txt"', "a.txt", id="a Windows path"),
        pytest.param('a; filename="../../etc/passwd"', "passwd", id="a path that climbs"),
        pytest.param("attachment", "", id="no name"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_the_file_name_is_found_and_decoded(raw: str, name: str) -> None:
    part = Part("text/plain", "", (Header("content-DISPOSITION", raw),), b"", 0)
    assert part.name == name


def test_the_headers_of_a_part_are_taken_apart_once() -> None:
    part = Part("text/plain", "", (Header("Content-Type", "a/b"), Header("Content-Disposition", "attachment")), b"", 0)
    assert part.content_type is part.content_type
    assert part.disposition is part.disposition


def test_the_name_gmail_gives_comes_first_and_is_decoded_too() -> None:
    headers = (Header("Content-Disposition", "attachment; filename=other.txt"),)
    assert Part("text/plain", "=?utf-8?Q?caf=C3=A9.txt?=", headers, b"", 0).name == "café.txt"


def test_the_name_may_stand_in_the_content_type_alone() -> None:
    assert Part("image/png", "", (Header("Content-Type", 'image/png; name="a.png"'),), b"", 0).name == "a.png"


@pytest.mark.parametrize(
    ("raw", "value", "parameters"),
    [
        ("Text/HTML; Charset=UTF-8", "text/html", {"charset": "UTF-8"}),
        ("text/plain; charset=a; charset=b", "text/plain", {"charset": "a"}),
        ("text/plain;;; =x; y; format=flowed", "text/plain", {"format": "flowed"}),
        ("multipart/report; report-type=delivery-status (a comment)", "multipart/report", None),
        ("text/plain charset=utf-8", "text/plain charset=utf-8", {}),
    ],
)
def test_value_and_parameters_are_told_apart(raw: str, value: str, parameters: dict[str, str] | None) -> None:
    parsed = parse_parameters(raw)
    assert parsed.value == value
    assert parameters is None or parsed.parameters == parameters


PIECES = st.sampled_from(
    [";", "=", '"', "\\", "*", "0", "1", "name", "'", "%C3", "%", "utf-8", "\ud800", "é", " ", "\n"]
)


@given(st.one_of(st.text(), st.lists(PIECES).map("".join)))
def test_any_header_value_can_be_taken_apart(raw: str) -> None:
    parsed = parse_parameters(raw)
    assert parsed.value == parsed.value.strip().lower()
    assert all(name == name.lower() for name in parsed.parameters)
