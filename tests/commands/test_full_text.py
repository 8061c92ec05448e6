"""All of a message's text with its quotes marked: each line is shown once, in order, kept or left out."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from inbox_loop.commands.full_text import mark_lines
from inbox_loop.message.model import Message, Unquoted


def marked(text: str, kept: str | None) -> list[str]:
    """The lines, those that are left out with a bar in front."""
    unquoted = None if kept is None else Unquoted(kept, len(text) - len(kept))
    message = Message(
        message_id="1",
        thread_id="1",
        labels=frozenset(),
        internal_date=datetime(2026, 11, 30, tzinfo=UTC),
        size=1,
        headers=(),
        text=text,
        mime_type="text/plain",
        attachments=(),
        unquoted=unquoted,
    )
    return [f"|{line.text}" if line.left_out else line.text for line in mark_lines(message)]


@pytest.mark.parametrize(
    ("text", "kept", "expected"),
    [
        ("Yes.\n\nBye", None, ["Yes.", "", "Bye"]),
        ("Yes.\n\nAnn wrote:\n> How?\n", "Yes.", ["Yes.", "", "|Ann wrote:", "|> How?", "|"]),
        ("Ann wrote:\n> How?\n\nSo.\n", "So.", ["|Ann wrote:", "|> How?", "|", "So.", ""]),
        ("Hi\nHow?\nAnn\n\nHi\nSo.", "Hi\nSo.", ["|Hi", "|How?", "|Ann", "|", "Hi", "So."]),
        ("> A\nB\n> C\nD\n> E", "> A\nB\n> C\nD", ["> A", "B", "> C", "D", "|> E"]),
        ("A\n> B\n\nC\n> D", "A\n\nC", ["A", "|> B", "|", "C", "|> D"]),
        ("So.  \n> A", "So.", ["So.  ", "|> A"]),
        ("", None, [""]),
    ],
    ids=["nothing cut", "at the end", "at the start", "twice the same", "between", "several", "blanks", "empty"],
)
def test_what_is_left_out_is_marked(text: str, kept: str | None, expected: list[str]) -> None:
    assert marked(text, kept) == expected


def test_a_text_of_many_lines_is_marked_in_one_go() -> None:
    text = "\n".join(f"line {number % 7}" for number in range(50_000))
    lines = marked(f"{text}\n> quote", text)
    assert len(lines) == 50_001
    assert [line for line in lines if line.startswith("|")] == ["|> quote"]
