"""Patterns of a rule's conditions: ``*`` is any text, ``?`` is one character, everything else is itself. Pure.

Brackets are themselves too, unlike in a shell: subjects are full of them. Case makes no difference, and a pattern is
held against the whole of a text. However it is made, matching takes no more steps than the lengths of text and pattern
multiplied: what stands between two stars is taken where it is found first, and never looked for again.
"""

from __future__ import annotations

import re

MAX_GLOB_CHARACTERS = 500


def compile_glob(glob: str) -> re.Pattern[str]:
    """The pattern as a regular expression, to be held against a text with ``fullmatch``."""
    first, *later = (_escape(piece) for piece in glob.split("*"))
    if not later:
        return _compile(first)
    *between, last = later
    # The group is atomic: the match does not go back into it when what follows does not fit.
    found_first = "".join(f"(?>.*?{piece})" for piece in between if piece)
    return _compile(f"{first}{found_first}.*{last}")


def compile_address_glob(glob: str) -> re.Pattern[str]:
    """Like ``compile_glob``, for addresses: ``@example.com`` is every address of that domain."""
    return compile_glob(f"*{glob}" if glob.startswith("@") else glob)


def _escape(piece: str) -> str:
    return ".".join(re.escape(part) for part in piece.split("?"))


def _compile(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.DOTALL | re.IGNORECASE)
