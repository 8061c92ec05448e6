"""A calendar part (iCalendar, RFC 5545) to a few readable lines: what, when, where, who asks.

Lives here: just enough of iCalendar to tell a reader of mail what is proposed. Not here: calendars. Never fails.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from inbox_loop.message.parameters import parse_parameters

_MAX_CHARACTERS = 200_000
_UNFOLD = re.compile(r"\r?\n[ \t]")
_ESCAPED = re.compile(r"\\([nN,;\\])")
_MOMENT = re.compile(r"(\d{8})(?:T(\d{4})(?:\d{2})?(Z?))?")
_MAILTO = re.compile(r"^mailto:", re.IGNORECASE)
# What the sender asks with it (RFC 5546).
_TITLES = {"REQUEST": "Invitation", "CANCEL": "Cancelled", "REPLY": "Answer to an invitation", "COUNTER": "Proposal"}


@dataclass(frozen=True, slots=True)
class _Property:
    parameters: str
    value: str


def describe_invitation(source: str) -> str:
    """The first event of ``source`` in readable lines; empty when there is none."""
    calendar, event = _read_properties(source[:_MAX_CHARACTERS])
    if not event:
        return ""
    method = _text(calendar.get("METHOD")).upper()
    lines = [
        (_TITLES.get(method, "Event"), _text(event.get("SUMMARY")) or "(no title)"),
        ("When", _describe_time(event)),
        ("Repeats", _text(event.get("RRULE"))),
        ("Where", _text(event.get("LOCATION"))),
        ("Organizer", _describe_person(event.get("ORGANIZER"))),
    ]
    described = "\n".join(f"{label}: {value}" for label, value in lines if value)
    notes = _text(event.get("DESCRIPTION"))
    return f"{described}\n\n{notes}".rstrip()


def _read_properties(source: str) -> tuple[dict[str, _Property], dict[str, _Property]]:
    """The properties of the calendar itself and of its first event or to-do; alarms inside of it are left out."""
    calendar: dict[str, _Property] = {}
    event: dict[str, _Property] = {}
    inside: list[str] = []
    for line in _UNFOLD.sub("", source).splitlines():
        head, colon, value = _split_line(line)
        name, _, parameters = head.partition(";")
        name = name.strip().upper()
        if not colon:
            continue
        if name == "BEGIN":
            inside.append(value.strip().upper())
        elif name == "END":
            if inside and inside.pop() in ("VEVENT", "VTODO") and event:
                break
        elif inside == ["VCALENDAR"]:
            calendar.setdefault(name, _Property(parameters, value))
        elif inside and inside[-1] in ("VEVENT", "VTODO"):
            event.setdefault(name, _Property(parameters, value))
    return calendar, event


def _split_line(line: str) -> tuple[str, str, str]:
    """Split at the first colon outside of quotes: parameters may hold ``"mailto:…"``."""
    quoted = False
    for position, character in enumerate(line):
        if character == '"':
            quoted = not quoted
        elif character == ":" and not quoted:
            return line[:position], ":", line[position + 1 :]
    return line, "", ""


def _text(found: _Property | None) -> str:
    if found is None:
        return ""
    return _ESCAPED.sub(lambda match: "\n" if match[1] in "nN" else match[1], found.value).strip()


def _parameter(found: _Property, name: str) -> str:
    return parse_parameters(f"x;{found.parameters}").parameters.get(name, "")


def _describe_person(found: _Property | None) -> str:
    if found is None:
        return ""
    name, address = _parameter(found, "cn"), _MAILTO.sub("", found.value.strip())
    return f"{name} <{address}>" if name and name != address else address


def _describe_time(event: dict[str, _Property]) -> str:
    start, end = event.get("DTSTART"), event.get("DTEND")
    if start is None:
        return _describe_moment(event["DUE"]) if "DUE" in event else ""
    first = _describe_moment(start)
    if end is None:
        return first
    last = _describe_moment(end)
    same_day = first[:10] == last[:10]
    zone = _zone(start)
    if same_day and zone == _zone(end) and ":" in first and ":" in last:
        return f"{first.removesuffix(zone).rstrip()} to {last[11:]}".rstrip()
    return f"{first} to {last}"


def _describe_moment(found: _Property) -> str:
    """``2026-11-26 10:00 Europe/Berlin``, or only the date; what is no moment stays as it is."""
    match = _MOMENT.fullmatch(found.value.strip())
    if match is None:
        return found.value.strip()
    try:
        moment = datetime.strptime(match[1] + (match[2] or "0000"), "%Y%m%d%H%M")  # noqa: DTZ007 - its zone is a name
    except ValueError:
        return found.value.strip()
    if match[2] is None:
        return f"{moment:%Y-%m-%d}"
    return f"{moment:%Y-%m-%d %H:%M} {_zone(found)}".rstrip()


def _zone(found: _Property) -> str:
    return "UTC" if found.value.strip().upper().endswith("Z") else _parameter(found, "tzid")
