"""What Postgres can't store is refused before any SQL, by the name of its field and without quoting it."""

from __future__ import annotations

import pytest

from inbox_loop.errors import InvalidValue
from inbox_loop.repository.clean import check_json


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("secret\x00", "source has U+0000"),
        ("secret\ud83d", "source has a lone surrogate"),
        ({"to": [{"name": "secret\x00"}]}, "source.to.name has U+0000"),
        ({"secret\x00": 1}, "a key of source has U+0000"),
        ({1: "a"}, "source has a key that is not text"),
        ({"size": float("nan")}, "source.size has a value that JSON has no form for"),
        ({"data": b"secret"}, "source.data has a value that JSON has no form for"),
        ({"labels": {"secret"}}, "source.labels has a value that JSON has no form for"),
    ],
)
def test_a_value_that_can_not_be_stored_is_named_and_not_quoted(value: object, told: str) -> None:
    with pytest.raises(InvalidValue) as raised:
        check_json("source", value)
    assert str(raised.value).startswith(told)
    assert "secret" not in f"{raised.value!r} {raised.value.__cause__!r}"


@pytest.mark.parametrize(
    "value", ["", "Grüße \U0001f600\n\t\x07", 1, 1.5, None, True, [], {}, {"a": [{"b": ("c", None)}]}], ids=repr
)
def test_a_value_that_can_be_stored_passes(value: object) -> None:
    check_json("source", value)
