"""The first touch of a mailbox: its cursor is recorded before anything else is asked.

Whichever command comes first, poll, run or backfill, takes the cursor from getProfile and writes it down, so that
nothing can fall between a backfill and the first poll. Later touches only read.
"""

from __future__ import annotations

import structlog

from inbox_loop.errors import AnotherAccount
from inbox_loop.loop.ledger import MailboxRow
from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.loop.ports import Profile

log = structlog.get_logger()


def find_or_register(mailbox: Mailbox) -> MailboxRow:
    """The mailbox's row, made from Gmail's profile at the first touch (1 unit).

    A sign-in that was not seen before is asked whose it is (1 unit), so that a new one can't make this mailbox read
    another account: Gmail's ids are per account, and the cursor would jump. Raises ``AnotherAccount``.
    """
    sign_in = mailbox.gmail.find_sign_in()
    row = mailbox.store.find_mailbox()
    if row is None:
        return _register(mailbox, sign_in)
    _check_declared(mailbox, row.address)
    if row.sign_in != sign_in:
        find_own_profile(mailbox, row)
        mailbox.store.in_transaction(lambda tx: tx.record_sign_in(sign_in))
    return row


def find_own_profile(mailbox: Mailbox, row: MailboxRow) -> Profile:
    """Gmail's profile, which must be of the account that the mailbox was first read with. Raises ``AnotherAccount``."""
    profile = mailbox.gmail.find_profile()
    _check_same(mailbox, row, profile)
    return profile


def _register(mailbox: Mailbox, sign_in: str) -> MailboxRow:
    profile = mailbox.gmail.find_profile()
    _check_declared(mailbox, profile.address)
    row = mailbox.store.create_mailbox(profile.address, profile.history_id, sign_in)
    _check_same(mailbox, row, profile)
    if row.cursor == profile.history_id:
        hint = f"Mail from before now is read by: inbox-loop backfill --mailbox {mailbox.name}"
        log.info("mailbox.registered", mailbox=mailbox.name, cursor=str(row.cursor), hint=hint)
    else:
        log.info("mailbox.taken_over", mailbox=mailbox.name, cursor=str(row.cursor))
    return row


def _check_declared(mailbox: Mailbox, address: str) -> None:
    if mailbox.address is not None and mailbox.address.lower() != address.lower():
        raise AnotherAccount(
            f"mailbox {mailbox.name!r} is configured with another address than that of its account",
            hint="Correct mailboxes.address, or sign in with the right account: "
            f"inbox-loop auth login --mailbox {mailbox.name}",
        )


def _check_same(mailbox: Mailbox, row: MailboxRow, profile: Profile) -> None:
    if row.address.lower() != profile.address.lower():
        raise AnotherAccount(
            f"mailbox {mailbox.name!r} was first read with another Gmail account than its sign-in opens",
            hint="Sign in again with the first account, or give the new one a mailbox of its own, with another name.",
        )
