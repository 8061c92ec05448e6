"""Calendar parts in readable lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbox_loop.message.invitation import describe_invitation


def calendar(*lines: str, method: str = "REQUEST") -> str:
    return "\r\n".join(["BEGIN:VCALENDAR", f"METHOD:{method}", "BEGIN:VEVENT", *lines, "END:VEVENT", "END:VCALENDAR"])


@pytest.mark.parametrize(
    ("lines", "when"),
    [
        (["DTSTART:20261203T100000Z"], "2026-12-03 10:00 UTC"),
        (["DTSTART:20261203T100000Z", "DTEND:20261203T113000Z"], "2026-12-03 10:00 to 11:30 UTC"),
        (["DTSTART;TZID=Europe/London:20261203T1000"], "2026-12-03 10:00 Europe/London"),
        (
            ["DTSTART;TZID=A/B:20261203T100000", "DTEND;TZID=A/C:20261203T1100"],
            "2026-12-03 10:00 A/B to 2026-12-03 11:00 A/C",
        ),
        (["DTSTART:20261203T230000Z", "DTEND:20261204T010000Z"], "2026-12-03 23:00 UTC to 2026-12-04 01:00 UTC"),
        (["DTSTART:20261203T100000", "DTEND:20261203T110000"], "2026-12-03 10:00 to 11:00"),
        (["DTSTART;VALUE=DATE:20261203"], "2026-12-03"),
        (["DTSTART:next week"], "next week"),
        (["DTSTART:20261399T990000"], "20261399T990000"),
    ],
)
def test_the_time_is_told_with_its_zone(lines: list[str], when: str) -> None:
    assert describe_invitation(calendar(*lines)) == f"Invitation: (no title)\nWhen: {when}"


def test_an_invitation_says_what_when_where_and_who() -> None:
    source = calendar(
        "SUMMARY:Tasting\\, spring",
        "DTSTART:20261203T100000Z",
        "RRULE:FREQ=WEEKLY",
        "LOCATION:Back",
        "  room",
        'ORGANIZER;CN="Lindqvist: Hugo":MAILTO:hugo@example.com',
        "BEGIN:VALARM",
        "DESCRIPTION:not this",
        "END:VALARM",
        "DESCRIPTION:One\\nTwo",
    )
    assert describe_invitation(source).splitlines() == [
        "Invitation: Tasting, spring",
        "When: 2026-12-03 10:00 UTC",
        "Repeats: FREQ=WEEKLY",
        "Where: Back room",
        "Organizer: Lindqvist: Hugo <hugo@example.com>",
        "",
        "One",
        "Two",
    ]


def test_a_cancellation_says_so() -> None:
    assert describe_invitation(calendar("SUMMARY:Tasting", method="CANCEL")) == "Cancelled: Tasting"


@pytest.mark.parametrize("source", ["", "no calendar", "BEGIN:VCALENDAR\nEND:VCALENDAR", "END:VEVENT\n:\n;"])
def test_without_an_event_there_is_nothing_to_tell(source: str) -> None:
    assert describe_invitation(source) == ""


PIECES = st.sampled_from(
    [
        "BEGIN:VCALENDAR\n",
        "BEGIN:VEVENT\n",
        "END:VEVENT\n",
        "DTSTART",
        "SUMMARY",
        ":",
        ";",
        '"',
        "=",
        "T",
        "\n ",
        "\\n",
        "9",
    ]
)


@given(st.one_of(st.text(), st.lists(PIECES).map("".join)))
def test_any_calendar_is_described(source: str) -> None:
    assert describe_invitation(source) == describe_invitation(source).rstrip()
