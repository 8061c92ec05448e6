"""Header lines: from raw bytes to the name and value Gmail shows.

Lives here: splitting a header block, unfolding, RFC 2047 words, 8-bit bytes. Not here: what a header means.

Rule, kept simple: a value is unfolded; a well-formed encoded word (RFC 2047) of a charset Python knows is decoded, any
other is left as it stands; raw 8-bit bytes are UTF-8 where they are valid UTF-8, else Latin-1, so that none is lost.
"""

from __future__ import annotations

import base64
import binascii
import quopri
import re
from dataclasses import dataclass

_FIELD = re.compile(rb"^([^\x00-\x20\x7f:]+)[ \t]*:(.*(?:\n[ \t].*)*)", re.MULTILINE)
_ENCODED_WORD = re.compile(r"=\?([A-Za-z0-9_.:+-]+)(?:\*[A-Za-z0-9-]+)?\?([bBqQ])\?([!->@-~ ]*)\?=")
_BETWEEN_WORDS = re.compile(r"(\?=)[ \t]+(?==\?[A-Za-z0-9_.:+*-]+\?[bBqQ]\?[!->@-~ ]*\?=)")


@dataclass(frozen=True, slots=True)
class HeaderLine:
    """One header field. ``raw`` is its unfolded value before RFC 2047, ``value`` after."""

    name: str
    raw: str
    value: str


def parse_headers(block: bytes) -> tuple[HeaderLine, ...]:
    """Read a header block. A line that is no header is left out; nothing fails."""
    lines = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return tuple(_header_line(name, value) for name, value in _FIELD.findall(lines))


def decode_words(text: str) -> str:
    """Decode the well-formed encoded words of ``text``; blanks between two of them vanish (RFC 2047, 6.2)."""
    if "=?" not in text:
        return text
    return _ENCODED_WORD.sub(_decode_word, _BETWEEN_WORDS.sub(r"\1", text))


def read_bytes(data: bytes) -> str:
    """Text of 8-bit header bytes: UTF-8 if valid, else Latin-1."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _header_line(name: bytes, value: bytes) -> HeaderLine:
    raw = read_bytes(b" ".join(line.strip(b" \t") for line in value.split(b"\n")).strip())
    return HeaderLine(read_bytes(name), raw, decode_words(raw))


def _decode_word(match: re.Match[str]) -> str:
    charset, encoding, text = match[1], match[2].lower(), match[3]
    try:
        if encoding == "b":
            data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
        else:
            data = quopri.decodestring(text.encode("ascii"), header=True)
        decoded = data.decode(charset)
        decoded.encode("utf-8")  # some codecs let lone surrogates through, which JSON text can't carry
    except (binascii.Error, LookupError, UnicodeError, ValueError):
        return match[0]
    return decoded
