"""One mailbox as a pass sees it: its Gmail side, its store, its policy and its limits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from inbox_loop.loop.ports import GmailMailbox, LoopStore
from inbox_loop.policy import Policy


@dataclass(frozen=True, slots=True)
class PassLimits:
    """What bounds a pass over a mailbox."""

    deadline_seconds: float
    """Longest time for one poll or reconcile. A backfill has no end of its own; each of its calls has."""
    gone_after: timedelta
    """How long a message that Gmail answers 404 for is tried again."""
    reconcile_window: timedelta
    """How far back a comparison with the listing looks."""


@dataclass(frozen=True, slots=True)
class Mailbox:
    """A mailbox, ready to be polled, backfilled and reconciled."""

    name: str
    tenant: str
    address: str | None
    """As the configuration declares it; None leaves it to the sign-in."""
    project: str | None
    gmail: GmailMailbox
    store: LoopStore
    policy: Policy
    limits: PassLimits
