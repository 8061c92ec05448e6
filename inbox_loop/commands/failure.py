"""How a failed command is told: in words for people, and as a record for programs.

Lives here: both forms. Not here: which endings are failures (``app.py``).
"""

from __future__ import annotations

from inbox_loop.commands.show import print_error, print_records
from inbox_loop.errors import InboxLoopError, ResultLost, TaskConflict


def tell_failure(error: InboxLoopError, *, as_json: bool) -> None:
    """Say what went wrong on standard error and, for a program, on standard output as a record as well."""
    print_error(str(error), error.hint)
    if not as_json:
        return
    try:
        print_records([error_record(error)])
    except ResultLost as lost:
        print_error(str(lost))


def error_record(error: InboxLoopError) -> dict[str, object]:
    """Why a command failed. ``task_number`` is the task that what was asked for collides with, if it does."""
    return {
        "error": error.code,
        "message": str(error),
        "hint": error.hint,
        "retryable": error.retryable,
        "task_number": error.task_number if isinstance(error, TaskConflict) else None,
    }
