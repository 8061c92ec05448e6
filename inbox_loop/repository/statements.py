"""Named SQL statements, read from the .sql file that lies beside a module.

Each statement opens with its header::

    -- name: find_due
    -- purpose: One sentence, which may go on
    --          over further lines.
    -- reads: messages

``reads`` or ``writes`` says which kind it is, and names the tables. A statement that only reads runs in a read-only
transaction; a test holds each to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

_HEADER = re.compile(
    r"^-- name: (?P<name>[a-z_]+)\n"
    r"-- purpose: (?P<purpose>[^\n]+(?:\n--  +[^\n]+)*)\n"
    r"-- (?P<kind>reads|writes): (?P<tables>[^\n]+)\n",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement. ``text`` goes to psycopg as bytes, so that a str put together at run time can't take its place."""

    name: str
    purpose: str
    writes: bool
    tables: tuple[str, ...]
    text: bytes


class Statements:
    """The statements of one .sql file, by name."""

    def __init__(self, stem: str) -> None:
        source = files("inbox_loop.repository").joinpath(f"{stem}.sql").read_text(encoding="utf-8")
        self._by_name = {statement.name: statement for statement in parse_statements(source)}

    def __getitem__(self, name: str) -> bytes:
        """The statement's text. An unknown name is a mistake in the program, hence ``KeyError``."""
        return self._by_name[name].text

    def __iter__(self) -> Iterator[Statement]:
        return iter(self._by_name.values())


def parse_statements(source: str) -> tuple[Statement, ...]:
    """Split a file into its statements; raises ``ValueError`` for a stray text, a bad header or a name used twice."""
    headers = list(_HEADER.finditer(source))
    if len(headers) != source.count("-- name:"):
        raise ValueError("a statement's header is not: name, purpose, reads or writes")
    if source[: headers[0].start() if headers else None].strip():
        raise ValueError("there is text before the first statement")
    ends = [header.start() for header in headers[1:]] + [len(source)]
    statements = tuple(
        _statement(header, source[header.end() : end]) for header, end in zip(headers, ends, strict=True)
    )
    names = [statement.name for statement in statements]
    if len(set(names)) != len(names):
        raise ValueError("a name is used for two statements")
    return statements


def _statement(header: re.Match[str], text: str) -> Statement:
    body = text.strip()
    if not body.endswith(";") or body.count(";") != 1:
        raise ValueError(f"{header['name']}: expected one statement with a semicolon at its end")
    return Statement(
        name=header["name"],
        purpose=re.sub(r"\n--\s+", " ", header["purpose"]),
        writes=header["kind"] == "writes",
        tables=tuple(table.strip() for table in header["tables"].split(",")),
        text=body.encode(),
    )
