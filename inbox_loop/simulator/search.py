"""Gmail's search language, as far as a mail loop uses it.

Lives here: reading ``q`` into a ``Query`` and asking it of one message. Not here: listing and paging.

An operator that is not known here is refused with an error that names it; Gmail would take it for words and find
nothing, which hides mistakes. Words are found anywhere in the text, parts of longer words included. Dates mean
midnight Pacific time, as at Gmail; whole numbers are epoch seconds. Sizes are in bytes, with K or M in their 1,024s.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from zoneinfo import ZoneInfo

from inbox_loop.simulator.envelope import Envelope
from inbox_loop.simulator.problems import invalid_argument

PACIFIC = ZoneInfo("America/Los_Angeles")

_TERM = re.compile(r'(?P<minus>-?)(?:(?P<operator>[A-Za-z_]+):)?(?:"(?P<quoted>[^"]*)"|(?P<word>[^\s"]+))')
_DATE = re.compile(r"(\d{4})[/-](\d{1,2})[/-](\d{1,2})")
_SIZE = re.compile(r"([0-9]{1,15})([KM]?)", re.IGNORECASE)
_BYTES = {"": 1, "K": 1024, "M": 1024 * 1024}
_PLACES = {"inbox": "INBOX", "sent": "SENT", "draft": "DRAFT", "drafts": "DRAFT", "spam": "SPAM", "trash": "TRASH"}
_STATES = {"unread": "UNREAD", "starred": "STARRED", "important": "IMPORTANT"}
_LABEL_WORDS = {"in": _PLACES, "is": _STATES}
_HEADER_TESTS: dict[str, Callable[[Envelope, str], bool]] = {
    "from": lambda envelope, wanted: wanted in envelope.sender.lower(),
    "to": lambda envelope, wanted: wanted in envelope.recipients.lower(),
    "subject": lambda envelope, wanted: wanted in envelope.subject.lower(),
    "rfc822msgid": lambda envelope, wanted: envelope.rfc_message_id.lower().strip("<>") == wanted.strip("<>"),
}


class Searchable(Protocol):
    """What a query asks of one message."""

    @property
    def internal_ms(self) -> int:
        """Internal date, milliseconds since the epoch."""

    @property
    def size(self) -> int:
        """In bytes."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Label ids."""

    @property
    def envelope(self) -> Envelope:
        """Its headers."""

    def has_attachment(self) -> bool:
        """Whether a part has a file name."""

    def text(self) -> str:
        """Subject, addresses and readable text, in lower case."""


Test = Callable[[Searchable], bool]


@dataclass(frozen=True, slots=True)
class Query:
    """A search that was understood."""

    tests: tuple[Test, ...]
    reaches: frozenset[str]
    """SPAM and TRASH, where the search itself asks for them; else they are left out."""

    def matches(self, message: Searchable) -> bool:
        """Whether every term holds."""
        return all(test(message) for test in self.tests)


def _negated(test: Test) -> Test:
    return lambda message: not test(message)


_FIXED_TERMS: dict[tuple[str, str], Test] = {
    ("in", "anywhere"): lambda _: True,
    ("is", "read"): lambda m: "UNREAD" not in m.labels,
    ("has", "attachment"): lambda m: m.has_attachment(),
}


def parse_query(text: str, find_label_id: Callable[[str], str | None]) -> Query:
    """Read ``q``; raises a 400 that names the first term it can't take."""
    tests: list[Test] = []
    reaches: set[str] = set()
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        match = _TERM.match(text, position)
        if match is None or match.end() == match.start():
            raise invalid_argument(f"The search can't be read from here on: {text[position : position + 40]!r}")
        negated, operator = match["minus"] == "-", (match["operator"] or "").lower()
        value = match["quoted"] if match["quoted"] is not None else match["word"]
        if operator == "in" and not negated:
            reaches |= _reach(value.lower())
        test = _term(operator, value, find_label_id)
        tests.append(_negated(test) if negated else test)
        position = match.end()
    return Query(tuple(tests), frozenset(reaches))


def _reach(place: str) -> set[str]:
    if place == "anywhere":
        return {"SPAM", "TRASH"}
    return {"SPAM", "TRASH"} & {_PLACES.get(place, "")}


def _term(operator: str, value: str, find_label_id: Callable[[str], str | None]) -> Test:
    lower = value.lower()
    if operator in _LABEL_WORDS and lower in _LABEL_WORDS[operator]:
        return _labelled(_LABEL_WORDS[operator][lower])
    if operator == "label":
        label_id = find_label_id(value)
        return _labelled(label_id) if label_id else lambda _: False
    if operator in _HEADER_TESTS:
        return lambda m: _HEADER_TESTS[operator](m.envelope, lower)
    if operator in {"after", "before"}:
        return _moment(operator, value)
    if operator in {"larger", "smaller"}:
        return _sized(operator, value)
    test = _words(value) if operator == "" else _FIXED_TERMS.get((operator, lower))
    if test is None:
        raise invalid_argument(f"This server does not know the search term {operator}:{value}")
    return test


def _labelled(label_id: str) -> Test:
    return lambda m: label_id in m.labels


def _moment(operator: str, value: str) -> Test:
    limit = _moment_ms(value)
    if operator == "after":
        return lambda m: m.internal_ms >= limit
    return lambda m: m.internal_ms < limit


def _sized(operator: str, value: str) -> Test:
    match = _SIZE.fullmatch(value)
    if match is None:
        raise invalid_argument(f"No such size: {value}")
    limit = int(match[1]) * _BYTES[match[2].upper()]
    if operator == "larger":
        return lambda m: m.size > limit
    return lambda m: m.size < limit


def _words(value: str) -> Test:
    if value == "OR" or any(char in "(){}" for char in value):
        raise invalid_argument(f"This server does not know the search term {value}")
    wanted = value.lower()
    return lambda m: wanted in m.text()


def _moment_ms(value: str) -> int:
    if value.isascii() and value.isdigit():
        return int(value) * 1000
    match = _DATE.fullmatch(value)
    try:
        if match is not None:
            midnight = datetime(int(match[1]), int(match[2]), int(match[3]), tzinfo=PACIFIC)
            return int(midnight.timestamp()) * 1000
    except ValueError as error:
        raise invalid_argument(f"No such date: {value}") from error
    raise invalid_argument(f"Neither a date nor epoch seconds: {value}")
