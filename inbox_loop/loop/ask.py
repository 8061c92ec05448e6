"""An ask: a message that was read and wants a task, on its way from ingest to the store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from inbox_loop.loop.ledger import Due, MessageState, Outcome, SenderHour
from inbox_loop.task import TaskDraft


@dataclass(frozen=True, slots=True)
class Ask:
    """A message that was read and wants a task."""

    due: Due
    thread_id: str
    internal_date: datetime
    draft: TaskDraft
    rule: str | None = None
    """The name of the rule that wants the task; None when none matched."""
    sender: str | None = None
    """As ``policy.find_sender`` says; None when the message names none."""

    @property
    def message_id(self) -> str:
        """Of the message that asks."""
        return self.due.message_id

    @property
    def revision(self) -> int:
        """Of the ledger row it was read for."""
        return self.due.revision

    @property
    def sender_hour(self) -> SenderHour | None:
        """What the cap counts it by; None without a sender."""
        return None if self.sender is None else SenderHour.of(self.sender, self.internal_date)

    def outcome(self, state: MessageState, reason: str | None = None, task_id: UUID | None = None) -> Outcome:
        """What is recorded of it when it came to ``state``."""
        return Outcome(
            self.message_id,
            self.revision,
            state,
            reason,
            task_id=task_id,
            thread_id=self.thread_id,
            internal_date=self.internal_date,
            rule=self.rule,
            sender=self.sender,
        )
