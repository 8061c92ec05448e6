"""Pieces of Markdown. Pure.

Lives here: escaping, code, tables and the line that says where a page comes from. Not here: any page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

RENDERED = "Rendered by `inbox-loop docs` from {source}: change it there, and render anew."
"""The line that each rendered file bears; ``source`` is a file of the project."""


def head(title: str, source: str) -> str:
    """The first lines of a page: what it is called, and what it is rendered from."""
    return f"# {title}\n\n<!-- {RENDERED.format(source=source)} -->\n"


def prose(text: str) -> str:
    """Plain text, so that nothing in it reads as markup."""
    return text.replace("<", "&lt;").replace("*", "\\*")


def code(text: str) -> str:
    """``text`` as code; empty stays empty."""
    return f"`{text}`" if text else ""


def codes(texts: Iterable[str]) -> str:
    """Each text as code, with commas between."""
    return ", ".join(code(text) for text in texts)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table. Cells are Markdown already; a bar in one is escaped here, and line ends become blanks."""
    lines = [list(columns), ["---"] * len(columns), *([_cell(cell) for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
