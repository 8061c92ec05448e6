"""A calendar part to a few readable lines for each event: what, when, where, who asks, who answered.

Lives here: what a reader of mail is told. Not here: iCalendar (``icalendar.py``) and times (``event_time.py``).
Never fails.
"""

from __future__ import annotations

import re

from inbox_loop.message.event_time import describe_moment, describe_time
from inbox_loop.message.icalendar import Properties, Property, read_calendar

# Of a whole calendar sent by mail, the first ones are told and the rest is counted.
MAX_EVENTS = 20

_ESCAPED = re.compile(r"\\([nN,;\\])")
_MAILTO = re.compile(r"^mailto:", re.IGNORECASE)
# What the sender asks with it (RFC 5546).
_TITLES = {"REQUEST": "Invitation", "CANCEL": "Cancelled", "REPLY": "Answer to an invitation", "COUNTER": "Proposal"}


def describe_invitation(data: bytes, charset: str | None) -> str:
    """The events of a calendar part in readable lines, an empty line between any two; empty when there is none."""
    calendar = read_calendar(data, charset)
    method = _text(calendar.properties.get("METHOD")).upper()
    described = [_describe_event(event, method) for event in calendar.events[:MAX_EVENTS]]
    more = len(calendar.events) - len(described)
    if more:
        described.append(f"[{more} more {'event' if more == 1 else 'events'} in this calendar]")
    return "\n\n".join(described)


def _describe_event(event: Properties, method: str) -> str:
    lines = [
        (_TITLES.get(method, "Event"), _text(event.get("SUMMARY")) or "(no title)"),
        ("When", describe_time(event)),
        ("Instead of", describe_moment(event["RECURRENCE-ID"]) if "RECURRENCE-ID" in event else ""),
        ("Repeats", _text(event.get("RRULE"))),
        ("Where", _text(event.get("LOCATION"))),
        ("Organizer", _describe_person(event.get("ORGANIZER"))),
        ("Answer", _describe_answer(event.get("ATTENDEE")) if method == "REPLY" else ""),
    ]
    described = "\n".join(f"{label}: {value}" for label, value in lines if value)
    return f"{described}\n\n{_text(event.get('DESCRIPTION'))}".rstrip()


def _text(found: Property | None) -> str:
    if found is None:
        return ""
    return _ESCAPED.sub(lambda match: "\n" if match[1] in "nN" else match[1], found.value).strip()


def _describe_person(found: Property | None) -> str:
    if found is None:
        return ""
    name, address = found.find_parameter("cn"), _MAILTO.sub("", found.value.strip())
    return f"{name} <{address}>" if name and name != address else address


def _describe_answer(attendee: Property | None) -> str:
    """Of an answer, which it is and whose: ``accepted, Ada Winter <ada@example.com>``."""
    if attendee is None:
        return ""
    answer = attendee.find_parameter("partstat").lower().replace("-", " ")
    return ", ".join(filter(None, (answer, _describe_person(attendee))))
