"""Moments and ages on the command line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from inbox_loop.commands.moments import read_age, read_moment, read_moment_or_age
from inbox_loop.errors import UsageError
from inbox_loop.settings import LONGEST

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-30", datetime(2026, 11, 30, tzinfo=UTC)),
        ("2026-11-30T08:00+01:00", datetime(2026, 11, 30, 7, tzinfo=UTC)),
        ("2026-11-30T08:00:00.5Z", datetime(2026, 11, 30, 8, 0, 0, 500_000, tzinfo=UTC)),
        ("2026-11-30 08:00", datetime(2026, 11, 30, 8, tzinfo=UTC)),
        ("1970-01-01", datetime(1970, 1, 1, tzinfo=UTC)),
    ],
)
def test_a_date_is_midnight_utc_and_a_moment_without_a_zone_is_utc(text: str, moment: datetime) -> None:
    assert read_moment("--after", text) == moment
    assert read_moment_or_age("--since", text, NOW) == moment


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("90s", timedelta(seconds=90)),
        ("30m", timedelta(minutes=30)),
        ("1.5h", timedelta(minutes=90)),
        ("7d", timedelta(days=7)),
        ("2w", timedelta(days=14)),
    ],
)
def test_an_age_is_counted_back_from_now(text: str, age: timedelta) -> None:
    assert read_age("--deleted-after", text) == age
    assert read_moment_or_age("--since", text, NOW) == NOW - age


@pytest.mark.parametrize(
    "text", ["0d", "-7d", "7", "7y", "", "P7D", "36501d", "2026-11-30", "99999999999d", "\u0667d", "7d\n"]
)
def test_what_is_no_age_is_refused_with_its_option(text: str) -> None:
    with pytest.raises(UsageError, match=r"^--deleted-after: .* age\b"):
        read_age("--deleted-after", text)


def test_the_longest_age_is_the_configurations_and_is_named_in_days() -> None:
    assert read_age("--deleted-after", f"{LONGEST.days}d") == LONGEST
    with pytest.raises(UsageError, match=f"at most {LONGEST.days} days"):
        read_age("--deleted-after", f"{LONGEST.days + 1}d")


@pytest.mark.parametrize("text", ["1969-12-31T23:59Z", "9999-01-01", "0001-01-01T00:00+14:00", "60y", "21000d", "0d"])
def test_what_lies_outside_the_years_gmail_knows_is_refused_with_its_option(text: str) -> None:
    with pytest.raises(UsageError, match=r"^--since: "):
        read_moment_or_age("--since", text, NOW)
