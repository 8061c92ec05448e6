"""Every statement has one name, is known where it is used, and is used where it is known."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import inbox_loop.repository
from inbox_loop.repository.statements import Statements, parse_statements

FOLDER = Path(inbox_loop.repository.__file__).parent
STEMS = sorted(path.stem for path in FOLDER.glob("*.sql"))

GOOD = "-- name: find_x\n-- purpose: What for,\n--          and more.\n-- reads: a, b\nselect 1;\n"


def names_used_in(stem: str) -> list[str]:
    """The names in ``_SQL["…"]`` and ``self._rows("…", …)``, and the steps a loop goes through."""
    tree = ast.parse((FOLDER / f"{stem}.py").read_text(encoding="utf-8"))
    constants = [
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    known = {statement.name for statement in Statements(stem)}
    subscripts = [
        node.slice.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == "_SQL"
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, str)
    ]
    return subscripts + [constant for constant in constants if constant in known]


@pytest.mark.parametrize("stem", STEMS)
def test_the_names_in_a_file_and_in_its_module_are_the_same(stem: str) -> None:
    assert set(names_used_in(stem)) == {statement.name for statement in Statements(stem)}


@pytest.mark.parametrize("stem", STEMS)
def test_a_statement_that_reads_is_named_like_one(stem: str) -> None:
    for statement in Statements(stem):
        is_read = statement.name.startswith(("find_", "list_", "count_"))
        assert not (is_read and statement.writes), statement.name
        assert is_read or statement.writes or statement.tables == ("none",), statement.name


def test_a_statement_is_read_with_its_header() -> None:
    (statement,) = parse_statements(GOOD)
    assert (statement.name, statement.purpose, statement.writes) == ("find_x", "What for, and more.", False)
    assert (statement.tables, statement.text) == (("a", "b"), b"select 1;")


@pytest.mark.parametrize(
    "source",
    [
        GOOD + GOOD,
        "select 2;\n" + GOOD,
        GOOD.replace("-- reads: a, b\n", ""),
        GOOD.replace(";", ""),
        GOOD + "select 2;",
    ],
    ids=["name twice", "text before", "no kind", "no semicolon", "two statements"],
)
def test_a_file_that_is_not_well_made_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_statements(source)


def test_an_unknown_name_is_an_error_at_once() -> None:
    with pytest.raises(KeyError):
        Statements("tasks")["no_such"]
