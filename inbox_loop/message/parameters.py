"""A header value with parameters: ``attachment; filename="report.pdf"`` (RFC 2045, RFC 2183, RFC 2231).

Lives here: how Content-Type and Content-Disposition are taken apart. Never fails: what makes no sense is left out.
Taken as they come: quotes that never end, blanks where none belong, encoded words in quotes (which RFC 2047 forbids
and most senders write), values continued over several numbered parameters, and charsets that are wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from urllib.parse import unquote_to_bytes

from inbox_loop.message.charset import decode_labelled
from inbox_loop.message.headers import decode_header, restore_bytes

_FOLD = re.compile(r"[\r\n]+[ \t]*")
# Up to the next semicolon that is outside of quotes; a quote that never ends goes on to the end.
_PIECE = re.compile(r'(?:"(?:[^"\\]|\\.)*+(?:"|\\?$)|[^;"])++', re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\])')
# filename*1*: the name, the number of the section, and whether it is extended (has a charset, is %-escaped).
_NUMBERED = re.compile(r"(?P<name>[^*]+)(?:\*(?P<section>\d{1,4}))?(?P<extended>\*)?")
_MAX_PIECES = 200
# What comes after is left out. The longest file name that is kept fits in, each of its characters escaped.
_MAX_CHARACTERS = 10_000


@dataclass(frozen=True, slots=True)
class Parameterized:
    """The value, in lower case, and its parameters by name in lower case, decoded."""

    value: str
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Section:
    number: int
    extended: bool
    text: str


def parse_parameters(raw: str) -> Parameterized:
    """Take a raw header value apart. The first of two parameters of one name counts, the extended one before all."""
    unfolded = _FOLD.sub(" ", raw[:_MAX_CHARACTERS])
    pieces = [match[0] for match in islice(_PIECE.finditer(unfolded), _MAX_PIECES)]
    value = pieces[0].strip().lower() if pieces else ""
    plain: dict[str, str] = {}
    sections: dict[str, list[_Section]] = {}
    for piece in pieces[1:]:
        name, equals, text = piece.partition("=")
        match = _NUMBERED.fullmatch(name.strip().lower())
        if match is None or not equals:
            continue
        if match["section"] is None and match["extended"] is None:
            plain.setdefault(match["name"], decode_header(_unquote(text)))
        else:
            section = _Section(int(match["section"] or 0), match["extended"] is not None, _unquote(text))
            sections.setdefault(match["name"], []).append(section)
    joined = {name: _join(found) for name, found in sections.items()}
    return Parameterized(value, plain | joined)


def _unquote(text: str) -> str:
    text = text.strip()
    if not text.startswith('"'):
        return text
    # Only what has to be escaped is unescaped: Windows senders write "C:\folder\file.txt".
    return _ESCAPED.sub(r"\1", text[1:].removesuffix('"'))


def _join(sections: list[_Section]) -> str:
    """Put continued sections together; the charset stands before the first of them (RFC 2231, section 4.1)."""
    ordered = sorted(sections, key=lambda section: section.number)
    if not any(section.extended for section in ordered):
        # A sender that splits an encoded word over sections: joined first, decoded after.
        return decode_header("".join(section.text for section in ordered))
    charset, first = _split_charset(ordered[0])
    data = [first] + [_read_bytes(section) for section in ordered[1:]]
    return decode_labelled(b"".join(data), charset)


def _read_bytes(section: _Section) -> bytes:
    data = restore_bytes(section.text)
    return unquote_to_bytes(data) if section.extended else data


def _split_charset(first: _Section) -> tuple[str, bytes]:
    charset, quote, rest = first.text.partition("'")
    _language, second_quote, text = rest.partition("'")
    if not (first.extended and quote and second_quote):
        return "", _read_bytes(first)
    return charset, _read_bytes(replace(first, text=text))
