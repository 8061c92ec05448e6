"""Which rule fits a message: conditions, patterns, and the order."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest
from fixtures.message import MakeMessage
from hypothesis import given
from hypothesis import strategies as st

from inbox_loop.globs import MAX_GLOB_CHARACTERS, compile_address_glob, compile_glob
from inbox_loop.message.model import Attachment
from inbox_loop.rules import MAX_ADDRESSES, MAX_TEXT_CHARACTERS, Conditions, Rule, Verdict, find_rule


def globs(*texts: str) -> tuple[re.Pattern[str], ...]:
    return tuple(compile_glob(text) for text in texts)


def addresses(*texts: str) -> tuple[re.Pattern[str], ...]:
    return tuple(compile_address_glob(text) for text in texts)


def rule(conditions: Conditions, name: str = "r") -> Rule:
    return Rule(name, Verdict.TASK, conditions)


# --- patterns -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("glob", "text", "fits"),
    [
        ("invoice", "Invoice", True),
        ("invoice", "An invoice", False),
        ("*invoice*", "an INVOICE for you", True),
        ("*invoice*", "invoice", True),
        ("*invoice", "invoice again", False),
        ("a*b*c", "a-b-b-c", True),
        ("a*b*c", "a-c-b", False),
        ("a*a", "a", False),
        ("*ab*ab", "ab", False),
        ("*ab*ab", "abab", True),
        ("**", "", True),
        ("", "", True),
        ("", "x", False),
        ("??", "ab", True),
        ("??", "abc", False),
        ("*?b*", "ab", True),
        ("*?b*", "b", False),
        ("[bug] *", "[BUG] it broke", True),
        ("[bug] *", "b it broke", False),
        ("a.c", "abc", False),
        ("50% (of*", "50% (of it all)", True),
        ("*straße*", "Hauptstraße 1", True),
        ("été*", "ÉTÉ 2026", True),
    ],
)
def test_a_star_is_any_text_and_a_question_mark_one_character(glob: str, text: str, *, fits: bool) -> None:
    assert (compile_glob(glob).fullmatch(text) is not None) is fits


@pytest.mark.parametrize(
    ("glob", "address", "fits"),
    [
        ("@example.com", "ada@example.com", True),
        ("@example.com", "ADA@EXAMPLE.COM", True),
        ("@example.com", "ada@mail.example.com", False),
        ("@example.com", "ada@example.com.example.net", False),
        ("@*.example.com", "ada@mail.example.com", True),
        ("ada@example.com", "ada@example.com", True),
        ("ada@example.com", "ada+tea@example.com", False),
        ("ada+*@example.com", "ada+tea@example.com", True),
    ],
)
def test_a_bare_domain_is_every_address_of_it_and_of_no_other(glob: str, address: str, *, fits: bool) -> None:
    assert (compile_address_glob(glob).fullmatch(address) is not None) is fits


def fits_by_definition(glob: str, text: str) -> bool:
    """The meaning of a pattern, letter by letter: what each part of it can reach."""
    reached = {0}
    for character in glob:
        if character == "*":
            reached = {end for start in reached for end in range(start, len(text) + 1)}
        else:
            reached = {at + 1 for at in reached if at < len(text) and character in ("?", text[at])}
    return len(text) in reached


@given(st.text("ab*?", max_size=12), st.text("ab", max_size=12))
def test_every_pattern_means_what_its_letters_say(glob: str, text: str) -> None:
    assert (compile_glob(glob).fullmatch(text) is not None) is fits_by_definition(glob, text)


@pytest.mark.parametrize("part", ["*a", "*aab", "?*", "*a?"])
def test_no_pattern_takes_long(part: str) -> None:
    glob = (part * MAX_GLOB_CHARACTERS)[: MAX_GLOB_CHARACTERS - 1] + "!"
    pattern = compile_glob(glob)
    began = time.process_time()
    assert pattern.fullmatch("a" * MAX_TEXT_CHARACTERS) is None
    assert time.process_time() - began < 1


# --- conditions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("conditions", "fits"),
    [
        pytest.param(Conditions(), True, id="none given"),
        pytest.param(Conditions(senders=addresses("@example.com")), True, id="from"),
        pytest.param(Conditions(senders=addresses("ada winter")), False, id="from is no display name"),
        pytest.param(Conditions(senders=addresses("@example.net", "ada@example.com")), True, id="any of a list"),
        pytest.param(Conditions(senders=addresses("@example.net", "@example.org")), False, id="none of a list"),
        pytest.param(Conditions(recipients=addresses("support@example.org")), True, id="to"),
        pytest.param(Conditions(recipients=addresses("boss@example.org")), True, id="to holds for Cc as well"),
        pytest.param(Conditions(recipients=addresses("@example.com")), False, id="to is not from"),
        pytest.param(Conditions(subjects=globs("*tin")), True, id="subject"),
        pytest.param(Conditions(subjects=globs("tin")), False, id="subject is held against the whole"),
        pytest.param(Conditions(lists=globs("talk.*")), True, id="list"),
        pytest.param(Conditions(lists=globs("*<*")), False, id="list is what stands in brackets"),
        pytest.param(Conditions(labels=globs("inbox")), True, id="label"),
        pytest.param(Conditions(labels=globs("Label_7")), False, id="another label"),
        pytest.param(Conditions(has_attachment=True), True, id="has an attachment"),
        pytest.param(Conditions(has_attachment=False), False, id="has no attachment"),
        pytest.param(Conditions(larger_than=1233), True, id="larger"),
        pytest.param(Conditions(larger_than=1234), False, id="as large is not larger"),
        pytest.param(Conditions(smaller_than=1235), True, id="smaller"),
        pytest.param(Conditions(smaller_than=1234), False, id="as small is not smaller"),
        pytest.param(
            Conditions(senders=addresses("@example.com"), subjects=globs("*tin"), has_attachment=True),
            True,
            id="all fit",
        ),
        pytest.param(
            Conditions(senders=addresses("@example.com"), subjects=globs("*pot"), has_attachment=True),
            False,
            id="all but one fit",
        ),
    ],
)
def test_a_rule_fits_when_all_that_is_given_does(
    make_message: MakeMessage, conditions: Conditions, *, fits: bool
) -> None:
    message = make_message(
        headers=[("Cc", "The Boss <boss@example.org>"), ("List-Id", "Talk, the list <talk.example.net>")],
        attachments=(Attachment("a.pdf", "application/pdf", 7),),
    )
    assert (find_rule(message, [rule(conditions)]) is not None) is fits


@pytest.mark.parametrize(
    "conditions",
    [
        Conditions(senders=addresses("*")),
        Conditions(lists=globs("*")),
        Conditions(labels=globs("*")),
        Conditions(has_attachment=True),
    ],
)
def test_what_a_message_does_not_have_fits_no_pattern(make_message: MakeMessage, conditions: Conditions) -> None:
    assert find_rule(make_message(headers=[("From", "")], labels=()), [rule(conditions)]) is None


def test_a_list_without_brackets_is_taken_as_it_is(make_message: MakeMessage) -> None:
    message = make_message(headers=[("List-Id", "talk.example.net")])
    assert find_rule(message, [rule(Conditions(lists=globs("talk.example.net")))]) is not None


def test_a_message_too_large_to_be_read_counts_as_having_an_attachment(make_message: MakeMessage) -> None:
    message = replace(make_message(), headers_only=True)
    assert find_rule(message, [rule(Conditions(has_attachment=True))]) is not None


def test_the_first_rule_that_fits_wins(make_message: MakeMessage) -> None:
    other = rule(Conditions(senders=addresses("@example.net")), "other")
    first = rule(Conditions(senders=addresses("@example.com")), "first")
    second = rule(Conditions(), "second")
    assert find_rule(make_message(), [other, first, second]) is first
    assert find_rule(make_message(), [second, first, other]) is second
    assert find_rule(make_message(), [other]) is None
    assert find_rule(make_message(), []) is None


def test_so_many_recipients_are_looked_at_and_no_more(make_message: MakeMessage) -> None:
    to = ", ".join(f"r{number}@example.com" for number in range(MAX_ADDRESSES + 1))
    message = make_message(headers=[("To", to)])
    last_seen, beyond = f"r{MAX_ADDRESSES - 1}@example.com", f"r{MAX_ADDRESSES}@example.com"
    assert find_rule(message, [rule(Conditions(recipients=addresses(last_seen)))]) is not None
    assert find_rule(message, [rule(Conditions(recipients=addresses(beyond)))]) is None
