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

# What shows as nothing and yet says something, to a program that reads every character: letters written as tags,
# and bytes written as variation selectors in a row. Tags have a use in flags (England, Scotland, Wales) alone.
_FLAG_OR_TAG = re.compile("(\U0001f3f4[\U000e0030-\U000e007a]{1,6}+\U000e007f)|[\U000e0000-\U000e007f]")
_SELECTOR = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_FURTHER_SELECTORS = re.compile(f"(?<=[{_SELECTOR}])[{_SELECTOR}]+")
# Text forced to run backwards, to make "exe.pdf" of "fdp.exe". Hebrew and Arabic need no force.
_OVERRIDE = re.compile("[\u202d\u202e]")


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A clean text, and how many characters were removed or replaced to make it so."""

    text: str
    changes: int


def clean_text(text: str) -> Cleaned:
    r"""Make ``text`` clean: no U+0000, no lone surrogate, no control character but newline and tab.

    Lone surrogates become U+FFFD, other control characters and hidden letters go, runs of invisible padding become
    one blank (or one newline), and every line end becomes ``\n``. Cleaning a clean text changes nothing.
    """
    text = _LINE_END.sub("\n", text)
    text, surrogates = _SURROGATE.subn("\ufffd", text)
    text, controls = _CONTROL.subn("", text)
    shown = text if text.isascii() else _remove_hidden(text)
    return Cleaned(shown, surrogates + controls + len(text) - len(shown))


def clean_line(text: str) -> Cleaned:
    """Make ``text`` clean and one line: every run of white space becomes one blank, none at either end."""
    cleaned = clean_text(text)
    return Cleaned(" ".join(cleaned.text.split()), cleaned.changes)


def cut_to_bytes(text: str, limit: int) -> str:
    """The longest beginning of a clean ``text`` whose UTF-8 has at most ``limit`` bytes; no character is split."""
    if len(text) <= limit // 4:
        return text
    return text[:limit].encode()[:limit].decode(errors="ignore")


def _remove_hidden(text: str) -> str:
    text = text.replace(_BYTE_ORDER_MARK, "")
    text = _OVERRIDE.sub("", text)
    text = _FLAG_OR_TAG.sub(r"\1", text)
    text = _FURTHER_SELECTORS.sub("", text)
    return _PADDING.sub(_blank_for, text)


def _blank_for(padding: re.Match[str]) -> str:
    return "\n" if "\n" in padding[0] else " "
