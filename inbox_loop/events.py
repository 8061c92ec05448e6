"""Every event the log can hold: its name, level and fields, what it means, and what to do about it.

Lives here: the catalogue. A test holds it against the code: what is emitted is listed, and what is listed is emitted.
Not here: how a line looks (``commands/logs.py``).

Every line has ``timestamp`` (UTC), ``level`` and ``event``. A line about an exception also has ``error_type``,
``error``, ``error_stack`` and, where they apply, ``error_code`` and ``error_causes``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["debug", "info", "warning", "error"]

_REPORT = ("discovered", "created", "found", "skipped", "quarantined", "gone", "pending")
_COST = ("api_calls", "quota_units", "duration_ms")


@dataclass(frozen=True, slots=True)
class Event:
    """One kind of log line."""

    name: str
    level: Level
    fields: tuple[str, ...]
    meaning: str
    action: str = "Nothing."


EVENTS = (
    # --- the daemon ---
    Event("daemon.started", "info", ("version", "pid", "mailboxes"), "The daemon begins."),
    Event("daemon.ready", "info", ("mailboxes",), "Database and schedule are up; polls run from now on."),
    Event("daemon.reloaded", "info", ("mailboxes",), "The configuration was read again and is in force."),
    Event("daemon.stopping", "info", ("signal",), "The daemon was asked to stop and ends what it has begun."),
    Event(
        "daemon.stopped",
        "info",
        ("uptime_seconds",),
        "The daemon has ended; what was unfinished is for the next start.",
    ),
    Event(
        "config.invalid",
        "error",
        ("problems",),
        "The configuration was to be read again and has mistakes; the earlier one stays in force.",
        "Correct the keys that the line names, and reload.",
    ),
    # --- mailboxes ---
    Event(
        "mailbox.registered", "info", ("mailbox", "cursor"), "A mailbox was read for the first time and has its cursor."
    ),
    Event(
        "mailbox.needs_auth",
        "error",
        ("mailbox",),
        "The mailbox's sign-in is missing, revoked or refused. The mailbox is paused; the others go on.",
        "Run inbox-loop auth login --mailbox NAME. Nothing is lost: it goes on from its cursor.",
    ),
    Event("mailbox.recovered", "info", ("mailbox",), "A mailbox that was failing or paused was read again."),
    Event(
        "mailbox.failed",
        "error",
        ("mailbox", "retry_in_seconds"),
        "A pass over the mailbox ended in an error; its cursor did not move past what is missing.",
        "Passing trouble heals by itself. Look at error_code when it stays.",
    ),
    Event(
        "gmail.throttled",
        "warning",
        ("mailbox", "retry_after_seconds"),
        "Gmail asked to be asked less. The mailbox waits, then goes on.",
        "When it is frequent, lower gmail.units_per_minute to the quota of the Google project.",
    ),
    Event(
        "history.expired",
        "warning",
        ("mailbox", "cursor"),
        "Gmail no longer has the changes since the cursor; the mailbox is listed instead, and nothing is lost.",
    ),
    # --- passes ---
    Event("poll.finished", "info", ("mailbox", *_REPORT, *_COST, "cursor"), "One pass over a mailbox's history."),
    Event("backfill.progress", "info", ("mailbox", *_REPORT, *_COST), "A backfill is under way."),
    Event("backfill.finished", "info", ("mailbox", *_REPORT, *_COST, "complete"), "A backfill ended."),
    Event(
        "reconcile.finished",
        "info",
        ("mailbox", *_REPORT, *_COST, "listed", "missing"),
        "Gmail's listing was compared with the ledger, and what was missing was recorded.",
        "When missing is not 0 time and again, polls lose messages: keep the lines and report them.",
    ),
    # --- messages ---
    Event("task.created", "info", ("mailbox", "message_id", "ref", "number"), "A message became a task."),
    Event("message.skipped", "info", ("mailbox", "message_id", "reason"), "A message makes no task, for this reason."),
    Event(
        "message.quarantined",
        "error",
        ("mailbox", "message_id", "reason"),
        "A message could not be turned into a task. It is kept, and does not hold up the others.",
        "Run inbox-loop messages explain MESSAGE_ID.",
    ),
    Event("message.gone", "info", ("mailbox", "message_id"), "A message was deleted in Gmail before it could be read."),
    # --- the program ---
    Event(
        "command.failed",
        "error",
        ("command",),
        "A command ended in an error that nobody foresaw.",
        "Report the line.",
    ),
    Event("thread.failed", "error", ("thread",), "A thread ended in an error that nobody foresaw.", "Report the line."),
    Event(
        "finalizer.failed",
        "error",
        (),
        "Something went wrong while an object was cleared away; the work goes on.",
        "Report the line.",
    ),
    Event(
        "library.warned",
        "warning",
        ("library", "line", "template"),
        "A library wrote a warning. Its text may quote mail and is left out; library and line say where it came from.",
    ),
)
