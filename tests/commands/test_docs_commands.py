"""The page of commands, and the commands that the documentation tells people to type: all of them exist."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
import typer

from inbox_loop.commands.app import app
from inbox_loop.commands.docs_command_facts import read_commands
from inbox_loop.commands.docs_commands_page import render_commands_page
from inbox_loop.commands.registry import add_commands, list_commands

CHECKOUT = Path(__file__).parent.parent.parent
PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "docs").glob("*.md"))]

# What a word begins with that is the shell's, not the command's.
SHELL = ("#", "|", "&", ">", ";")


def find_command(words: list[str]) -> tuple[Any, list[str]]:
    """The command that ``words`` begin with, and what follows; raises ``KeyError`` for one that does not exist.

    A group's name and … stand for all of its commands.
    """
    command: Any = add_commands(app)
    rest = list(words)
    while hasattr(command, "commands") and rest != ["…"]:
        command = command.commands[rest.pop(0)]
    return command, rest


def parse(line: str) -> None:
    """Parse a command line as the program would, without running it."""
    program, *words = takewhile(lambda word: not word.startswith(SHELL), shlex.split(line))
    assert program == "inbox-loop"
    if words[:1] in (["--version"], ["--help"]):
        return
    command, rest = find_command(words)
    command.make_context(command.name, rest)


def shown_commands() -> Iterator[tuple[str, str]]:
    """Every line of a code block that begins with ``inbox-loop``, with its page; continued lines are one."""
    for path in PAGES:
        for block in re.findall(
            r"^ *```[^\n]*\n(.*?)^ *```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
        ):
            for line in block.replace("\\\n", " ").splitlines():
                text = line.strip().removeprefix("$ ").removeprefix(".venv/bin/")
                if text.startswith("inbox-loop "):
                    yield path.name, text


@pytest.mark.parametrize(("page", "line"), [*shown_commands()])
def test_a_command_that_the_documentation_shows_exists_with_its_options(page: str, line: str) -> None:
    assert page
    parse(line)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_command_that_is_named_in_a_sentence_exists(path: Path) -> None:
    for named in re.findall(r"`inbox-loop ([a-z][^`]*)`", path.read_text(encoding="utf-8")):
        command, rest = find_command(shlex.split(named))
        assert command.callback is not None or rest == ["…"]


def test_the_documentation_shows_commands() -> None:
    assert {"gmail-sign-in.md", "reasons.md"} <= {page for page, _ in shown_commands()}


@pytest.mark.parametrize(
    "line",
    ["inbox-loop taks list", "inbox-loop tasks list --stat open", "inbox-loop auth login", "inbox-loop tasks show"],
)
def test_a_line_that_does_not_parse_would_be_found(line: str) -> None:
    with pytest.raises((KeyError, typer.TyperException)):
        parse(line)


def test_the_page_has_every_command_with_the_options_it_parses() -> None:
    page = render_commands_page(read_commands(list_commands()))
    for words, _ in list_commands():
        command, _ = find_command(list(words))
        _, _, section = page.partition(f"\n## `inbox-loop {' '.join(words)}`\n")
        rows = [line for line in section.split("\n## ")[0].splitlines() if line.startswith("| `")]
        assert len(rows) == len(command.params), words
        for option in (name for each in command.params for name in each.opts if name.startswith("--")):
            assert any(row.startswith(f"| `{option}") for row in rows), (words, option)


def example(
    name: str = typer.Argument(..., help="Whose."),
    *,
    count: int = typer.Option(3, "--count", "-c", help="How many.", min=1),
    secret: bool = typer.Option(False, "--secret", hidden=True),  # noqa: FBT003 - typer's way to write a default
) -> None:
    """Do something."""


def test_options_are_read_however_they_are_declared() -> None:
    (facts,) = read_commands([(("example",), example)])
    assert facts.meaning == "Do something."
    assert [(each.usage, each.meaning, each.required) for each in facts.parameters] == [
        ("NAME", "Whose.", True),
        ("--count, -c NUMBER", "How many. At least 1. Default: 3.", False),
    ]
