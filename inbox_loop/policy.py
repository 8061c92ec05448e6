"""Which message becomes a task.

Lives here: ``decide``, and the reasons for making no task. Not here: how a message is read (``message/``), what the
task says (``draft.py``), and what is done with a decision (``loop/ingest.py``).

Gmail's own labels are looked at first, then whether the sender is oneself, then the operator's rules (``rules.py``).
Where no rule fits, the headers tell how the mail came to be. Losing an ask is worse than one task too many, so such
mail is only skipped on a sign that it asks nothing of anybody (``signs.py``): auto-replies, bounces, bulk, and what
Gmail files under Promotions, Social or Forums.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from inbox_loop.draft import MAX_ADDRESS_CHARACTERS, make_draft
from inbox_loop.message.model import Message
from inbox_loop.rules import Rule, Verdict, find_rule
from inbox_loop.signs import has_empty_path, is_auto_reply, is_bounce, is_list, senders
from inbox_loop.task import TaskDraft


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


LABEL_REASONS = frozenset(
    {
        SkipReason.DRAFT,
        SkipReason.SENT,
        SkipReason.SPAM,
        SkipReason.TRASH,
        SkipReason.BULK,
        SkipReason.CATEGORY,
        SkipReason.RULE,
    }
)
"""The reasons that rest on labels a person can change: such a message is looked at again when its labels do.

Mail is taken out of spam and trash, or moved from Promotions to Primary; one's own sent mail is moved to the inbox as a
reminder; a draft is sent; a rule may speak of labels. Bulk is here for mail without another sign than List-Unsubscribe,
which does not count in Primary; a list stays a list wherever its mail is moved. A chat stays a chat.
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
    """What a mailbox's operator wants to become of mail."""

    own_addresses: frozenset[str]
    """Compared without regard to case, and as they are written: ``me+shop@`` is another address than ``me@``."""
    skip_bulk: bool
    skip_auto_replies: bool
    """Bounces as well: both are what a machine sends in answer."""
    max_per_sender_per_hour: int = 200
    """How many tasks the mail of one sender makes in one hour, by internalDate. Kept by ingest, not by ``decide``."""
    rules: tuple[Rule, ...] = ()
    """The first that fits decides. They come after own addresses, and before what the headers say."""


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
    reason = _find_label_reason(message.labels) or _find_sender_reason(message, policy.own_addresses)
    if reason is not None:
        return Skip(reason)
    rule = find_rule(message, policy.rules)
    if rule is not None and rule.verdict is Verdict.SKIP:
        return Skip(SkipReason.RULE, rule.name)
    reason = None if rule else _find_header_reason(message, policy)
    if reason is not None:
        return Skip(reason)
    return _make_task(message, rule, mailbox=mailbox, account=account, project=project)


def decide_insisted(message: Message, policy: Policy, *, mailbox: str, account: str, project: str | None) -> MakeTask:
    """``decide`` for a message of which a person wants a task, whatever speaks against it.

    Project, labels and priority are those of the first rule that fits and says ``task``.
    """
    rule = find_rule(message, [rule for rule in policy.rules if rule.verdict is Verdict.TASK])
    return _make_task(message, rule, mailbox=mailbox, account=account, project=project)


def _make_task(message: Message, rule: Rule | None, *, mailbox: str, account: str, project: str | None) -> MakeTask:
    draft = make_draft(message, rule, mailbox=mailbox, account=account, project=project)
    return MakeTask(draft, rule.name if rule else None)


def find_sender(message: Message) -> str | None:
    """The address of the sender in lower case, by which the cap counts; None when there is none."""
    return next((address.lower()[:MAX_ADDRESS_CHARACTERS] for address in senders(message) if address), None)


def _find_header_reason(message: Message, policy: Policy) -> SkipReason | None:
    return (_find_answer_reason(message) if policy.skip_auto_replies else None) or (
        _find_bulk_reason(message) if policy.skip_bulk else None
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
