"""``inbox-loop docs``: what it writes, what it checks, and where it refuses to."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from inbox_loop.commands.docs import find_stale
from inbox_loop.commands.docs_pages import render_pages
from inbox_loop.errors import EXIT_FINE, EXIT_LOOK, EXIT_USAGE

RunCommand = Callable[..., subprocess.CompletedProcess[str]]
CHECKOUT = Path(__file__).parent.parent.parent


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What counts as a checkout of this project, with nothing else in it."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    (folder / "pyproject.toml").write_bytes((CHECKOUT / "pyproject.toml").read_bytes())
    return folder


def test_the_files_of_this_checkout_are_as_they_are_rendered() -> None:
    assert list(find_stale(CHECKOUT, render_pages())) == [], "run: inbox-loop docs"


def test_every_file_is_written_once_and_is_as_it_should_be_from_then_on(run_inside: RunCommand, checkout: Path) -> None:
    first = run_inside("docs", "--into", str(checkout))
    assert (first.returncode, first.stdout.splitlines()) == (EXIT_FINE, [f"{name} written" for name in render_pages()])
    assert {name: (checkout / name).read_text(encoding="utf-8") for name in render_pages()} == render_pages()
    again = run_inside("docs", "--into", str(checkout))
    assert (again.returncode, again.stdout) == (EXIT_FINE, "")


def test_a_check_names_what_differs_and_changes_nothing(run_inside: RunCommand, checkout: Path) -> None:
    run_inside("docs", "--into", str(checkout))
    assert run_inside("docs", "--check", "--into", str(checkout)).returncode == EXIT_FINE
    changed, missing = checkout / "docs/events.md", checkout / "docs/reasons.md"
    changed.write_text("something else", encoding="utf-8")
    missing.unlink()
    done = run_inside("docs", "--check", "--into", str(checkout))
    assert done.returncode == EXIT_LOOK
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["docs/events.md", "docs/reasons.md"]
    assert changed.read_text(encoding="utf-8") == "something else"
    assert not missing.exists()


@pytest.mark.parametrize("pyproject", [None, "[project]\nname = 'another'\n", "project = 1\n", "not TOML"])
def test_any_other_folder_is_refused_and_left_alone(
    run_inside: RunCommand, tmp_path: Path, pyproject: str | None
) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    if pyproject is not None:
        (folder / "pyproject.toml").write_text(pyproject, encoding="utf-8")
    before = list(folder.iterdir())
    done = run_inside("docs", "--into", str(folder))
    assert done.returncode == EXIT_USAGE
    assert "--into FOLDER" in done.stderr
    assert list(folder.iterdir()) == before


def test_what_is_rendered_does_not_depend_on_terminal_or_locale(run_command: RunCommand, checkout: Path) -> None:
    done = run_command("docs", "--into", str(checkout), COLUMNS="40", LANG="C", LINES="10")
    assert done.returncode == EXIT_FINE
    assert list(find_stale(checkout, render_pages())) == []


@pytest.mark.parametrize("name", render_pages())
def test_each_file_says_what_it_was_rendered_from_and_ends_in_one_line_end(name: str) -> None:
    text = render_pages()[name]
    assert "inbox-loop docs" in "".join(text.splitlines()[:3])
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
