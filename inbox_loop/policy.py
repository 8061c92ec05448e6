"""Which message becomes a task, and what the task says.

Lives here: ``decide``, the reasons for making no task, and the draft. Not here: how a message is read (``message/``),
and what is done with a decision (``loop/ingest.py``).

Labels are looked at first, then the sender, then what the headers say of how the mail came to be. Losing an ask is
worse than one task too many, so mail is only skipped on a sign that it asks nothing of anybody (``signs.py``):
auto-replies, bounces, bulk, and what Gmail files under Promotions, Social or Forums.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from enum import StrEnum

from inbox_loop.message.addresses import parse_addresses
from inbox_loop.message.clean import clean_line, cut_to_bytes
from inbox_loop.message.link import gmail_url
from inbox_loop.message.model import Message
from inbox_loop.ref import Ref
from inbox_loop.signs import has_empty_path, is_auto_reply, is_bounce, is_list, senders
from inbox_loop.task import MAX_BODY_BYTES, MAX_TITLE_CHARACTERS, TaskDraft

NO_SUBJECT = "(no subject)"
# Of what a task keeps of its message. The rest is counted; the mail itself has all of it.
MAX_RECIPIENTS = 100
MAX_ATTACHMENTS = 100
MAX_ADDRESS_CHARACTERS = 320
MAX_NAME_CHARACTERS = 255

_ELLIPSIS = "…"
_CUT = "\n\n[The text is cut here. The whole message is in Gmail.]"


class SkipReason(StrEnum):
    """Why a message made no task."""

    DRAFT = "draft"
    SENT = "sent"
    SPAM = "spam"
    TRASH = "trash"
    CHAT = "chat"
    OWN_ADDRESS = "own_address"
    AUTO_REPLY = "auto_reply"
    BOUNCE = "bounce"
    BULK = "bulk"
    CATEGORY = "category"
    RULE = "rule"
    """A rule of the operator says so; its name is kept beside the reason."""
    SENDER_CAP = "sender_cap"
    """Its sender had enough tasks in that hour. Found by ingest, never by ``decide``."""
    TASK_DELETED = "task_deleted"
    """Somebody deleted the message's task. Found by ingest, never by ``decide``."""
    OUTSIDE_RANGE = "outside_range"
    """It came before or after the dates that were asked for. Found by ingest, never by ``decide``."""


LABEL_REASONS = frozenset({SkipReason.DRAFT, SkipReason.SENT, SkipReason.SPAM, SkipReason.TRASH, SkipReason.CATEGORY})
"""The reasons that rest on labels a person can change: such a message is looked at again when its labels do.

Mail is taken out of spam and trash, or moved from Promotions to Primary; one's own sent mail is moved to the inbox as a
reminder; a draft is sent. A chat stays a chat. Bulk is not here: a list stays a list wherever its mail is moved.
"""

# In this order; SENT counts only without INBOX, because a message to oneself has both.
_BY_LABEL = {
    "DRAFT": SkipReason.DRAFT,
    "SPAM": SkipReason.SPAM,
    "TRASH": SkipReason.TRASH,
    "CHAT": SkipReason.CHAT,
}
_SKIPPED_CATEGORIES = frozenset({"CATEGORY_PROMOTIONS", "CATEGORY_SOCIAL", "CATEGORY_FORUMS"})
_KEPT_CATEGORIES = frozenset({"CATEGORY_PERSONAL", "CATEGORY_UPDATES"})


@dataclass(frozen=True, slots=True)
class Policy:
    """What a mailbox's operator wants to have skipped. Own addresses compare without regard to case."""

    own_addresses: frozenset[str]
    skip_bulk: bool
    skip_auto_replies: bool
    """Bounces as well: both are what a machine sends in answer."""
    max_per_sender_per_hour: int = 200
    """How many tasks the mail of one sender makes in one hour, by internalDate. Kept by ingest, not by ``decide``."""


@dataclass(frozen=True, slots=True)
class MakeTask:
    """The message asks for something; this is the task it becomes."""

    draft: TaskDraft
    rule: str | None = None
    """The name of the rule that decided; None when none matched."""


@dataclass(frozen=True, slots=True)
class Skip:
    """The message becomes no task."""

    reason: SkipReason
    rule: str | None = None
    """The name of the rule that decided; None when none matched."""


def decide(message: Message, policy: Policy, *, mailbox: str, account: str, project: str | None) -> MakeTask | Skip:
    """Say what becomes of ``message``, found in ``mailbox`` (its name), which is ``account`` (its address) at Gmail.

    Raises ``InvalidRef`` if Gmail's ids are not what they are known to be.
    """
    reason = _find_reason(message, policy)
    if reason is not None:
        return Skip(reason)
    return decide_insisted(message, policy, mailbox=mailbox, account=account, project=project)


