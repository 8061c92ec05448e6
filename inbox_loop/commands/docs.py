"""``inbox-loop docs``: write the files that have one source, or check that they are as they should be."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from inbox_loop.commands.docs_pages import render_pages
from inbox_loop.commands.show import PROGRAM, print_line
from inbox_loop.errors import EXIT_FINE, EXIT_LOOK, UsageError


def render_docs(
    *,
    check: Annotated[bool, typer.Option("--check", help="Change nothing; name the files that differ.")] = False,
    into: Annotated[
        Path, typer.Option("--into", help="The project's checkout. Default: the current folder.", metavar="FOLDER")
    ] = Path(),
) -> int:
    """Render the documentation of settings, events, reasons and commands, and the configuration file, from the code.

    For those who work on inbox-loop. With --check, exit code 1 when a file is not as it would be rendered.
    """
    _check_checkout(into)
    stale = find_stale(into, render_pages())
    if check:
        for name in stale:
            print_line(f"{name} is not as inbox-loop docs renders it")
        return EXIT_LOOK if stale else EXIT_FINE
    for name, text in stale.items():
        _write(into / name, text)
        print_line(f"{name} written")
    return EXIT_FINE


def find_stale(folder: Path, pages: Mapping[str, str]) -> Mapping[str, str]:
    """The pages whose file below ``folder`` is missing or differs, to the byte."""
    return {name: text for name, text in pages.items() if _read(folder / name) != text.encode()}


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{path} can't be read ({error.strerror}).") from error


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
    except OSError as error:
        raise UsageError(f"{path} can't be written ({error.strerror}).") from error


def _check_checkout(folder: Path) -> None:
    """Raise ``UsageError`` unless ``folder`` is a checkout of this project: its pyproject.toml says so."""
    try:
        name = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8")).get("project", {}).get("name")
    except (OSError, ValueError, AttributeError):
        name = None
    if name != PROGRAM:
        raise UsageError(
            f"{folder.absolute()} is no checkout of {PROGRAM}.",
            hint="Run this in the folder that holds its pyproject.toml, or name that folder: --into FOLDER.",
        )
