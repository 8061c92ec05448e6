"""The external reference: what parses, what is refused, and that the rule is shown with the refusal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbox_loop.errors import InvalidRef
from inbox_loop.ref import MAX_LENGTH, UNIT_OF_WORK_RULE, Ref, check_external_ref

gmail_ids = st.from_regex(r"[0-9a-f]{1,32}", fullmatch=True)


@given(gmail_ids, gmail_ids)
def test_a_ref_prints_what_it_parses(thread_id: str, message_id: str) -> None:
    ref = Ref(thread_id, message_id)
    assert str(ref) == f"gmail:{thread_id}#{message_id}"
    assert Ref.parse(str(ref)) == ref
    assert ref.container == f"gmail:{thread_id}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gmail:",
        "gmail:18c",
        "gmail:18c#",
        "gmail:#18c",
        "gmail:18c#xyz",
        "gmail:18c#1#2",
        "mail:18c#18d",
        "18c#18d",
    ],
)
def test_what_does_not_name_thread_and_message_does_not_parse(text: str) -> None:
    with pytest.raises(InvalidRef):
        Ref.parse(text)


@pytest.mark.parametrize("bad", ["", "18c/..", "18c#1", "g" * 4, "1" * 33, "18c\n"])
def test_an_id_that_gmail_could_not_have_made_is_refused(bad: str) -> None:
    with pytest.raises(InvalidRef):
        Ref("18c", bad)
    with pytest.raises(InvalidRef):
        Ref(bad, "18c")


@pytest.mark.parametrize("ref", ["gmail:18c#18d", "stripe:evt_1", "github:owner/repo#12", "GMAIL:18C#18D"])
def test_a_ref_that_names_a_unit_passes_in_any_scheme(ref: str) -> None:
    assert check_external_ref(f"  {ref}\n") == ref


@pytest.mark.parametrize("ref", ["gmail:18c", "Gmail:18c", "gmail:thread-f:17", "gmail:"])
def test_a_gmail_ref_that_names_only_its_container_is_refused_with_the_rule(ref: str) -> None:
    with pytest.raises(InvalidRef) as refused:
        check_external_ref(ref)
    assert refused.value.hint == UNIT_OF_WORK_RULE


def test_a_caller_to_whom_the_thread_is_the_unit_may_say_so() -> None:
    assert check_external_ref("gmail:18c", allow_container=True) == "gmail:18c"
    with pytest.raises(InvalidRef):
        check_external_ref("gmail:not-an-id", allow_container=True)


@pytest.mark.parametrize("ref", ["", "   ", "a\x00b", "a\nb", "a\x7fb", "a\ud800b", "x" * (MAX_LENGTH + 1)])
def test_what_postgres_or_a_reader_would_stumble_over_is_refused(ref: str) -> None:
    with pytest.raises(InvalidRef):
        check_external_ref(ref)


def test_the_longest_ref_passes_and_normal_forms_meet() -> None:
    assert check_external_ref("é" * MAX_LENGTH) == "é" * MAX_LENGTH
    assert check_external_ref("cafe\u0301:1") == check_external_ref("caf\u00e9:1")


def test_a_ref_with_a_look_alike_letter_is_no_gmail_ref() -> None:
    """U+0130 lower-cases to an i with a dot, and matches an i where case is ignored."""
    with pytest.raises(InvalidRef):
        Ref.parse("gma\u0130l:18c#18d")
    assert check_external_ref("gma\u0130l:18c") == "gma\u0130l:18c"
