"""The signs by which quotes are known, one by one."""

from __future__ import annotations

import pytest

from inbox_loop.message.quote_attribution import MAX_QUESTIONS, Attributions
from inbox_loop.message.quote_marks import Mark, find_mark
from inbox_loop.message.quote_signs import (
    announces_forwarded,
    announces_original,
    find_role,
    is_header_block,
    is_programs_signature,
    points_below,
)
from inbox_loop.message.quote_words import Role
from inbox_loop.message.standing import Standing, find_standing


@pytest.mark.parametrize(
    "line",
    [
        "On Mon, Nov 30, 2026 at 10:12 AM Ada Winter <ada@example.com> wrote:",
        "On 11/30/2026 10:12 AM, Ada Winter wrote:",
        "Am 30.11.26 um 10:12 schrieb Ada Winter:",
        "Le 30/11/2026 à 10:12, Ada Winter a écrit\u00a0:",
        "El 30/11/26 a las 10:12, Ada Winter escribió:",
        "Il 30/11/2026 10:12, Ada Winter ha scritto:",
        "Em 30/11/2026 10:12, Ada Winter escreveu:",
        "Op 30-11-2026 om 10:12 schreef Ada Winter:",
        "Den 30.11.2026 10:12, skrev Ada Winter:",
        "Ada Winter kirjoitti 30.11.2026 klo 10:12:",
        "W dniu 30.11.2026 o 10:12, Ada Winter pisze:",
        "Dne 30. 11. 2026 v 10:12 Ada Winter napsal(a):",
        "30.11.2026 10:12, Ada Winter пишет:",
        "2026年11月30日(月) 10:12 Ada Winter <ada@example.com>:",
        "2026년 11월 30일 10:12에 Ada Winter 님이 작성하였습니다:",
        "在 2026-11-30 10:12:00\uff0cAda Winter <ada@example.com> 写道\uff1a",
        "---- On Mon, 30 Nov 2026 10:12:00 +0000 ada@example.com wrote ----",
    ],
)
def test_an_attribution_is_known_in_the_languages_of_mail_programs(line: str) -> None:
    assert Attributions(["Yes.", "", line]).find_start(2) == 2


@pytest.mark.parametrize(
    "line",
    [
        "wrote:",
        "Ada wrote:",
        "On 30.11.2026 you wrote:",
        "My order of 30 November 2026:",
        "Ring ada@example.com:",
        "On Monday at ten:",
        ":",
        "",
    ],
)
def test_a_line_without_moment_or_without_sender_is_no_attribution(line: str) -> None:
    assert Attributions([line]).find_start(0) is None


def test_an_attribution_folded_over_lines_is_found_from_its_last() -> None:
    lines = ["Yes.", "", "On Mon, 30 Nov 2026 at 10:12,", "Ada Winter", "<ada@example.com> wrote:"]
    assert Attributions(lines).find_start(4) == 2
    assert Attributions(lines).find_start(3) is None


def test_the_libraries_are_asked_only_so_many_times_a_text() -> None:
    line = "On Mon, 30 Nov 2026 at 10:12, Ada Winter <ada@example.com> wrote:"
    lines = [line, ""] * (MAX_QUESTIONS + 1)
    attributions = Attributions(lines)
    found = [attributions.find_start(index) for index in range(0, len(lines), 2)]
    assert found.count(None) == 1
    assert found[-1] is None


def test_only_address_and_moment_together_name_a_sender() -> None:
    lines = ["On 30 Nov 2026 Ada <ada@example.com> wrote:", "On 30 Nov 2026 Ada wrote:", "ada2026@example.com wrote:"]
    assert [Attributions(lines).names_sender(index, index) for index in range(3)] == [True, False, False]


@pytest.mark.parametrize(
    "line",
    [
        "---------- Forwarded message ---------",
        "Begin forwarded message:",
        "-------- Weitergeleitete Nachricht --------",
    ],
)
def test_a_forwarded_mail_is_announced(line: str) -> None:
    assert announces_forwarded(line)
    assert not announces_original(line)


def test_the_words_alone_announce_nothing() -> None:
    assert announces_original("-----Message d\u2019origine-----")
    assert not announces_original("Original Message")
    assert not announces_forwarded("The forwarded message")