def decide_insisted(
    message: Message,
    policy: Policy,  # noqa: ARG001 - its rules will say project, labels and priority
    *,
    mailbox: str,
    account: str,
    project: str | None,
) -> MakeTask:
    """``decide`` for a message of which a person wants a task, whatever speaks against it."""
    ref = Ref(message.thread_id, message.message_id)
    draft = TaskDraft(
        external_ref=str(ref),
        title=_title(message),
        body=_body(message),
        project=project,
        container_ref=ref.container,
        source=_source(message, mailbox, account),
    )
    return MakeTask(draft)


def find_sender(message: Message) -> str | None:
    """The address of the sender in lower case, by which the cap counts; None when there is none."""
    return next((address.lower()[:MAX_ADDRESS_CHARACTERS] for address in senders(message) if address), None)


def _find_reason(message: Message, policy: Policy) -> SkipReason | None:
    return (
        _find_label_reason(message.labels)
        or _find_sender_reason(message, policy.own_addresses)
        or (_find_answer_reason(message) if policy.skip_auto_replies else None)
        or (_find_bulk_reason(message) if policy.skip_bulk else None)
    )


def _find_label_reason(labels: frozenset[str]) -> SkipReason | None:
    for label, reason in _BY_LABEL.items():
        if label in labels:
            return reason
    return SkipReason.SENT if "SENT" in labels and "INBOX" not in labels else None


def _find_sender_reason(message: Message, own_addresses: frozenset[str]) -> SkipReason | None:
    own = {address.casefold() for address in own_addresses}
    return SkipReason.OWN_ADDRESS if any(address.casefold() in own for address in senders(message)) else None


def _find_answer_reason(message: Message) -> SkipReason | None:
    """Auto-replies and bounces carry each other's signs: the surest come first."""
    if is_bounce(message):
        return SkipReason.BOUNCE
    if is_auto_reply(message):
        return SkipReason.AUTO_REPLY
    return SkipReason.BOUNCE if has_empty_path(message) else None


def _find_bulk_reason(message: Message) -> SkipReason | None:
    """A list's own signs come first: they stay when a person moves the message to another category."""
    if is_list(message):
        return SkipReason.BULK
    if not _SKIPPED_CATEGORIES.isdisjoint(message.labels):
        return SkipReason.CATEGORY
    if message.header("List-Unsubscribe") and _KEPT_CATEGORIES.isdisjoint(message.labels):
        return SkipReason.BULK
    return None


def _title(message: Message) -> str:
    return _cut(clean_line(message.header("Subject")).text, MAX_TITLE_CHARACTERS) or NO_SUBJECT


def _body(message: Message) -> str:
    if len(message.text.encode()) <= MAX_BODY_BYTES:
        return message.text
    return cut_to_bytes(message.text, MAX_BODY_BYTES - len(_CUT.encode())).rstrip() + _CUT


def _source(message: Message, mailbox: str, account: str) -> Mapping[str, object]:
    """Where the task comes from: JSON values only, and bounded, whatever the mail holds."""
    recipients, more_recipients = _addresses(message, "To")
    copied, more_copied = _addresses(message, "Cc")
    source: dict[str, object] = {
        "mailbox": mailbox,
        "account": account,
        "message_id": message.message_id,
        "thread_id": message.thread_id,
        "rfc_message_id": _cut(message.header("Message-ID"), MAX_NAME_CHARACTERS),
        "from": ", ".join(_addresses(message, "From")[0]),
        "to": recipients,
        "cc": copied,
        "internal_date": message.internal_date.astimezone(UTC).isoformat(),
        "gmail_url": gmail_url(account, message.thread_id),
        "attachments": [
            {
                "name": _cut(found.name, MAX_NAME_CHARACTERS),
                "mime_type": _cut(found.mime_type, MAX_NAME_CHARACTERS),
                "size": found.size,
            }
            for found in message.attachments[:MAX_ATTACHMENTS]
        ],
        "labels": sorted(message.labels),
    }
    left_out = {
        "to_left_out": more_recipients,
        "cc_left_out": more_copied,
        "attachments_left_out": max(0, len(message.attachments) - MAX_ATTACHMENTS),
    }
    return source | {key: count for key, count in left_out.items() if count}


def _addresses(message: Message, header: str) -> tuple[list[str], int]:
    """The addresses of all headers of this name, as text, and how many more there are."""
    found = [str(address) for value in message.header_values(header) for address in parse_addresses(value)]
    shown = [_cut(address, MAX_ADDRESS_CHARACTERS) for address in found[:MAX_RECIPIENTS]]
    return shown, len(found) - len(shown)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + _ELLIPSIS
