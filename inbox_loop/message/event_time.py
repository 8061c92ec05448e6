"""When an event of a calendar takes place, in words: ``2026-11-26 10:00 to 11:30 Europe/Berlin``.

Lives here: the times of one event. Not here: what else it says (``invitation.py``). Times are told in the zone they
are given in, by the name it is given by: whoever reads knows their own. What is no time is told as it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from inbox_loop.message.icalendar import Properties, Property

_MOMENT = re.compile(r"(\d{8})(?:T(\d{4})(?:\d{2})?Z?)?")
_DURATION = re.compile(
    r"\+?P(?:(?P<weeks>\d{1,4})W)?(?:(?P<days>\d{1,4})D)?"
    r"(?:T(?:(?P<hours>\d{1,4})H)?(?:(?P<minutes>\d{1,5})M)?(?:(?P<seconds>\d{1,6})S)?)?"
)


@dataclass(frozen=True, slots=True)
class _Moment:
    """A time in a zone, or a whole day."""

    at: datetime
    whole_day: bool
    zone: str

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d}" if self.whole_day else f"{self.at:%Y-%m-%d %H:%M} {self.zone}".rstrip()


def describe_time(event: Properties) -> str:
    """When ``event`` takes place, or, of a to-do without a start, when it is due; empty if it does not say."""
    start = event.get("DTSTART")
    if start is None:
        return describe_moment(event["DUE"]) if "DUE" in event else ""
    first = _read_moment(start)
    last = _find_end(event, first) if first else None
    if first is None or last is None:
        end = event.get("DTEND")
        return f"{describe_moment(start)} to {describe_moment(end)}" if end else describe_moment(start)
    if last == first:
        return str(first)
    if first.at.date() == last.at.date() and first.zone == last.zone and not first.whole_day and not last.whole_day:
        return f"{first.at:%Y-%m-%d %H:%M} to {last.at:%H:%M} {first.zone}".rstrip()
    return f"{first} to {last}"


def describe_moment(found: Property) -> str:
    """A time with its zone, or only the date."""
    return str(_read_moment(found) or found.value.strip())


def _read_moment(found: Property) -> _Moment | None:
    value = found.value.strip().upper()
    match = _MOMENT.fullmatch(value)
    if match is None:
        return None
    try:
        at = datetime.strptime(match[1] + (match[2] or "0000"), "%Y%m%d%H%M")  # noqa: DTZ007 - its zone is a name
    except ValueError:
        return None
    if match[2] is None:
        return _Moment(at, whole_day=True, zone="")
    return _Moment(at, whole_day=False, zone="UTC" if value.endswith("Z") else found.find_parameter("tzid"))


def _find_end(event: Properties, first: _Moment) -> _Moment | None:
    """The end as people name it: of whole days the last one, where iCalendar names the day after."""
    if "DTEND" in event:
        end = _read_moment(event["DTEND"])
        at = end.at if end else None
    elif "DURATION" in event:
        end, at = first, _add(first.at, event["DURATION"].value.strip().upper())
    else:
        end, at = first, first.at
    if end is None or at is None:
        return None
    if end.whole_day and at > first.at:
        at -= timedelta(days=1)
    return _Moment(at, whole_day=end.whole_day, zone=end.zone)


def _add(at: datetime, duration: str) -> datetime | None:
    match = _DURATION.fullmatch(duration)
    if match is None:
        return None
    try:
        return at + timedelta(**{unit: int(count or 0) for unit, count in match.groupdict().items()})
    except OverflowError:
        return None
