"""The record of what was asked of the simulator, for assertions.

Lives here: ``Call``, one a request, token requests included.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Call:
    """One request and how it ended."""

    method: str
    """A name of ``quota.UNIT_COSTS``, or ``token``, ``consent``, ``revoke``, ``unknown``."""
    address: str | None
    """Whose mailbox; None where no valid token came with the call."""
    entity_id: str | None
    """The first id in the path: of the message or thread."""
    query: str
    units: int
    """Quota units it cost: 0 when it was throttled or met a fault."""
    status: int
    """HTTP status; 0 when no answer was sent."""
    at: float
    """Monotonic seconds when it came."""
    seconds: float
    """How long the answer took to make."""
    is_throttled: bool = False
