"""Calendar parts in readable lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbox_loop.message.invitation import MAX_EVENTS, describe_invitation


def describe(source: str) -> str:
    return describe_invitation(source.encode(), "utf-8")


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
        (["DTSTART;TZID=Europe/London:20261203T100000", "DURATION:PT1H30M"], "2026-12-03 10:00 to 11:30 Europe/London"),
        (["DTSTART:20261203T100000Z", "DURATION:P1W1DT15M"], "2026-12-03 10:00 UTC to 2026-12-11 10:15 UTC"),
        (["DTSTART:20261203T100000Z", "DURATION:soon"], "2026-12-03 10:00 UTC"),
        (["DTSTART:99991231T100000Z", "DURATION:P9W"], "9999-12-31 10:00 UTC"),
        (["DTSTART:20261203T100000Z", "DTEND:20261203T100000Z"], "2026-12-03 10:00 UTC"),
        (["DTSTART:20261203T100000Z", "DTEND:late"], "2026-12-03 10:00 UTC to late"),
        (["DTSTART;VALUE=DATE:20261203"], "2026-12-03"),
        (["DTSTART;VALUE=DATE:20261203", "DTEND;VALUE=DATE:20261204"], "2026-12-03"),
        (["DTSTART;VALUE=DATE:20261203", "DTEND;VALUE=DATE:20261206"], "2026-12-03 to 2026-12-05"),
        (["DTSTART;VALUE=DATE:20261203", "DURATION:P2D"], "2026-12-03 to 2026-12-04"),
        (["DUE:20261203T100000Z"], "2026-12-03 10:00 UTC"),
        (["DTSTART:next week"], "next week"),
        (["DTSTART:20261399T990000"], "20261399T990000"),
    ],
)
def test_the_time_is_told_with_its_zone(lines: list[str], when: str) -> None:
    assert describe(calendar(*lines)) == f"Invitation: (no title)\nWhen: {when}"


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
    assert describe(source).splitlines() == [
        "Invitation: Tasting, spring",
        "When: 2026-12-03 10:00 UTC",
        "Repeats: FREQ=WEEKLY",
        "Where: Back room",
        "Organizer: Lindqvist: Hugo <hugo@example.com>",
        "",
        "One",
        "Two",
    ]


def test_every_event_is_told_each_in_its_own_zone() -> None:
    source = "\r\n".join(
        [
            "BEGIN:VCALENDAR",
            "METHOD:REQUEST",
            *("BEGIN:VTIMEZONE", "TZID:W. Europe Standard Time", "BEGIN:STANDARD", "DTSTART:16010101T030000"),
            *("END:STANDARD", "END:VTIMEZONE"),
            *("BEGIN:VEVENT", "SUMMARY:Weekly", "DTSTART;TZID=W. Europe Standard Time:20261201T100000"),
            *("RRULE:FREQ=WEEKLY", "END:VEVENT"),
            *("BEGIN:VEVENT", "SUMMARY:Weekly, moved", 'DTSTART;TZID="America/New_York":20261208T090000'),
            *("RECURRENCE-ID;TZID=W. Europe Standard Time:20261208T100000", "END:VEVENT"),
            "END:VCALENDAR",
        ]
    )
    assert describe(source).splitlines() == [
        "Invitation: Weekly",
        "When: 2026-12-01 10:00 W. Europe Standard Time",
        "Repeats: FREQ=WEEKLY",
        "",
        "Invitation: Weekly, moved",
        "When: 2026-12-08 09:00 America/New_York",
        "Instead of: 2026-12-08 10:00 W. Europe Standard Time",
    ]


def test_of_a_whole_calendar_the_first_events_are_told_and_the_rest_is_counted() -> None:
    events = "".join(f"BEGIN:VEVENT\nSUMMARY:{number}.\nEND:VEVENT\n" for number in range(MAX_EVENTS + 2))
    lines = describe(f"BEGIN:VCALENDAR\n{events}END:VCALENDAR").split("\n\n")
    assert lines[-2:] == [f"Event: {MAX_EVENTS - 1}.", "[2 more events in this calendar]"]


def test_an_answer_says_which_it_is_and_whose() -> None:
    attendee = "ATTENDEE;PARTSTAT=DECLINED;CN=Ada Winter:mailto:ada@example.com"
    assert describe(calendar("SUMMARY:Tasting", attendee, method="REPLY")).splitlines() == [
        "Answer to an invitation: Tasting",
        "Answer: declined, Ada Winter <ada@example.com>",
    ]


def test_a_line_folded_inside_of_a_character_is_put_together() -> None:
    source = calendar("SUMMARY:Café").encode().replace("é".encode(), b"\xc3\r\n \xa9")
    assert describe_invitation(source, "utf-8") == "Invitation: Café"


def test_a_cancellation_says_so() -> None:
    assert describe(calendar("SUMMARY:Tasting", method="CANCEL")) == "Cancelled: Tasting"


@pytest.mark.parametrize("source", ["", "no calendar", "BEGIN:VCALENDAR\nEND:VCALENDAR", "END:VEVENT\n:\n;"])
def test_without_an_event_there_is_nothing_to_tell(source: str) -> None:
    assert describe(source) == ""


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
    assert describe(source) == describe(source).rstrip()
