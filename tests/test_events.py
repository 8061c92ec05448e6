"""The catalogue of events against the code: what is emitted is listed, and what is listed is emitted."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import pytest

from inbox_loop.events import EVENTS
from inbox_loop.loop.report import PassReport

PACKAGE = Path(__file__).parent.parent / "inbox_loop"
LEVELS = {
    "debug": "debug",
    "info": "info",
    "warning": "warning",
    "error": "error",
    "exception": "error",
    "critical": "error",
}
CATALOGUE = {event.name: event for event in EVENTS}
REPORT = {field.name for field in fields(PassReport)}

# Given to the log itself, and no field of the line.
EXCEPTION = "exc_info"


@dataclass(frozen=True, slots=True)
class Emission:
    """One call that writes to the log."""

    place: str
    event: str | None
    """None when it is not a literal, and so can't be checked."""
    level: str
    fields: frozenset[str]
    unpacked: str | None
    """What stands behind ``**``, as source."""


def emissions() -> Iterator[Emission]:
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LEVELS:
                logger = ast.unparse(node.func.value)
                if re.search(r"\b_?log(ger)?$", logger):
                    yield emission(f"{path.relative_to(PACKAGE)}:{node.lineno}", node, LEVELS[node.func.attr])


def emission(place: str, call: ast.Call, level: str) -> Emission:
    first = call.args[0] if call.args else None
    literal = isinstance(first, ast.Constant) and isinstance(first.value, str)
    return Emission(
        place=place,
        event=str(first.value) if literal and isinstance(first, ast.Constant) else None,
        level=level,
        fields=frozenset(keyword.arg for keyword in call.keywords if keyword.arg) - {EXCEPTION},
        unpacked=next((ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg is None), None),
    )


EMISSIONS = tuple(emissions())


@pytest.mark.parametrize("found", EMISSIONS, ids=lambda found: found.place)
def test_what_is_emitted_is_listed_with_its_level_and_its_fields(found: Emission) -> None:
    assert found.event is not None, f"{found.place}: the event's name is not a literal"
    event = CATALOGUE.get(found.event)
    assert event is not None, f"{found.place}: {found.event} is not in the catalogue"
    assert found.level == event.level
    if found.unpacked is None:
        assert found.fields == set(event.fields)
    elif found.unpacked == "asdict(report)":
        assert found.fields | REPORT == set(event.fields)
    else:
        assert found.fields <= set(event.fields)


def test_what_is_listed_is_emitted() -> None:
    assert {found.event for found in EMISSIONS} == CATALOGUE.keys()


def test_names_are_dotted_and_unique_and_texts_are_sentences() -> None:
    assert len(CATALOGUE) == len(EVENTS)
    for event in EVENTS:
        assert re.fullmatch(r"[a-z]+\.[a-z_]+", event.name)
        assert event.meaning.endswith(".")
        assert event.action.endswith(".")
        assert len(set(event.fields)) == len(event.fields)
