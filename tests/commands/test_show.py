"""Showing: mail text can't act on a terminal, and what is printed can be read back."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from inbox_loop.commands.show import escape, escape_lines, moment, print_line, print_records, print_table

HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202egnp.exe\x9b31m\r\n\ud800[bold red]x[/]"


def test_what_could_act_on_a_terminal_is_shown_as_an_escape() -> None:
    shown = escape(HOSTILE)
    assert shown == r"\x1b]0;owned\x07\x1b[2J\u202egnp.exe\x9b31m\r\n\ud800[bold red]x[/]"
    assert shown.isprintable()


@pytest.mark.parametrize("text", ["Grüße", "日本語", "שלום", "किताब\u200dें", "👩\u200d💻", "a/b [x] \\n"])
def test_text_of_every_language_stays_as_it_is(text: str) -> None:
    assert escape(text) == text


def test_a_body_keeps_its_lines() -> None:
    assert escape_lines("a\r\n\tb\n\x1bc") == "a\n    b\n\\x1bc"


def test_a_table_off_a_terminal_cuts_nothing_and_reads_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    long = "x" * 300
    print_table(("NUMBER", "TITLE"), [("1", HOSTILE), ("2", long), ("3", "日本")])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[0] == "NUMBER  TITLE"
    assert lines[1] == f"1       {escape(HOSTILE)}"
    assert lines[2] == f"2       {long}"
    assert "\x1b" not in "".join(lines)


def test_a_table_without_rows_is_its_head(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("NUMBER", "TITLE"), [])
    assert capsys.readouterr().out == "NUMBER  TITLE\n"


def test_a_line_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_line("a\nb")
    assert capsys.readouterr().out == "a\\nb\n"


def test_records_are_ascii_json_lines_that_read_back_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    at = datetime(2026, 11, 30, 12, 0, 0, 5000, tzinfo=timezone(timedelta(hours=1)))
    print_records([{"title": HOSTILE + "\x7f\u2028", "at": at, "none": None}, {"number": 2}])
    out = capsys.readouterr().out
    first, second = out.splitlines()
    assert out.replace("\n", "").isprintable()
    assert out.isascii()
    assert json.loads(first) == {"title": HOSTILE + "\x7f\u2028", "at": "2026-11-30T11:00:00.005000Z", "none": None}
    assert json.loads(second) == {"number": 2}


def test_moments_are_shown_in_utc() -> None:
    assert moment(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)) == "2026-01-02 03:04:05Z"
    assert moment(datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=5)))) == "2026-01-01 22:04:05Z"
    assert moment(None) == "-"
