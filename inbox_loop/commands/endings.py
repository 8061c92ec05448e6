"""How a pass over each of several mailboxes ended, and what that means for the exit code.

One mailbox's trouble does not delay another: passes run side by side, and every one comes to an ending.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

from inbox_loop.commands.show import print_error, print_records, print_table
from inbox_loop.errors import EXIT_FINE, EXIT_LOOK, EXIT_PERSON, InboxLoopError, NeedsPerson
from inbox_loop.loop.report import PassReport

SIDE_BY_SIDE = 8

_COLUMNS = ("discovered", "created", "found", "skipped", "quarantined", "gone", "pending", "api_calls", "quota_units")
_HEADINGS = ("MAILBOX", "DISCOVERED", "CREATED", "FOUND", "SKIPPED", "QUARANTINED", "GONE", "PENDING", "CALLS", "UNITS")


@dataclass(frozen=True, slots=True)
class Ending:
    """The report of a mailbox's pass, or what it failed with."""

    mailbox: str
    result: PassReport | InboxLoopError


def run_passes(passes: Mapping[str, Callable[[], PassReport]]) -> tuple[Ending, ...]:
    """Run each mailbox's pass, several at a time; one ending a mailbox, in the order given."""

    def end(name: str) -> Ending:
        try:
            return Ending(name, passes[name]())
        except InboxLoopError as error:
            return Ending(name, error)

    with ThreadPoolExecutor(max_workers=min(SIDE_BY_SIDE, max(1, len(passes)))) as pool:
        return tuple(pool.map(end, passes))


def exit_code_of(endings: Sequence[Ending]) -> int:
    """The process's exit code: a person must act, else the trouble that all met, else whether to look."""
    errors = [ending.result for ending in endings if isinstance(ending.result, InboxLoopError)]
    reports = [ending.result for ending in endings if isinstance(ending.result, PassReport)]
    if any(isinstance(error, NeedsPerson) for error in errors):
        return EXIT_PERSON
    if errors and not reports:
        return max(error.exit_code for error in errors)
    return EXIT_LOOK if errors or any(report.needs_a_look for report in reports) else EXIT_FINE


def _record(ending: Ending) -> dict[str, object]:
    if isinstance(ending.result, PassReport):
        return asdict(ending.result)
    error = ending.result
    return {"mailbox": ending.mailbox, "error": error.code, "message": str(error), "hint": error.hint}


def print_endings(endings: Sequence[Ending], *, as_json: bool) -> None:
    """Reports on standard output, failures on standard error (in JSON, both are lines of the output)."""
    if as_json:
        print_records(_record(ending) for ending in endings)
        return
    reports = [asdict(ending.result) for ending in endings if isinstance(ending.result, PassReport)]
    if reports:
        print_table(_HEADINGS, [(report["mailbox"], *(str(report[name]) for name in _COLUMNS)) for report in reports])
    for ending in endings:
        if isinstance(ending.result, InboxLoopError):
            print_error(f"mailbox {ending.mailbox}: {ending.result}", ending.result.hint)
