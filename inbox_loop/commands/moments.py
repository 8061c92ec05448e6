"""Moments and ages on the command line, read one way by every option that takes them.

Lives here: reading them. Not here: how a moment is shown (``show.py``), and the lengths of time in the configuration
(``settings.py``), whose form an age has.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from pydantic import TypeAdapter, ValidationError

from inbox_loop.errors import UsageError
from inbox_loop.settings import LONGEST, Duration

# Gmail counts dates from 1970. The last year is left out because in some time zone it is the year 10000.
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(9999, 1, 1, tzinfo=UTC)

MOMENT_FORMS = "A date (2026-11-30, midnight UTC) or an ISO 8601 moment (2026-11-30T08:00+01:00)."
AGE_FORMS = "An age is a number and s, m, h, d or w: 90s, 12h, 7d."

_AGE = re.compile(r"[0-9]+(\.[0-9]+)?\s*[smhdw]")
_DURATION: TypeAdapter[timedelta] = TypeAdapter(Duration)


def read_moment(option: str, text: str) -> datetime:
    """Read a date as midnight UTC, so that it means the same in every time zone, or a moment. Raises ``UsageError``."""
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except ValueError:
        raise UsageError(f"{option}: {text!r} is no date", hint=MOMENT_FORMS) from None
    except OverflowError:
        raise _out_of_range(option, text) from None
    if not EARLIEST <= moment < LATEST:
        raise _out_of_range(option, text)
    return moment


def read_moment_or_age(option: str, text: str, now: datetime) -> datetime:
    """Read what ``read_moment`` reads, or an age, which is counted back from ``now``. Raises ``UsageError``."""
    if _AGE.fullmatch(text):
        age = read_age(option, text)
        if age > now - EARLIEST:
            raise _out_of_range(option, text)
        return now - age
    try:
        return read_moment(option, text)
    except UsageError as error:
        raise UsageError(str(error), hint=f"{error.hint} {AGE_FORMS}") from None


def read_age(option: str, text: str) -> timedelta:
    """Read a length of time in the form the configuration has it in, more than none. Raises ``UsageError``."""
    if not _AGE.fullmatch(text):
        raise UsageError(f"{option}: {text!r} is no age", hint=AGE_FORMS)
    try:
        return _DURATION.validate_python(text)
    except ValidationError:
        problem = f"{option}: {text!r} is not an age of more than nothing and at most {LONGEST.days} days"
        raise UsageError(problem, hint=AGE_FORMS) from None


def _out_of_range(option: str, text: str) -> UsageError:
    return UsageError(
        f"{option}: {text!r} is not in the years 1970 to 9998", hint=f"Without {option} there is no bound on that side."
    )
