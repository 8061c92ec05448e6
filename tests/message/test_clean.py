"""Clean text: what is removed, what is kept, what is counted."""

# ruff: noqa: RUF001 - letters of other alphabets are what this is about
from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbox_loop.message.clean import Cleaned, clean_line, clean_text, cut_to_bytes

ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
HOSTILE_TEXT = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            "\x00\r\n\t \x1b\x7f\x85\x9b\u00a0\u00ad\u034f\u200b\u200c\u200d\u2028\u2060\ufeff\ud800\udfff"
            "\u202e\ufe0f\U0001f3f4\U000e0001\U000e0067\U000e007f\U000e0100"
        ),
    )
)


@pytest.mark.parametrize(
    ("dirty", "clean", "changes"),
    [
        pytest.param("", "", 0, id="nothing"),
        pytest.param("a\tb\nc", "a\tb\nc", 0, id="tab and newline stay"),
        pytest.param("a\r\nb\rc", "a\nb\nc", 0, id="line ends are not counted"),
        pytest.param("a\x0cb\x85c\u2028d", "a\nb\nc\nd", 0, id="rare line ends"),
        pytest.param("h\x00e\x00llo", "hello", 2, id="U+0000 goes"),
        pytest.param("a\ud83db", "a\ufffdb", 1, id="a lone surrogate is replaced"),
        pytest.param("\x1b[31mred\x1b[0m \x07\x9b", "[31mred[0m ", 4, id="escapes, bell and C1 go"),
        pytest.param("\ufefftext\ufeff", "text", 2, id="byte order marks go"),
        pytest.param("Sale" + "\u200c\u00a0" * 40 + "Hello", "Sale Hello", 79, id="padding of a preview line"),
        pytest.param("Sale" + "\u034f \u200c \u00ad\n" * 3 + "Hello", "Sale\nHello", 17, id="padding over lines"),
        pytest.param("a\u202efdp.exe", "afdp.exe", 1, id="text forced backwards"),
        pytest.param("Hi\U000e0069\U000e0067\U000e006e!", "Hi!", 3, id="letters hidden as tags"),
        pytest.param(f"Go {ENGLAND}!", f"Go {ENGLAND}!", 0, id="the tags of a flag stay"),
        pytest.param("a\ufe0f\ufe01\U000e0141", "a\ufe0f", 2, id="bytes hidden as variation selectors"),
        pytest.param("❤\ufe0f 葛\U000e0100", "❤\ufe0f 葛\U000e0100", 0, id="single variation selectors stay"),
        pytest.param("می\u200cخواهم", "می\u200cخواهم", 0, id="one joiner of Persian stays"),
        pytest.param("👩\u200d👩\u200d👧\u200d👦", "👩\u200d👩\u200d👧\u200d👦", 0, id="a joined emoji stays"),
        pytest.param("Donau\u00addampf", "Donau\u00addampf", 0, id="one soft hyphen stays"),
    ],
)
def test_text_is_made_clean_and_what_changed_is_counted(dirty: str, clean: str, changes: int) -> None:
    assert clean_text(dirty) == Cleaned(clean, changes)


def test_a_clean_line_has_no_line_end_and_single_blanks() -> None:
    assert clean_line(" a\r\n b\t\tc\u2028d ") == Cleaned("a b c d", 0)


@given(HOSTILE_TEXT)
def test_cleaning_a_clean_text_changes_nothing(text: str) -> None:
    clean = clean_text(text).text
    assert clean_text(clean) == Cleaned(clean, 0)


@given(HOSTILE_TEXT)
def test_a_clean_text_can_be_stored_and_shown(text: str) -> None:
    clean = clean_text(text).text
    assert clean.encode("utf-8").decode("utf-8") == clean
    assert all(character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cs"} for character in clean)


@given(st.text(), st.integers(min_value=0, max_value=40))
def test_a_cut_text_is_the_longest_beginning_within_the_limit(text: str, limit: int) -> None:
    cut = cut_to_bytes(text, limit)
    assert text.startswith(cut)
    assert len(cut.encode()) <= limit
    assert cut == text or len(text[: len(cut) + 1].encode()) > limit


def test_padding_of_a_megabyte_is_cleaned_in_passing() -> None:
    assert clean_text("\u200c \u200c " * 250_000 + "x").text == " x"
    assert len(clean_text(("\u200c" + " " * 1000) * 1000 + "x").text) == 2
    assert clean_text("\u200c " * 2 + "x" * 1_000_000).changes == 0
