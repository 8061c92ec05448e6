"""A calendar part (iCalendar, RFC 5545) taken apart into its events.

Lives here: lines to properties, and which of them belong to which event. Not here: what a reader is told of them
(``invitation.py``). Never fails.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from inbox_loop.message.charset import decode_text
from inbox_loop.message.parameters import parse_parameters

# What comes after is left out.
MAX_CALENDAR_BYTES = 400_000

_UNFOLD = re.compile(rb"\r?\n[ \t]")
_EVENTS = frozenset({"VEVENT", "VTODO"})


@dataclass(frozen=True, slots=True)
class Property:
    """A line: its value, still escaped, and its parameters, not taken apart."""

    parameters: str
    value: str

    def find_parameter(self, name: str) -> str:
        """The parameter of this name in lower case; empty when there is none."""
        return parse_parameters(f"x;{self.parameters}").parameters.get(name, "")


Properties = Mapping[str, Property]


@dataclass(frozen=True, slots=True)
class Calendar:
    """The properties of the calendar itself, and of each event and to-do, by their names in capitals.

    Of two properties of one name the first counts. Alarms and time zones are left out.
    """

    properties: Properties
    events: tuple[Properties, ...]


@dataclass(slots=True)
class _Reading:
    """A calendar so far."""

    properties: dict[str, Property] = field(default_factory=dict)
    events: list[dict[str, Property]] = field(default_factory=list)
    inside: list[str] = field(default_factory=list)


def read_calendar(data: bytes, charset: str | None) -> Calendar:
    """Read a calendar part of the declared ``charset``; without events if it is none."""
    # Unfolded as bytes: a line may be folded inside of a character (RFC 5545, section 3.1).
    text = decode_text(_UNFOLD.sub(b"", data[:MAX_CALENDAR_BYTES]), charset)
    reading = _Reading()
    for line in text.splitlines():
        head, colon, value = _split_line(line)
        name, _, parameters = head.partition(";")
        if colon:
            _take(reading, name.strip().upper(), Property(parameters, value))
    return Calendar(reading.properties, tuple(event for event in reading.events if event))


def _take(reading: _Reading, name: str, found: Property) -> None:
    inside = reading.inside
    if name == "BEGIN":
        inside.append(found.value.strip().upper())
        if inside[-1] in _EVENTS:
            reading.events.append({})
    elif name == "END":
        if inside:
            inside.pop()
    elif inside == ["VCALENDAR"]:
        reading.properties.setdefault(name, found)
    elif inside and inside[-1] in _EVENTS:
        reading.events[-1].setdefault(name, found)


def _split_line(line: str) -> tuple[str, str, str]:
    """Split at the first colon outside of quotes: parameters may hold ``"mailto:…"``."""
    quoted = False
    for position, character in enumerate(line):
        if character == '"':
            quoted = not quoted
        elif character == ":" and not quoted:
            return line[:position], ":", line[position + 1 :]
    return line, "", ""
