"""Lists of addresses, as they come in real mail."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbox_loop.message.addresses import Address, decode_addresses, parse_addresses, read_header

ADA = Address("Ada Winter", "ada@example.com")


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        pytest.param("ada@example.com", [Address("", "ada@example.com")], id="bare"),
        pytest.param("<ada@example.com>", [Address("", "ada@example.com")], id="in angle brackets"),
        pytest.param("Ada Winter <ada@example.com>", [ADA], id="with a name"),
        pytest.param('"Ada Winter" <ada@example.com>', [ADA], id="with a quoted name"),
        pytest.param("ada@example.com (Ada Winter)", [ADA], id="with a comment"),
        pytest.param("Ada Winter <ada@example.com> (at home (mostly))", [ADA], id="nested comments"),
        pytest.param("ada@example.com <ada@example.com>", [Address("", "ada@example.com")], id="the address as name"),
        pytest.param("a@example.com, Ada Winter <ada@example.com>", [Address("", "a@example.com"), ADA], id="two"),
        pytest.param(
            "a@example.com; b@example.com", [Address("", "a@example.com"), Address("", "b@example.com")], id=";"
        ),
        pytest.param('"Winter, Ada" <ada@example.com>', [Address("Winter, Ada", "ada@example.com")], id="quoted comma"),
        pytest.param(r'"say \"A\"" <ada@example.com>', [Address('say "A"', "ada@example.com")], id="escaped quotes"),
        pytest.param('"ada winter"@example.com', [Address("", '"ada winter"@example.com')], id="quoted local part"),
        pytest.param(
            "Team: ada@example.com, b@example.com;",
            [Address("", "ada@example.com"), Address("", "b@example.com")],
            id="a group",
        ),
        pytest.param("undisclosed-recipients:;", [], id="an empty group"),
        pytest.param("=?utf-8?Q?Ren=C3=A9?= <r@example.com>", [Address("René", "r@example.com")], id="encoded"),
        pytest.param(
            '"=?utf-8?Q?Ren=C3=A9?=" <r@example.com>', [Address("René", "r@example.com")], id="encoded, in quotes"
        ),
        pytest.param(
            "=?utf-8?Q?Winter=2C_Ada?= <ada@example.com>",
            [Address("Winter, Ada", "ada@example.com")],
            id="encoded comma",
        ),
        pytest.param(
            "=?utf-8?Q?boss=40example.org=2C?= <x@example.net>",
            [Address("boss@example.org,", "x@example.net")],
            id="an address in an encoded name",
        ),
        pytest.param("=?utf-8?Q?Ada_Winter_=3Cada=40example.com=3E?=", [ADA], id="name and address as one word"),
        pytest.param("Ada Winter <ada@example.com", [ADA], id="bracket never closed"),
        pytest.param("Ada Winter ada@example.com", [ADA], id="no brackets"),
        pytest.param("<@relay.example.net:ada@example.com>", [Address("", "ada@example.com")], id="a route"),
        pytest.param("Ada Winter", [Address("Ada Winter", "")], id="no address"),
        pytest.param('"Ada Winter <ada@example.com>', [ADA], id="quote never closed"),
        pytest.param(" , ;; ", [], id="only commas"),
        pytest.param("<>", [], id="the empty path"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_addresses_are_found(raw: str, found: list[Address]) -> None:
    assert list(decode_addresses(raw)) == found


def test_a_decoded_list_is_written_so_that_it_can_be_read_again() -> None:
    raw = r'=?utf-8?Q?Winter=2C_"Ada"_\?= <ada@example.com>, b@example.com, "x" <c@example.com>'
    assert parse_addresses(read_header("From", raw)) == decode_addresses(raw)


def test_other_headers_are_not_taken_for_lists() -> None:
    assert read_header("Subject", "a, b; =?utf-8?Q?c=2C?= <d>") == "a, b; c, <d>"


PIECES = st.sampled_from(
    ["a@example.com", "<", ">", '"', "\\", "(", ")", ",", ";", ":", "@", "=?utf-8?Q?=2C=22?=", "é", " ", "\n"]
)


@given(st.one_of(st.text(), st.lists(PIECES).map("".join)))
def test_any_list_is_read_and_reads_the_same_once_decoded(raw: str) -> None:
    addresses = decode_addresses(raw)
    assert all(address.name or address.address for address in addresses)
    if all("@" in address.address for address in addresses):
        assert parse_addresses(read_header("To", raw)) == addresses


def test_long_and_nested_lists_are_read_in_passing() -> None:
    started = time.process_time()
    assert len(parse_addresses("a@example.com, " * 10_000)) == 10_000
    for hostile in (
        "(" * 100_000,
        '"' * 100_001,
        "<" * 100_000,
        "a" * 100_000,
        "\\" * 100_000,
        ":" * 100_000,
        "a:" * 50_000,
    ):
        parse_addresses(hostile + " b@example.com")
    assert time.process_time() - started < 5
