"""Every error this project raises on purpose: what happened, whether trying again helps, what to do.

Lives here: the tree of classes, with a stable ``code``, the process exit code and the retry advice of each.
Not here: how Google's or Postgres's answers map onto them (``gmail/answers.py``, ``repository/faults.py``).

Messages and hints are shown to people. They carry no mail text, no address and no secret.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

EXIT_FINE = 0
EXIT_LOOK = 1
EXIT_USAGE = 2
EXIT_PERSON = 3
EXIT_UNREACHABLE = 4


class InboxLoopError(Exception):
    """Base of the tree. ``str(error)`` is one sentence; ``hint`` is what the reader can do about it."""

    code: ClassVar[str] = "error"
    retryable: ClassVar[bool] = False
    exit_code: ClassVar[int] = EXIT_LOOK

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


# --- usage and configuration: exit 2 ---------------------------------------------------------------------------


class UsageError(InboxLoopError):
    """What was asked for is wrong in itself; asking again changes nothing."""

    code = "usage"
    exit_code = EXIT_USAGE


class InvalidRef(UsageError):
    """An external reference that does not parse, is too long, or names a container."""

    code = "ref.invalid"


class NoSuchTask(UsageError):
    """No task has this number or ref in this tenant."""

    code = "task.unknown"


class TaskConflict(UsageError):
    """What was asked for collides with a task that is there; ``task_number`` is that task's."""

    code = "task.conflict"

    def __init__(self, message: str, *, task_number: int | None = None, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.task_number = task_number


class IllegalMove(TaskConflict):
    """The task's status does not allow this step; the message names the status it has."""

    code = "task.illegal_move"


class RefTaken(TaskConflict):
    """Another live task holds the external_ref."""

    code = "task.ref_taken"


class IdempotencyConflict(TaskConflict):
    """The idempotency key was used within 72 hours for a task with another project, title or parent."""

    code = "task.key_conflict"


class NoSuchMessage(UsageError):
    """The ledger has no such message."""

    code = "message.unknown"


class MessageSettled(UsageError):
    """The message has an outcome that the step asked for does not change; the hint names the one that does."""

    code = "message.settled"


class NoSuchTenant(UsageError):
    """No tenant has this slug."""

    code = "tenant.unknown"


class NoSuchProject(UsageError):
    """The tenant has no project of this name."""

    code = "project.unknown"


class NoSuchMailbox(UsageError):
    """The configuration has no mailbox of this name."""

    code = "mailbox.unknown"


class InvalidValue(UsageError):
    """A field's value breaks a named rule of the store (too long, empty, not allowed)."""

    code = "value.invalid"


class DatabaseOutdated(UsageError):
    """The schema is older (or newer) than this program; nothing was touched."""

    code = "database.outdated"


class MailUnavailable(UsageError):
    """A folder or file of mail that was named does not exist or holds no mail."""

    code = "mail.unavailable"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with the configuration, named by its dotted key."""

    key: str
    message: str


class ConfigError(UsageError):
    """Everything that is wrong with the configuration, all at once."""

    code = "config.invalid"

    def __init__(self, problems: tuple[Problem, ...], *, hint: str = "") -> None:
        super().__init__("\n".join(f"{p.key}: {p.message}" for p in problems), hint=hint)
        self.problems = problems


# --- a person must act: exit 3 -----------------------------------------------------------------------------------


class NeedsPerson(InboxLoopError):
    """Nothing the program does will help until a person has acted; the mailbox is paused."""

    code = "mailbox.needs_person"
    exit_code = EXIT_PERSON


class NeedsAuth(NeedsPerson):
    """The sign-in is missing, unreadable, revoked or expired."""

    code = "mailbox.needs_auth"


class GmailRefused(NeedsPerson):
    """Gmail answers, and says no: scope, API switched off, domain policy."""

    code = "gmail.refused"


class AnotherAccount(NeedsPerson):
    """The sign-in belongs to another Gmail account than the one this mailbox was first read with."""

    code = "mailbox.another_account"


# --- unreachable, trying again helps: exit 4 ----------------------------------------------------------------------


class Unreachable(InboxLoopError):
    """Passing trouble outside of this program."""

    code = "unreachable"
    retryable = True
    exit_code = EXIT_UNREACHABLE


class GmailUnreachable(Unreachable):
    """Gmail or its token endpoint does not answer, or answers with a passing fault."""

    code = "gmail.unreachable"


class GmailThrottled(Unreachable):
    """Gmail says slow down. ``retry_after`` is in seconds, 0 when Gmail named no time."""

    code = "gmail.throttled"

    def __init__(self, message: str, *, hint: str = "", retry_after: float = 0.0) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class GmailParked(Unreachable):
    """A daily cap set by the owner of the Google project is used up; hours, not seconds."""

    code = "gmail.parked"


class DeadlineExceeded(Unreachable):
    """A pass used up its time; what it had finished stands, the rest is for the next pass."""

    code = "pass.deadline"


class Stopped(InboxLoopError):
    """The operator asked to stop; what was finished stands, the rest is for the next start."""

    code = "stopped"
    retryable = True


class DatabaseUnreachable(Unreachable):
    """Postgres does not answer, or can't serve right now."""

    code = "database.unreachable"


class DatabaseConflict(Unreachable):
    """A transaction lost a race (SQLSTATE 40001, 40P01, 55P03) more often than it was retried."""

    code = "database.conflict"


class DatabaseRefused(InboxLoopError):
    """Postgres said no in a way that is neither a race nor a broken rule: a missing right, or a mistake of ours."""

    code = "database.refused"


class MailboxBusy(Unreachable):
    """Another process reads the mailbox's messages right now, and goes on doing so."""

    code = "mailbox.busy"


class ResultLost(InboxLoopError):
    """Standard output took no more: the disk is full, or nobody reads it. What the command did is done."""

    code = "result.lost"


class ReaderUnavailable(Unreachable):
    """No process can be started to read messages in. It says nothing about any message."""

    code = "reader.unavailable"


class ReadingInterrupted(Unreachable):
    """The process that read a message was stopped from outside, or had no time to work. The message may be fine."""

    code = "reading.interrupted"


class EmbeddedUnavailable(Unreachable):
    """The private Postgres could not be started; the hint says what is missing."""

    code = "embedded.unavailable"


# --- facts about one message or one mailbox, handled inside the loop ---------------------------------------------


class HistoryExpired(InboxLoopError):
    """Gmail no longer has the history since the cursor (404 on history.list). The mailbox is healthy."""

    code = "history.expired"


class MessageGone(InboxLoopError):
    """Gmail answered 404 for this message: deleted, a replaced draft, or not visible yet."""

    code = "message.gone"


class NoTaskMade(InboxLoopError):
    """A person asked for a task of a message, and it made none, or none yet; the ledger has the reason."""

    code = "message.no_task"


class UnreadableMessage(InboxLoopError):
    """Gmail's answer for this message could not be turned into a Message. ``reason`` is a short code."""

    code = "message.unreadable"

    def __init__(self, message: str, *, reason: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.reason = reason
