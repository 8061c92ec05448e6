"""Every event the log can hold: its name, level and fields, what it means, and what to do about it.

Lives here: the catalogue. A test holds it against the code: what is emitted is listed, and what is listed is emitted.
Not here: how a line looks (``commands/logs.py``).

Every line has ``timestamp`` (UTC), ``level`` and ``event``. ``error`` is the code of an error of this project, else the
type of a foreign one. A line about an exception also has ``error_type``, ``error_stack`` and, where they apply,
``message`` and ``error_causes``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["debug", "info", "warning", "error"]

# Of one pass over a mailbox, whichever kind.
_REPORT = (
    "mailbox",
    "discovered",
    "created",
    "found",
    "skipped",
    "quarantined",
    "gone",
    "pending",
    "api_calls",
    "quota_units",
    "duration_ms",
    "cursor",
    "listed",
    "known",
    "complete",
)


@dataclass(frozen=True, slots=True)
class Event:
    """One kind of log line."""

    name: str
    level: Level
    fields: tuple[str, ...]
    meaning: str
    action: str = "Nothing."


_DAEMON = (
    Event("daemon.started", "info", ("version", "pid", "mailboxes"), "The daemon begins."),
    Event("daemon.ready", "info", ("mailboxes",), "The database and every mailbox are opened; polls begin."),
    Event(
        "daemon.no_mailbox",
        "warning",
        ("hint",),
        "No mailbox is configured, or none is enabled, so no mail is read. New tasks are told of, and what is over is "
        "purged, all the same.",
        "Do what the hint says, unless that is what you want.",
    ),
    Event("daemon.reloaded", "info", ("mailboxes",), "The configuration was read again, and is in force from now on."),
    Event("daemon.stopping", "info", (), "The daemon was asked to stop, and ends what it has begun."),
    Event(
        "daemon.stopped", "info", ("uptime_seconds",), "The daemon has ended. What is unfinished is for the next start."
    ),
    Event(
        "config.invalid",
        "error",
        ("problems", "hint"),
        "The configuration was read again, and the daemon could not run with it: it has mistakes, or its database "
        "can't be used right now. The earlier one stays in force.",
        "Mend what the line names, and send SIGHUP again.",
    ),
    Event(
        "heartbeat.failed",
        "warning",
        ("mailbox", "hint"),
        "The daemon could not tell the database how the mailbox is, so inbox-loop status may call it silent.",
        "Passing trouble heals by itself; when it stays, look at the database.",
    ),
)

_MAILBOXES = (
    Event(
        "mailbox.registered",
        "info",
        ("mailbox", "cursor", "hint"),
        "The mailbox was touched for the first time: it is followed from here on.",
        "Run a backfill for the mail from before.",
    ),
    Event(
        "mailbox.taken_over",
        "info",
        ("mailbox", "cursor"),
        "The database has this account's mailbox already, under its former name or from another process just now: it "
        "is followed on from its cursor, with all that is known of it.",
    ),
    Event(
        "mailbox.needs_auth",
        "error",
        ("mailbox", "hint"),
        "A person must act: the sign-in is missing, revoked, refused or of another account. The mailbox is paused; the "
        "others go on.",
        "Do what the hint says. Nothing is lost: the mailbox goes on from its cursor.",
    ),
    Event(
        "mailbox.failed",
        "error",
        ("mailbox", "hint"),
        "A pass met trouble; the cursor did not move past what is missing. Said when it begins and every 15 minutes.",
        "Passing trouble heals by itself; when it stays, the message says where to look.",
    ),
    Event(
        "mailbox.fault",
        "error",
        ("mailbox",),
        "A pass ended in an error that nobody foresaw; the next one is tried as usual.",
        "Report the line.",
    ),
    Event(
        "mailbox.recovered", "info", ("mailbox", "error"), "The mailbox is read again, after the error that is named."
    ),
    Event(
        "mailbox.token_not_saved",
        "warning",
        ("mailbox", "reason"),
        "Google replaced the mailbox's refresh token, and the new one could not be written to the token file.",
        "Let the daemon's user write the token file and its folder, else a restart may need a new sign-in.",
    ),
    Event(
        "gmail.throttled",
        "warning",
        ("mailbox", "method", "wait_seconds"),
        "Gmail asked to be asked less. The mailbox waits, then goes on.",
        "When it is frequent, set gmail.units_per_minute to the quota of your Google project.",
    ),
    Event(
        "history.expired",
        "warning",
        ("mailbox", "cursor"),
        "Gmail no longer has the changes since the cursor; the mailbox is listed instead, and nothing is lost.",
    ),
)

_PASSES = (
    Event(
        "poll.finished", "info", _REPORT, "One pass over a mailbox's history. An idle mailbox says so once a minute."
    ),
    Event("backfill.progress", "info", ("mailbox", "listed", "known", "done", "remaining"), "A backfill is under way."),
    Event(
        "backfill.finished",
        "info",
        _REPORT,
        "A backfill ended.",
        "When complete is false, run the same command again: it goes on where it stopped.",
    ),
    Event(
        "reconcile.finished",
        "info",
        _REPORT,
        "Gmail's listing was compared with the ledger, and what was missing was recorded.",
        "When discovered is not 0 time and again, polls miss messages: keep the lines and report them.",
    ),
)

_MESSAGES = (
    Event("task.created", "info", ("mailbox", "message_id", "ref", "task_number"), "A message became a task."),
    Event(
        "message.skipped",
        "info",
        ("mailbox", "message_id", "reason", "rule"),
        "A message makes no task, for this reason. The rule is named when one of the configuration decided.",
    ),
    Event(
        "message.quarantined",
        "error",
        ("mailbox", "message_id", "reason"),
        "A message could not be turned into a task. It is kept, and does not hold up the others.",
        "Run inbox-loop messages explain MESSAGE_ID.",
    ),
    Event(
        "reading.crashed",
        "error",
        ("error",),
        "Reading a message crashed. The error says where; message.quarantined, which follows, says which.",
        "Report the line.",
    ),
    Event(
        "message.undecidable",
        "error",
        ("mailbox", "message_id"),
        "The rules failed on a message, which goes to quarantine; the stack says where.",
        "Report the line.",
    ),
    Event(
        "message.gone",
        "warning",
        ("mailbox", "message_id", "reason"),
        "Gmail has no such message any more: it was deleted before it could be read.",
    ),
)

_DELIVERY = ("tenant", "task_number", "event_id", "attempts")
_OUTBOX = (
    Event("outbox.delivered", "info", _DELIVERY, "The webhook's receiver has taken a notification."),
    Event(
        "outbox.failed",
        "warning",
        (*_DELIVERY, "reason", "retry_in_seconds"),
        "A post to the webhook failed for the reason named, and is tried again after that time.",
        "Passing trouble heals by itself; when it stays, look at the receiver.",
    ),
    Event(
        "outbox.gave_up",
        "error",
        (*_DELIVERY, "reason"),
        "A post to the webhook failed too often, or the receiver answered that it is gone for good (410).",
        "Mend the receiver or outbox.webhook_url, then run inbox-loop outbox retry.",
    ),
    Event(
        "outbox.interrupted",
        "warning",
        ("step", "hint"),
        "New tasks can't be announced, or deliveries not be recorded. Said when it begins, changes, and every 15 "
        "minutes; it is tried again all the time, and nothing is lost.",
        "Passing trouble heals by itself; when it stays, the message says where to look.",
    ),
    Event(
        "outbox.fault",
        "error",
        ("step",),
        "The same, for an error that nobody foresaw.",
        "Report the line.",
    ),
    Event("outbox.recovered", "info", ("step", "error"), "It works again, after the error that is named."),
    Event(
        "retention.purged",
        "info",
        ("tasks", "keys"),
        "Tasks that are over for longer than the retention settings allow, and expired idempotency keys, were purged.",
    ),
    Event(
        "retention.failed",
        "warning",
        ("hint",),
        "The hourly purge met trouble; what it had purged stands, and the next one goes on.",
        "Passing trouble heals by itself; when it stays, the message says where to look.",
    ),
)

_PROGRAM = (
    Event(
        "command.failed", "error", ("command",), "A command ended in an error that nobody foresaw.", "Report the line."
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
    Event("library.failed", "error", ("library", "line", "template"), "The same for an error that a library wrote."),
)

EVENTS = (*_DAEMON, *_MAILBOXES, *_PASSES, *_MESSAGES, *_OUTBOX, *_PROGRAM)
