"""The relay: new tasks are announced by NOTIFY after the commit that created them.

Lives here: announcing all there is, and the form in which commands do it at their end. Not here: posting to a webhook,
and closing what nobody is posted to, which are the daemon's alone (``daemon_outbox.py``).
"""

from __future__ import annotations

import structlog

from inbox_loop.errors import InboxLoopError
from inbox_loop.repository.database import Database
from inbox_loop.repository.outbox import PostgresOutbox

# Announced in one transaction.
BATCH = 500

log = structlog.get_logger()


def announce_all(outbox: PostgresOutbox) -> int:
    """Announce what was not announced yet, in batches; how many. A pure read when there is nothing.

    Raises what the outbox raises.
    """
    if not outbox.find_unannounced():
        return 0
    total = 0
    while (count := outbox.announce(BATCH)) > 0:
        total += count
        if count < BATCH:
            break
    return total


def announce_created(database: Database) -> None:
    """Announce what this command, or anyone, has created. Never raises: the command has done its work.

    What could not be announced now is announced by the daemon or by the next command. Whether anything is posted is not
    for a command to say: its configuration may lack the daemon's webhook.
    """
    try:
        announce_all(PostgresOutbox(database))
    except InboxLoopError as error:
        log.warning("outbox.interrupted", step="announce", hint=error.hint, exc_info=error)
    except Exception:
        log.exception("outbox.fault", step="announce")
