"""The daemon's heartbeat: once a minute it tells the database how its mailboxes are.

So that ``status`` tells the truth from any machine. Not a write a poll: an idle poll writes nothing.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from inbox_loop.errors import DatabaseUnreachable, InboxLoopError
from inbox_loop.loop.watch import Watch
from inbox_loop.repository.database import Database
from inbox_loop.repository.health import record_heartbeat

INTERVAL_SECONDS = 60.0
# By then the first polls have said how they went.
FIRST_SECONDS = 5.0

log = structlog.get_logger()


def _this_daemon() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Speaks for the watches of one daemon."""

    database: Database
    watches: Sequence[Watch]
    daemon: str = field(default_factory=_this_daemon)

    def beat(self) -> bool:
        """Write a row a mailbox; whether the database could be reached. Trouble is logged, and told the next time.

        A database that is away is not asked again for the other mailboxes: each would wait for it as long.
        """
        for watch in self.watches:
            health = watch.health
            try:
                record_heartbeat(
                    self.database,
                    watch.tenant,
                    health.name,
                    daemon=self.daemon,
                    last_good_poll_at=health.last_good_poll_at,
                    last_error=health.last_error,
                )
            except InboxLoopError as error:
                log.warning("heartbeat.failed", mailbox=health.name, hint=error.hint, exc_info=error)
                if isinstance(error, DatabaseUnreachable):
                    return False
        return True
