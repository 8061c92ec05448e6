"""The first touch of a mailbox: its cursor is recorded before anything else is asked.

Whichever command comes first, poll, run or backfill, takes the cursor from getProfile and writes it down, so that
nothing can fall between a backfill and the first poll. Later touches only read.
"""

from __future__ import annotations

import structlog

from inbox_loop.errors import AnotherAccount
from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.loop.ports import MailboxRow, Profile

log = structlog.get_logger()


def find_or_register(mailbox: Mailbox) -> MailboxRow:
    """The mailbox's row, made from Gmail's profile at the first touch (1 unit).

    Raises ``AnotherAccount`` when the configuration, the sign-in and the store do not mean the same Gmail account:
    Gmail's ids are per account, so reading on would mix two mailboxes.
    """
    row = mailbox.store.find_mailbox()
    if row is None:
        profile = mailbox.gmail.find_profile()
        _check_same_account(mailbox, profile.address)
        row = mailbox.store.create_mailbox(profile.address, profile.history_id)
        hint = f"Mail from before now is read by: inbox-loop backfill --mailbox {mailbox.name}"
        log.info("mailbox.registered", mailbox=mailbox.name, cursor=str(row.cursor), hint=hint)
        _check_same_account(mailbox, profile.address, row)
    else:
        _check_same_account(mailbox, row.address, row)
    return row


def check_account(mailbox: Mailbox, row: MailboxRow) -> Profile:
    """Ask Gmail whose mailbox the sign-in opens (1 unit), and raise ``AnotherAccount`` unless it is this one's.

    For the start of a daemon, and where a pass needs the profile anyway; an idle poll does not pay for it.
    """
    profile = mailbox.gmail.find_profile()
    _check_same_account(mailbox, profile.address, row)
    return profile


def _check_same_account(mailbox: Mailbox, address: str, row: MailboxRow | None = None) -> None:
    if mailbox.address is not None and mailbox.address.lower() != address.lower():
        raise AnotherAccount(
            f"mailbox {mailbox.name!r} is configured with another address than its sign-in opens",
            hint=f"Correct mailboxes.address, or sign in with the right account: "
            f"inbox-loop auth login --mailbox {mailbox.name}",
        )
    if row is not None and row.address.lower() != address.lower():
        raise AnotherAccount(
            f"mailbox {mailbox.name!r} was first read with another Gmail account than its sign-in opens",
            hint="Give the new account a mailbox name of its own, or sign in again with the first account.",
        )
