"""The line that announces a quote: "On Monday, 30 November 2026 at 10:12, Ada Winter wrote:".

Lives here: finding it, by what two libraries know of such lines in many languages, and by a rule of our own for the
rest. Their expressions are slow on long texts, so they are asked only about short snippets, and only so many times
a text; what was not asked about is no attribution.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import quotequail
from mailparser_reply.constants import MAIL_LANGUAGES

from inbox_loop.message.quote_signs import names_moment
from inbox_loop.message.quote_words import VERBS

MAX_SNIPPET_CHARACTERS = 300
# Mail programs fold the line once or twice; a blank line never stands in it.
MAX_SNIPPET_LINES = 4
# Snippets a text. A chain of twenty answers has as many attributions.
MAX_QUESTIONS = 120

_COLONS = (":", "\uff1a")
_ADDRESS = re.compile(r"[^\s@<>()\[\]\"]{1,64}+@[^\s@<>()\[\]\"]{1,255}+")
# A person says so of someone; mail programs write the name.
_SAID = re.compile(r"\b(?:i|you|he|she|we|they) wrote:$", re.IGNORECASE)
_DIGIT = re.compile(r"\d")
_DECORATION = "-*_ \t\u00a0"
_PATTERNS = tuple(
    re.compile(words["wrote_header"], re.IGNORECASE | re.MULTILINE)
    for words in MAIL_LANGUAGES.values()
    if "wrote_header" in words
)


class Attributions:
    """Finds the attributions in the lines of one text, which stand as they are: no prefix is taken off."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._questions_left = MAX_QUESTIONS

    def find_start(self, last: int) -> int | None:
        """The first line of the attribution whose last line is ``last``; None if that is not one's last line."""
        if not could_end_attribution(self._lines[last]):
            return None
        known = None
        snippet = ""
        for first in range(last, max(last - MAX_SNIPPET_LINES, -1), -1):
            line = self._lines[first].strip()
            if not line or line.startswith(">") or len(line) + len(snippet) > MAX_SNIPPET_CHARACTERS:
                break
            snippet = f"{line} {snippet}".strip()
            if self._questions_left == 0:
                break
            self._questions_left -= 1
            if is_known_attribution(snippet):
                return first
            if known is None and is_likely_attribution(snippet):
                known = first
        return known

    def names_sender(self, first: int, last: int) -> bool:
        """Whether the attribution in these lines says who wrote and when, so that it is one beyond doubt."""
        snippet = " ".join(self._lines[first : last + 1])[:MAX_SNIPPET_CHARACTERS]
        named = _ADDRESS.search(snippet) is not None and names_moment(_ADDRESS.sub("", snippet))
        return named and (_says_written(snippet) or is_known_attribution(snippet))


def could_end_attribution(line: str) -> bool:
    """Whether ``line`` ends as the last line of an attribution does. Cheap, for lines of any length."""
    return line[-MAX_SNIPPET_CHARACTERS:].rstrip(_DECORATION).endswith(_COLONS) or line.endswith("--")


def is_known_attribution(snippet: str) -> bool:
    """Whether one of the libraries takes ``snippet``, one line, for an attribution. It has to have a number in it."""
    line = _tidy(snippet)
    if _DIGIT.search(line) is None or _SAID.search(line):
        return False
    if any(pattern.fullmatch(line) for pattern in _PATTERNS):
        return True
    found = quotequail.unwrap(f"{line}\n> quote")
    return found is not None and found["type"] == "reply" and "text_top" not in found


def is_likely_attribution(snippet: str) -> bool:
    """Whether ``snippet`` has what every attribution has: a moment, and an address or a verb, before a colon."""
    line = _tidy(snippet)
    if not line.endswith(":") or _SAID.search(line):
        return False
    return names_moment(_ADDRESS.sub("", line)) and (_says_written(line) or _ADDRESS.search(line) is not None)


def _says_written(line: str) -> bool:
    return any(verb in line.casefold() for verb in VERBS)


def _tidy(snippet: str) -> str:
    """Without the dashes and stars around it, with one kind of blank and a plain colon."""
    line = " ".join(snippet[:MAX_SNIPPET_CHARACTERS].split())
    bare = line.strip(_DECORATION)
    return f"{bare}:" if line.endswith("--") and not bare.endswith(_COLONS) else bare.replace("\uff1a", ":")
