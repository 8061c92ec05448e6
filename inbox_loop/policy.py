"""Which message becomes a task, and what the task says.

Lives here: ``decide``, the reasons for making no task, and the draft. Not here: how a message is read (``message/``),
and what is done with a decision (``loop/ingest.py``).

Labels are looked at first, then the sender, then what the headers say of how the mail came to be. Losing an ask is
worse than one task too many, so mail is only skipped on a sign that it asks nothing of anybody:

* Auto-replies, by RFC 3834: ``Auto-Submitted: auto-replied`` or any other value but two. ``no`` stands on ordinary
  mail. ``auto-generated`` is what a machine sends unasked: alerts, orders, web forms. Helpdesks put it on what a person
  answers through them, and Exchange on absence notes; so it is a task, unless it answers a message (In-Reply-To) and
  has a second sign: an empty return path, or ``X-MS-Exchange-Inbox-Rules-Loop`` with the sender's own address. With
  another address, somebody's rule passed the mail on. ``X-Auto-Response-Suppress`` says what the sender does not want
  back, nothing of the mail itself. A read receipt is an auto-reply too.
* Bounces: a delivery report, ``X-Failed-Recipients``, a mailer daemon as sender, or an empty return path.
* Bulk: what goes out by a list (List-Id) or in bulk (Precedence). ``List-Unsubscribe`` alone stands on orders and
  bills as well, so it does not count where Gmail files the message under Updates or Primary.
* Category: what Gmail files under Promotions, Social or Forums and is no list by those signs. When a person moves it to
  Primary, it is decided anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC
from enum import StrEnum

from inbox_loop.message.addresses import parse_addresses
from inbox_loop.message.clean import clean_line, cut_to_bytes
from inbox_loop.message.link import gmail_url
from inbox_loop.message.model import Message
from inbox_loop.message.parameters import parse_parameters
from inbox_loop.ref import Ref
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
_BULK_PRECEDENCE = frozenset({"bulk", "list", "junk"})
_DAEMON = "mailer-daemon"


@dataclass(frozen=True, slots=True)
class Policy:
    """What a mailbox's operator wants to have skipped. Own addresses compare without regard to case."""

    own_addresses: frozenset[str]
    skip_bulk: bool
    skip_auto_replies: bool
    """Bounces as well: both are what a machine sends in answer."""


@dataclass(frozen=True, slots=True)
class MakeTask:
    """The message asks for something; this is the task it becomes."""

    draft: TaskDraft


@dataclass(frozen=True, slots=True)
class Skip:
    """The message becomes no task."""

    reason: SkipReason


def decide(message: Message, policy: Policy, *, mailbox: str, account: str, project: str | None) -> MakeTask | Skip:
    """Say what becomes of ``message``, found in ``mailbox`` (its name), which is ``account`` (its address) at Gmail.

    Raises ``InvalidRef`` if Gmail's ids are not what they are known to be.
    """
    reason = _find_reason(message, policy)
    if reason is not None:
        return Skip(reason)
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
    return SkipReason.OWN_ADDRESS if any(address.casefold() in own for address in _senders(message)) else None


def _find_answer_reason(message: Message) -> SkipReason | None:
    """Auto-replies and bounces carry each other's signs: the surest come first."""
    if _is_bounce(message):
        return SkipReason.BOUNCE
    if _is_auto_reply(message):
        return SkipReason.AUTO_REPLY
    return SkipReason.BOUNCE if _has_empty_path(message) else None


def _find_bulk_reason(message: Message) -> SkipReason | None:
    """A list's own signs come first: they stay when a person moves the message to another category."""
    if message.header("List-Id") or not _BULK_PRECEDENCE.isdisjoint(_precedences(message)):
        return SkipReason.BULK
    if not _SKIPPED_CATEGORIES.isdisjoint(message.labels):
        return SkipReason.CATEGORY
    if message.header("List-Unsubscribe") and _KEPT_CATEGORIES.isdisjoint(message.labels):
        return SkipReason.BULK
    return None


def _senders(message: Message) -> Iterator[str]:
    return (found.address for found in parse_addresses(message.header("From")))


def _is_bounce(message: Message) -> bool:
    return (
        _report_type(message) == "delivery-status"
        or bool(message.header("X-Failed-Recipients"))
        or any(address.casefold().partition("@")[0] == _DAEMON for address in _senders(message))
    )


def _is_auto_reply(message: Message) -> bool:
    submitted = parse_parameters(message.header("Auto-Submitted")).value.partition("(")[0].strip()
    return (
        submitted not in ("", "no", "auto-generated")
        or (submitted == "auto-generated" and _is_absence_note(message))
        or _report_type(message) == "disposition-notification"
        or _is_on(message.header("X-Autoreply"))
        or _is_on(message.header("X-Autorespond"))
        or "auto_reply" in _precedences(message)
    )


def _is_absence_note(message: Message) -> bool:
    """Of an auto-generated message: whether it answers one by itself, and no person answers through a helpdesk."""
    return bool(message.header("In-Reply-To")) and (_has_empty_path(message) or _is_answer_of_a_rule(message))


def _is_answer_of_a_rule(message: Message) -> bool:
    """Whether the sender's own rules made it: Exchange writes down whose rules sent a message or passed it on."""
    owners = {owner.strip().casefold() for owner in message.header_values("X-MS-Exchange-Inbox-Rules-Loop")}
    return any(address.casefold() in owners for address in _senders(message))


def _has_empty_path(message: Message) -> bool:
    return any("".join(value.split()) == "<>" for value in message.header_values("Return-Path"))


def _report_type(message: Message) -> str:
    """What a multipart/report reports (RFC 6522); empty for other mail."""
    if message.mime_type != "multipart/report":
        return ""
    return parse_parameters(message.header("Content-Type")).parameters.get("report-type", "").lower()


def _is_on(value: str) -> bool:
    """Whether a header that is a flag is set: senders write ``yes``, or the subject they answered."""
    return value.strip().lower() not in ("", "no", "false", "0")


def _precedences(message: Message) -> set[str]:
    return {value.strip().lower() for value in message.header_values("Precedence")}


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
