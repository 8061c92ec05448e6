"""Whether a name on the command line names anything.

Lives here: the check, so that a misspelt ``--mailbox`` is an error and not an empty list.
"""

from __future__ import annotations

from inbox_loop.commands.options import unknown_mailbox
from inbox_loop.repository.database import Database
from inbox_loop.repository.health import list_mailbox_health
from inbox_loop.settings import Settings


def check_mailbox(database: Database, settings: Settings, *, tenant: str, mailbox: str | None) -> None:
    """Raise ``NoSuchMailbox`` when ``mailbox`` is neither configured nor in the database. None is no name at all."""
    configured = {each.name for each in settings.mailboxes}
    if mailbox is None or mailbox in configured:
        return
    stored = {health.name for health in list_mailbox_health(database, tenant)}
    if mailbox not in stored:
        raise unknown_mailbox(mailbox, sorted(configured | stored))
