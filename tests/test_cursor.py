"""The cursor only moves forward, and only when it is worth a write."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbox_loop.cursor import REFRESH_AFTER, next_cursor, parse_history_id

positions = st.integers(min_value=0, max_value=2**64 - 1)


@given(
    current=positions,
    reached=positions,
    recorded=st.booleans(),
    age=st.timedeltas(min_value=timedelta(), max_value=timedelta(days=60)),
)
def test_the_cursor_never_moves_back(*, current: int, reached: int, recorded: bool, age: timedelta) -> None:
    moved = next_cursor(current, reached, recorded=recorded, age=age)
    assert moved is None or moved == reached > current


def test_an_idle_pass_leaves_a_young_cursor_alone() -> None:
    assert next_cursor(10, 20, recorded=False, age=timedelta(minutes=59)) is None


def test_an_idle_pass_refreshes_an_old_cursor_before_gmail_forgets_it() -> None:
    assert next_cursor(10, 20, recorded=False, age=REFRESH_AFTER) == 20


def test_a_pass_with_something_to_record_moves_it_at_once() -> None:
    assert next_cursor(10, 11, recorded=True, age=timedelta()) == 11


@pytest.mark.parametrize("text", ["1", "18446744073709551615", "123456789012345678901"])
def test_a_history_id_is_a_decimal_of_any_length(text: str) -> None:
    assert str(parse_history_id(text)) == text


@pytest.mark.parametrize("text", ["", "-1", "1.0", "0x1f", " 1", "١٢"])
def test_anything_else_is_no_history_id(text: str) -> None:
    with pytest.raises(ValueError, match="not a historyId"):
        parse_history_id(text)
