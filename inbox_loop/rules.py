"""The operator's rules: which message is meant, and what becomes of it. Pure.

Lives here: ``Rule``, and which of an ordered list fits a message first. Not here: how a rule is written
(``settings.py``), and what comes before and after rules (``policy.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from inbox_loop.message.addresses import parse_addresses
from inbox_loop.message.clean import clean_line
from inbox_loop.message.model import Message
from inbox_loop.task import MAX_TITLE_CHARACTERS

# Of what a message holds, so much is held against patterns. The rest is not seen by rules.
MAX_ADDRESSES = 1000
MAX_TEXT_CHARACTERS = MAX_TITLE_CHARACTERS

Globs = tuple[re.Pattern[str], ...]


class Verdict(StrEnum):
    """What a rule says of the messages it fits."""

    TASK = "task"
    SKIP = "skip"


class Priority(StrEnum):
    """How urgent a rule says that a task is. Kept with the task; nothing here is ordered by it."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    URGENT = "urgent"


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a message must be like: all that is given must fit. Of several patterns, one must; none given fits any."""

    senders: Globs = ()
    """Held against each address of From."""
    recipients: Globs = ()
    """Held against each address of To and Cc."""
    subjects: Globs = ()
    lists: Globs = ()
    """Held against what List-Id has in angle brackets (RFC 2919); a message without one does not fit."""
    labels: Globs = ()
    """Held against each of Gmail's label ids."""
    has_attachment: bool | None = None
    """A message that is too large to be read counts as having one."""
    larger_than: int | None = None
    """Gmail's estimate in bytes is more than this."""
    smaller_than: int | None = None
    """Gmail's estimate in bytes is less than this."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. Project, labels and priority are for the task; what is None or empty is left as it is without rules."""

    name: str
    verdict: Verdict
    conditions: Conditions = Conditions()
    project: str | None = None
    labels: tuple[str, ...] = ()
    priority: Priority | None = None


def find_rule(message: Message, rules: Sequence[Rule]) -> Rule | None:
    """The first of ``rules`` that fits ``message``, or None."""
    if not rules:
        return None
    seen = _look_at(message)
    return next((rule for rule in rules if _fits(rule.conditions, seen)), None)


@dataclass(frozen=True, slots=True)
class _Seen:
    """A message as rules see it."""

    senders: frozenset[str]
    recipients: frozenset[str]
    subject: str
    list_id: str | None
    labels: frozenset[str]
    has_attachment: bool
    size: int


def _look_at(message: Message) -> _Seen:
    return _Seen(
        senders=_find_addresses(message, "From"),
        recipients=_find_addresses(message, "To", "Cc"),
        subject=clean_line(message.header("Subject")).text[:MAX_TEXT_CHARACTERS],
        list_id=_find_list_id(message),
        labels=message.labels,
        has_attachment=bool(message.attachments) or message.headers_only,
        size=message.size,
    )


def _find_addresses(message: Message, *headers: str) -> frozenset[str]:
    values = (value for header in headers for value in message.header_values(header))
    addresses = (found.address for value in values for found in parse_addresses(value) if found.address)
    return frozenset(address[:MAX_TEXT_CHARACTERS] for address in islice(addresses, MAX_ADDRESSES))


def _find_list_id(message: Message) -> str | None:
    """``talk.example.net`` of ``Talk <talk.example.net>``; the whole value where brackets are missing."""
    value = message.header("List-Id")
    inner = value.rpartition("<")[2].partition(">")[0].strip()
    return inner[:MAX_TEXT_CHARACTERS] or None


def _fits(wanted: Conditions, seen: _Seen) -> bool:
    return (
        _fits_one(wanted.senders, seen.senders)
        and _fits_one(wanted.recipients, seen.recipients)
        and _fits_one(wanted.subjects, {seen.subject})
        and _fits_one(wanted.lists, set() if seen.list_id is None else {seen.list_id})
        and _fits_one(wanted.labels, seen.labels)
        and wanted.has_attachment in {None, seen.has_attachment}
        and (wanted.larger_than is None or seen.size > wanted.larger_than)
        and (wanted.smaller_than is None or seen.size < wanted.smaller_than)
    )


def _fits_one(globs: Globs, texts: Iterable[str]) -> bool:
    return not globs or any(glob.fullmatch(text) for text in texts for glob in globs)
