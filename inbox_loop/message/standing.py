"""Whether a message begins a conversation, answers in one, or passes a mail on.

Lives here: reading that from subject and headers, as far as it matters for quotes (``quotes.py``).
"""

from __future__ import annotations

from enum import Enum, auto

from inbox_loop.message.quote_words import ANSWER_PREFIXES, FORWARD_PREFIXES

_MAX_SUBJECT_CHARACTERS = 200
_MAX_TAGS = 3


class Standing(Enum):
    """How a message stands to earlier ones."""

    NEW = auto()
    ANSWER = auto()
    """Its subject says so."""
    THREADED = auto()
    """It refers to earlier messages, and its subject does not say how."""
    FORWARD = auto()


def find_standing(subject: str, references: str) -> Standing:
    """By the first prefix of a decoded ``subject``; without one, by what stands in In-Reply-To and References."""
    prefix = _find_prefix(subject[:_MAX_SUBJECT_CHARACTERS])
    if prefix in FORWARD_PREFIXES:
        return Standing.FORWARD
    if prefix in ANSWER_PREFIXES:
        return Standing.ANSWER
    return Standing.THREADED if references.strip() else Standing.NEW


def _find_prefix(subject: str) -> str:
    """The word before the first colon, behind any ``[tags]``; a count as in ``Re[2]:`` does not belong to it."""
    rest = subject.lstrip()
    for _ in range(_MAX_TAGS):
        if rest.startswith("[") and "]" in rest:
            rest = rest.partition("]")[2].lstrip()
    before, colon, _ = rest.replace("\uff1a", ":").partition(":")
    return before.partition("[")[0].partition("(")[0].strip().casefold() if colon else ""
