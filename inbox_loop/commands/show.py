"""Showing results: tables for people, JSON lines for programs, and mail text that can't act on a terminal.

Lives here: the escaping and the printers. Not here: which fields a result has (``shapes.py``).

Mail text is hostile. A control character would move the cursor, colour the screen or retitle the window; a
bidirectional override would make a text read as another. Both are shown as escapes, and nothing is read as markup.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from inbox_loop.commands.streams import write_aside, write_result

PROGRAM = "inbox-loop"

# Control and format characters, lone surrogates, private use, unassigned; line and paragraph separators.
_ESCAPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Format characters that words and emoji are made with, and that move nothing: zero-width non-joiner and joiner.
_HARMLESS = frozenset("\u200c\u200d")
_UNLIMITED = 100_000


def escape(text: str) -> str:
    r"""``text`` on one line, with every character that could act on a terminal as its escape: ESC is ``\x1b``."""
    return "".join(_escape_character(character) for character in text)


def _escape_character(character: str) -> str:
    if character in _HARMLESS or unicodedata.category(character) not in _ESCAPED:
        return character
    return character.encode("unicode_escape").decode("ascii")


def escape_lines(text: str) -> str:
    """Like ``escape``, but line ends stay, and a tab is four blanks."""
    return "\n".join(escape(line.replace("\t", "    ").removesuffix("\r")) for line in text.split("\n"))


def moment(at: datetime | None) -> str:
    """A moment in UTC to the second, as people read it; ``-`` for none."""
    return "-" if at is None else at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def in_words(age: timedelta) -> str:
    """A length of time in the largest unit of which there are two or more, down to seconds."""
    for unit, name in ((timedelta(days=1), "d"), (timedelta(hours=1), "h"), (timedelta(minutes=1), "min")):
        if age >= 2 * unit:
            return f"{age // unit} {name}"
    return f"{age.seconds} s"


def print_line(text: str = "") -> None:
    """One line of a result, escaped."""
    write_result(escape(text) + "\n")


def print_text(text: str) -> None:
    """Several lines of a result, escaped."""
    write_result(escape_lines(text) + "\n")


def print_error(what: str, hint: str = "") -> None:
    """What happened, a line for each problem, and what to do about it, on standard error."""
    lines = [f"{PROGRAM}: {escape(line)}" for line in what.splitlines()]
    lines += [f"  {line}" for line in escape_lines(hint).splitlines()]
    write_aside("".join(f"{line}\n" for line in lines))


def print_records(records: Iterable[Mapping[str, object]]) -> None:
    """One JSON object a line, in ASCII, so that it passes through anything. Moments are ISO 8601 in UTC."""
    for record in records:
        write_result(json.dumps(record, default=_to_json).replace("\x7f", "\\u007f") + "\n")


def _to_json(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return str(value)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Aligned columns. On a terminal they are fitted to its width; elsewhere nothing is cut and no line is broken."""
    terminal = sys.stdout is not None and sys.stdout.isatty()
    table = Table(box=None, pad_edge=False, show_edge=False, header_style="bold")
    for column in columns:
        table.add_column(Text(column), no_wrap=True, overflow="ellipsis" if terminal else "ignore")
    for row in rows:
        table.add_row(*(Text(escape(cell)) for cell in row))
    buffer = StringIO()
    console = Console(file=buffer, force_terminal=terminal, width=None if terminal else _UNLIMITED, highlight=False)
    console.print(table)
    lines = (line.rstrip() for line in buffer.getvalue().splitlines())
    write_result("".join(f"{line}\n" for line in lines))