@pytest.mark.parametrize(
    ("line", "role"),
    [
        ("From: a", Role.FROM),
        ("*Von:* a", Role.FROM),
        ("> De\u00a0: a", Role.FROM),
        ("\u4e3b\u9898\uff1a a", Role.SUBJECT),
        ("보낸 날짜: a", Role.DATE),
        ("Cc:", Role.OTHER),
        ("From a", None),
        ("A name that is much too long to be one: a", None),
    ],
)
def test_a_header_is_known_by_its_name(line: str, role: Role | None) -> None:
    assert find_role(line) is role


def test_headers_of_a_mail_may_be_folded_and_need_sender_recipient_subject_and_a_time_of_day() -> None:
    block = ["From: Ada", "Sent: 30 November 2026 10:12", "To: Bea,", " Cleo,", " Dora", "Subject: Tea"]
    assert is_header_block(block, 0)
    assert not is_header_block(block[:-1], 0)
    assert not is_header_block([line for line in block if "From" not in line], 0)
    assert not is_header_block([line.replace("30 November 2026 10:12", "30.11.2026") for line in block], 0)


@pytest.mark.parametrize(
    "line",
    [
        "Sent from my phone",
        "Get Outlook for iOS<https://example.org/ios>",
        "Gesendet von meinem Telefon",
        "Skickat från min telefon",
    ],
)
def test_a_mail_program_that_signs_is_known(line: str) -> None:
    assert is_programs_signature(line)


@pytest.mark.parametrize("line", ["It was sent from my office", "Yes.", "Gesendet: Montag", ""])
def test_what_a_person_writes_is_no_programs_signature(line: str) -> None:
    assert not is_programs_signature(line)


@pytest.mark.parametrize("text", ["See below.", "Meine Antworten stehen unten", "my answers IN RED", "Ответы ниже."])
def test_a_sender_who_points_down_is_understood(text: str) -> None:
    assert points_below(text)


@pytest.mark.parametrize("text", ["A belowground shop.", "red tins", "Order 4117", ""])
def test_other_words_do_not_point_down(text: str) -> None:
    assert not points_below(text)


@pytest.mark.parametrize(
    ("subject", "references", "standing"),
    [
        ("Tea", "", Standing.NEW),
        ("Tea", "<a@example.org>", Standing.THREADED),
        ("Re: Tea", "", Standing.ANSWER),
        ("AW: WG: Tea", "", Standing.ANSWER),
        ("Re[2]: Tea", "", Standing.ANSWER),
        ("RE : Tea", "", Standing.ANSWER),
        ("[External] [List] Re: Tea", "", Standing.ANSWER),
        ("回复\uff1a茶", "", Standing.ANSWER),
        ("Fwd: Tea", "<a@example.org>", Standing.FORWARD),
        ("FW: RE: Tea", "", Standing.FORWARD),
        ("WG: Tee", "", Standing.FORWARD),
        ("I: Tè", "", Standing.FORWARD),
        ("Order: tea", "", Standing.NEW),
        ("Ref: 4711", "", Standing.NEW),
        ("", "", Standing.NEW),
    ],
)
def test_a_message_stands_as_its_subject_and_its_references_say(
    subject: str, references: str, standing: Standing
) -> None:
    assert find_standing(subject, references) is standing


@pytest.mark.parametrize(
    ("tag", "attributes", "mark"),
    [
        ("blockquote", {"type": "cite"}, Mark.QUOTE),
        ("blockquote", {"class": "x gmail_quote"}, Mark.QUOTE),
        ("blockquote", {}, Mark.BLOCK),
        ("div", {"class": "yahoo_quoted", "id": "yahoo_quoted_1"}, Mark.QUOTE),
        ("div", {"name": "quote"}, Mark.QUOTE),
        ("div", {"class": "gmail_quote"}, None),
        ("div", {"class": "moz-cite-prefix"}, Mark.ATTRIBUTION),
        ("div", {"id": "divRplyFwdMsg"}, Mark.HEADERS),
        ("div", {"style": "border:none; border-top: solid #E1E1E1 1.0pt"}, Mark.HEADERS),
        ("div", {"style": "border-top: solid red 1.0pt"}, None),
        ("p", {"type": "cite"}, None),
    ],
)
def test_elements_are_marked_by_what_mail_programs_make_them_for(
    tag: str, attributes: dict[str, str], mark: Mark | None
) -> None:
    assert find_mark(tag, attributes) is mark
