"""The pages of reasons and events: each reason the code can give has words, and each page is whole."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from inbox_loop.commands.docs_events_page import render_events_page
from inbox_loop.commands.docs_markdown import code, prose, table
from inbox_loop.commands.docs_reasons_page import render_reasons_page
from inbox_loop.commands.explanation import QUARANTINE_REASONS, REASONS, SKIPPED_REASONS, WAITING_REASONS
from inbox_loop.errors import GmailUnreachable, ReadingInterrupted
from inbox_loop.events import EVENTS
from inbox_loop.loop.retry import NOT_FOUND
from inbox_loop.policy import SkipReason
from inbox_loop.reader.limits import READER_CRASHED, TOOK_TOO_LONG, TOOK_TOO_MUCH_MEMORY

NAMED = {
    "READER_CRASHED": READER_CRASHED,
    "TOOK_TOO_LONG": TOOK_TOO_LONG,
    "TOOK_TOO_MUCH_MEMORY": TOOK_TOO_MUCH_MEMORY,
}
PACKAGE = Path(__file__).parent.parent.parent / "inbox_loop"


def unreadable_reasons() -> Iterator[str]:
    """Every reason that an ``UnreadableMessage`` is raised with, as it stands in the code."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "UnreadableMessage":
                yield from (ast.unparse(each.value).replace("'", "") for each in node.keywords if each.arg == "reason")


def test_every_reason_for_quarantine_that_is_raised_has_words() -> None:
    raised = set(unreadable_reasons())
    assert "too_many_parts" in raised
    # One is put together, of "id" and "threadId"; one is what another process said; others have names.
    assert raised - QUARANTINE_REASONS.keys() - NAMED.keys() == {"fno_{name}", "reply.reason"}
    assert {"no_id", "no_threadId", *NAMED.values()} <= QUARANTINE_REASONS.keys()


def test_the_reasons_to_skip_are_those_of_the_policy() -> None:
    assert SKIPPED_REASONS.keys() == {reason.value for reason in SkipReason}


def test_what_a_message_waits_for_is_its_own_and_not_the_mailboxs_trouble() -> None:
    assert WAITING_REASONS.keys() == {NOT_FOUND, GmailUnreachable.code, ReadingInterrupted.code}


def test_no_reason_stands_in_two_places() -> None:
    assert len(REASONS) == len(SKIPPED_REASONS) + len(QUARANTINE_REASONS) + len(WAITING_REASONS)


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_has_one_row_with_the_words_that_explain_uses(reason: str) -> None:
    (row,) = [line for line in render_reasons_page().splitlines() if line.startswith(f"| `{reason}` |")]
    assert row.split(" | ")[1] == REASONS[reason]


def test_every_event_has_its_level_its_fields_and_what_to_do() -> None:
    page = render_events_page(EVENTS)
    for event in EVENTS:
        _, _, section = page.partition(f"\n## `{event.name}`\n")
        level, fields, action = [line for line in section.split("\n## ")[0].splitlines() if line.startswith("* ")]
        assert level == f"* Level: {event.level}"
        assert all(f"`{field}`" in fields for field in event.fields)
        assert prose(event.action) in action


def test_text_can_not_act_as_markup() -> None:
    assert prose("gmail:<threadId> *") == "gmail:&lt;threadId> \\*"
    assert table(("a",), [(code("x|y"),), ("two\nlines",)]) == "| a |\n| --- |\n| `x\\|y` |\n| two lines |\n"
