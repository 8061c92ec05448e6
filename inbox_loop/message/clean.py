"""Clean text: what a ``Message`` promises of every text in it.

Lives here: the one function that makes any string safe to store and to show, and counts what it changed, and the
cut to a size. Not here: bytes (``charset.py``) and markup (``html_text.py``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Every way a line can end. Unlike the rest, a changed line end is not counted: nothing was lost.
_LINE_END = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")

_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")

# Newsletters fill the preview line of mail programs with characters that show as nothing. Single ones have their
# use (U+200C in Persian, U+200D in emoji, U+00AD in German); three in a row, blanks between them or not, have none.
# U+FEFF is a byte order mark wherever it stands.
_INVISIBLE = "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2060-\u2064\u206a-\u206f\u3164\uffa0"
_PADDING = re.compile(f"(?:[{_INVISIBLE}][ \t\n\u00a0\u2000-\u200a\u202f\u205f\u3000]*+){{3,}}+")
_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A clean text, and how many characters were removed or replaced to make it so."""

    text: str
    changes: int


def clean_text(text: str) -> Cleaned:
    r"""Make ``text`` clean: no U+0000, no lone surrogate, no control character but newline and tab.

    Lone surrogates become U+FFFD, other control characters go, runs of invisible padding become one blank (or one
    newline), and every line end becomes ``\n``. Cleaning a clean text changes nothing.
    """
    text = _LINE_END.sub("\n", text)
    text, surrogates = _SURROGATE.subn("\ufffd", text)
    text, controls = _CONTROL.subn("", text)
    marks = text.count(_BYTE_ORDER_MARK)
    text = text.replace(_BYTE_ORDER_MARK, "")
    unpadded = _PADDING.sub(_blank_for, text)
    return Cleaned(unpadded, surrogates + controls + marks + len(text) - len(unpadded))


def clean_line(text: str) -> Cleaned:
    """Make ``text`` clean and one line: every run of white space becomes one blank, none at either end."""
    cleaned = clean_text(text)
    return Cleaned(" ".join(cleaned.text.split()), cleaned.changes)


def cut_to_bytes(text: str, limit: int) -> str:
    """The longest beginning of a clean ``text`` whose UTF-8 has at most ``limit`` bytes; no character is split."""
    if len(text) <= limit // 4:
        return text
    return text[:limit].encode()[:limit].decode(errors="ignore")


def _blank_for(padding: re.Match[str]) -> str:
    return "\n" if "\n" in padding[0] else " "
