"""What the policy would make of a message, without making anything of it.

Lives here: a trial, and how it is shown. Not here: where messages come from (``policy_test.py``), and what becomes of a
real one: the cap of a sender and deleted tasks are the store's to know (``loop/settle.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from inbox_loop.commands.show import moment, print_records, print_table
from inbox_loop.draft import make_title
from inbox_loop.errors import InboxLoopError, UnreadableMessage
from inbox_loop.message.model import Message
from inbox_loop.policy import MakeTask, Policy, decide

TASK = "task"
SKIP = "skip"
UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Trial:
    """What would become of one message. What does not apply is None or empty."""

    decision: str
    date: datetime | None = None
    message_id: str | None = None
    gmail_labels: tuple[str, ...] = ()
    reason: str | None = None
    """Why it would be skipped, or why it could not be read."""
    rule: str | None = None
    project: str | None = None
    labels: tuple[str, ...] = ()
    priority: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Judge:
    """Tries messages of one mailbox: by its policy, with its project for tasks to which no rule gives another."""

    policy: Policy
    mailbox: str
    account: str
    project: str | None

    def try_message(self, message: Message) -> Trial:
        """The decision on a message that was read."""
        decision = decide(message, self.policy, mailbox=self.mailbox, account=self.account, project=self.project)
        seen = Trial(
            decision=SKIP,
            date=message.internal_date,
            message_id=message.message_id,
            gmail_labels=tuple(sorted(message.labels)),
            rule=decision.rule,
            title=make_title(message),
        )
        if not isinstance(decision, MakeTask):
            return replace(seen, reason=decision.reason.value)
        priority = decision.draft.source.get("priority")
        return replace(
            seen,
            decision=TASK,
            project=decision.draft.project,
            labels=decision.draft.labels,
            priority=None if priority is None else str(priority),
        )


def note_failure(failure: InboxLoopError, *, message_id: str | None = None, date: datetime | None = None) -> Trial:
    """The line of a message that could not be read."""
    reason = failure.reason if isinstance(failure, UnreadableMessage) else failure.code
    return Trial(UNREADABLE, date=date, message_id=message_id, reason=reason)


def print_trials(trials: Sequence[Trial]) -> None:
    """A row for each."""
    print_table(
        ("DATE", "DECISION", "WHY", "PROJECT", "LABELS", "PRIORITY", "TITLE"), [_cells(trial) for trial in trials]
    )


def print_trial_records(trials: Sequence[Trial]) -> None:
    """A JSON object for each."""
    print_records(
        {
            "date": trial.date,
            "message_id": trial.message_id,
            "decision": trial.decision,
            "reason": trial.reason,
            "rule": trial.rule,
            "project": trial.project,
            "labels": list(trial.labels),
            "priority": trial.priority,
            "title": trial.title,
            "gmail_labels": list(trial.gmail_labels),
        }
        for trial in trials
    )


def _cells(trial: Trial) -> tuple[str, ...]:
    why = f"rule {trial.rule}" if trial.rule else trial.reason
    texts = (trial.decision, why, trial.project, ", ".join(trial.labels), trial.priority, trial.title)
    return (moment(trial.date), *(text or "-" for text in texts))
