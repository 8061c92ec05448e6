"""Reading a message of the ledger afresh from Gmail, to show all of it. Changes nothing about the message.

Apart from ``messages_explain.py``, because Google's client takes half a second to import.
"""

from __future__ import annotations

from inbox_loop.commands.mailboxes import open_mailboxes
from inbox_loop.commands.rereading import Place, find_configured
from inbox_loop.errors import InboxLoopError, MessageGone
from inbox_loop.loop.ports import MessageId
from inbox_loop.loop.register import find_or_register
from inbox_loop.message.model import Message
from inbox_loop.repository.messages import LedgerRow


def read_afresh(place: Place, row: LedgerRow) -> Message:
    """The message as Gmail has it now. Raises what its reading or its mailbox fails with."""
    settings = find_configured(place, row.mailbox)
    with open_mailboxes(place.settings, [settings], place.database, place.stop) as mailboxes:
        mailbox = mailboxes[row.mailbox]
        with mailbox.gmail.within(mailbox.limits.deadline_seconds):
            find_or_register(mailbox)
            for fetched in mailbox.gmail.fetch_messages([MessageId(row.message_id, row.thread_id)]):
                return _check(fetched.result)
    raise MessageGone("Gmail did not answer for this message", hint="Try again in a moment.")


def _check(result: Message | InboxLoopError) -> Message:
    if isinstance(result, InboxLoopError):
        raise result
    return result
