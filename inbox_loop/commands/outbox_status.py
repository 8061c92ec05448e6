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

# Neither a restart of the daemon nor a receiver's short outage takes so long.
LATE_AFTER = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class OutboxStatus:
    """The outbox in short."""

    waiting: int
    """To be delivered to the webhook; without one, to be announced."""
    oldest_waiting_at: datetime | None
    given_up: int
    waited: timedelta | None
    """How long the oldest has waited; None when none waits."""
    has_receiver: bool
    """Whether a webhook is configured: else nobody misses what was given up."""

    @property
    def is_late(self) -> bool:
        """Whether the oldest has waited for longer than it takes when all is well."""
        return self.waited is not None and self.waited > LATE_AFTER

    @property
    def exit_code(self) -> int:
        """Whether something needs a look."""
        return EXIT_LOOK if self.is_late or (self.given_up and self.has_receiver) else EXIT_FINE


def judge_outbox(state: OutboxState, settings: OutboxSettings, now: datetime) -> OutboxStatus:
    """What of the state counts: without a webhook nobody waits for a delivery."""
    has_receiver = settings.webhook_url is not None
    waiting, since = state.unannounced, [state.oldest_unannounced_at]
    if has_receiver:
        waiting = max(waiting, state.undelivered)
        since.append(state.oldest_undelivered_at)
    oldest = min((each for each in since if each is not None), default=None)
    waited = None if oldest is None else max(timedelta(), now - oldest)
    return OutboxStatus(waiting, oldest, state.given_up, waited, has_receiver)


def outbox_record(status: OutboxStatus) -> dict[str, object]:
    """A line of JSON of its own kind: the lines of mailboxes have no ``outbox``."""
    return {
        "outbox": {
            "waiting": status.waiting,
            "oldest_waiting_at": status.oldest_waiting_at,
            "oldest_waiting_age_seconds": None if status.waited is None else round(status.waited.total_seconds()),
            "given_up": status.given_up,
        }
    }


def outbox_sentence(status: OutboxStatus) -> str:
    """A line for people."""
    since = "" if status.waited is None else f", the oldest for {in_words(status.waited)}"
    late = " That is too long: see that inbox-loop run is running, and what its log says." if status.is_late else ""
    advice = " See inbox-loop outbox list." if status.given_up else ""
    return f"Outbox: {status.waiting} waiting{since}; {status.given_up} given up.{late}{advice}"
