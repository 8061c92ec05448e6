"""From mail to a decision, as the loop reads it, without Gmail and Postgres."""

from __future__ import annotations

from datetime import UTC, datetime

from inbox_loop.errors import UnreadableMessage
from inbox_loop.message.mime import Part
from inbox_loop.message.raw import parse_mail
from inbox_loop.message.read import read_message
from inbox_loop.policy import MakeTask, Policy, Skip, decide

_MOMENT = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)
_POLICY = Policy(own_addresses=frozenset({"support@example.org"}), skip_bulk=True, skip_auto_replies=True)


def read_raw_and_decide(raw: bytes) -> MakeTask | Skip | None:
    """What becomes of the bytes of a mail; None if they can't be read."""
    root = parse_mail(raw)
    return None if root is None else read_and_decide(root)


def read_and_decide(root: Part) -> MakeTask | Skip | None:
    """What becomes of a tree of parts, as Gmail hands it over; None if it can't be read."""
    try:
        message = read_message(
            message_id="18c2a7b3d4e5f601",
            thread_id="18c2a7b3d4e5f600",
            labels=("INBOX",),
            internal_date=_MOMENT,
            size=0,
            root=root,
        )
    except UnreadableMessage:
        return None
    return decide(message, _POLICY, mailbox="support", account="support@example.org", project=None)
