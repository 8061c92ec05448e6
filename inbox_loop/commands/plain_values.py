"""What may stand in a log line: plain values, and of exceptions only what can't hold mail text.

Lives here: turning any value into one that is safe to log. Not here: the log itself (``logs.py``).

An exception's text is written by whoever raised it and may quote what it stumbled over: a header, an address, a
token. Only the errors of this project promise not to, so only their text is logged. Of the others remain the type,
the places in the code it passed through, and the error number of the system or the state of the database.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from traceback import walk_tb
from uuid import UUID

from inbox_loop.errors import InboxLoopError

Plain = str | int | float | bool | None | list["Plain"] | dict[str, "Plain"]

_MAX_CAUSES = 5
_MAX_FRAMES = 20


def plain(value: object) -> Plain:
    """``value`` as JSON can hold it. What is not known to be harmless becomes the name of its type."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    return _text(value)


def _text(value: object) -> str:
    match value:
        case str() | Path() | UUID():
            return str(value)
        case BaseException():
            return describe_error(value)
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case _:
            return f"<{type(value).__name__}>"


def describe_error(error: BaseException) -> str:
    """One word: for an error of this project its code, for any other its type, with its number or state."""
    if isinstance(error, InboxLoopError):
        return error.code
    name = type(error).__name__
    number = error.errno if isinstance(error, OSError) else None
    # psycopg's errors carry Postgres's five characters; asking by name keeps psycopg in repository/.
    state = errno.errorcode.get(number) if number is not None else getattr(error, "sqlstate", None)
    return f"{name} ({state})" if state else name


def error_fields(error: BaseException) -> dict[str, Plain]:
    """The fields of a log line that tell of an exception: code and type, text if it is ours, causes and stack."""
    fields: dict[str, Plain] = {"error": describe_error(error), "error_type": type(error).__name__}
    if isinstance(error, InboxLoopError):
        fields["message"] = str(error)
    if causes := [describe_error(cause) for cause in _causes(error)]:
        fields["error_causes"] = ", ".join(causes)
    fields["error_stack"] = " > ".join(_stack(error))
    return fields


def _causes(error: BaseException) -> Iterator[BaseException]:
    """What it was raised from, nearest first."""
    for _ in range(_MAX_CAUSES):
        cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        if cause is None:
            return
        yield cause
        error = cause


def _stack(error: BaseException) -> list[str]:
    """The innermost places it passed through, outermost first: module, line and function. No values."""
    places = [
        f"{frame.f_globals.get('__name__', '?')}:{line} {frame.f_code.co_name}"
        for frame, line in walk_tb(error.__traceback__)
    ]
    return places[-_MAX_FRAMES:]
