"""How the outbox is, for ``inbox-loop status``: what waits, since when, and what was given up. Pure.

Not here: asking (``status.py``), and the single deliveries (``outbox_list.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from inbox_loop.commands.show import in_words
from inbox_loop.errors import EXIT_FINE, EXIT_LOOK
from inbox_loop.repository.outbox import OutboxState
from inbox_loop.settings import OutboxSettings


@dataclass(frozen=True, slots=True)
class OutboxStatus:
    """The outbox in short."""

    waiting: int
    """To be delivered to the webhook; without one, to be announced."""
    oldest_waiting_at: datetime | None
    given_up: int

    @property
    def exit_code(self) -> int:
        """Whether something needs a look."""
        return EXIT_LOOK if self.given_up else EXIT_FINE


def judge_outbox(state: OutboxState, settings: OutboxSettings) -> OutboxStatus:
    """What of the state counts: without a webhook nobody waits for a delivery."""
    if settings.webhook_url is None:
        return OutboxStatus(state.unannounced, state.oldest_unannounced_at, state.given_up)
    return OutboxStatus(state.undelivered, state.oldest_undelivered_at, state.given_up)


def outbox_record(status: OutboxStatus, now: datetime) -> dict[str, object]:
    """A line of JSON of its own kind: the lines of mailboxes have no ``outbox``."""
    age = _age(status, now)
    return {
        "outbox": {
            "waiting": status.waiting,
            "oldest_waiting_at": status.oldest_waiting_at,
            "oldest_waiting_age_seconds": None if age is None else round(age.total_seconds()),
            "given_up": status.given_up,
        }
    }


def outbox_sentence(status: OutboxStatus, now: datetime) -> str:
    """A line for people."""
    age = _age(status, now)
    since = "" if age is None else f", the oldest for {in_words(age)}"
    advice = " See inbox-loop outbox list." if status.given_up else ""
    return f"Outbox: {status.waiting} waiting{since}; {status.given_up} given up.{advice}"


def _age(status: OutboxStatus, now: datetime) -> timedelta | None:
    return None if status.oldest_waiting_at is None else max(timedelta(), now - status.oldest_waiting_at)
