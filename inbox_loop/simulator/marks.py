"""What a message on disk says of its own labels, thread and date.

Lives here: Google Takeout's headers (``X-Gmail-Labels``, ``X-GM-THRID``), Received and Date. Nothing here fails: what
can't be read is None.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_tz

from inbox_loop.simulator.headers import parse_headers
from inbox_loop.simulator.mime import split_headers

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_DATE = 200
_THREAD_NUMBER = re.compile("[0-9]{1,19}")
_TAKEOUT_LABELS = {
    "inbox": "INBOX",
    "sent": "SENT",
    "spam": "SPAM",
    "trash": "TRASH",
    "drafts": "DRAFT",
    "unread": "UNREAD",
    "starred": "STARRED",
    "important": "IMPORTANT",
    "chat": "CHAT",
    "category personal": "CATEGORY_PERSONAL",
    "category social": "CATEGORY_SOCIAL",
    "category promotions": "CATEGORY_PROMOTIONS",
    "category updates": "CATEGORY_UPDATES",
    "category forums": "CATEGORY_FORUMS",
}
_NO_LABELS = {"", "archived", "opened"}


@dataclass(frozen=True, slots=True)
class Marks:
    """What was found; None where there is nothing, or nothing that can be read."""

    labels: tuple[str, ...] | None
    """By Takeout's header; names Gmail does not know are the user's own."""
    thread_id: str | None
    """By Takeout's header, decimal there, as Gmail's hexadecimal id."""
    date: datetime | None
    """When it was received, by the topmost Received header, else when it says it was sent; in UTC."""


def read_marks(raw: bytes) -> Marks:
    """Read a message's headers once."""
    found: dict[str, str] = {}
    for header in parse_headers(split_headers(raw)[0]):
        found.setdefault(header.name.lower(), header.value)
    received = found.get("received", "").rpartition(";")[2]
    return Marks(
        labels=_labels(found["x-gmail-labels"]) if "x-gmail-labels" in found else None,
        thread_id=_thread_id(found.get("x-gm-thrid", "")),
        date=parse_date(received) or parse_date(found.get("date", "")),
    )


def parse_date(text: str) -> datetime | None:
    """A date of RFC 5322 or of an mbox From_ line, in UTC; None for one that is broken or before 1970."""
    try:
        fields = parsedate_tz(text[:_LONGEST_DATE])
        if fields is None:
            return None
        moment = datetime(*fields[:6], tzinfo=UTC) - timedelta(seconds=fields[9] or 0)
    except (ValueError, OverflowError, TypeError, IndexError):  # the parser's ways to meet nonsense
        return None
    return moment if moment >= _EPOCH else None


def _labels(text: str) -> tuple[str, ...]:
    names = [name.strip(' \t"') for name in text.split(",")]
    return tuple(_TAKEOUT_LABELS.get(name.lower(), name) for name in names if name.lower() not in _NO_LABELS)


def _thread_id(text: str) -> str | None:
    return f"{int(text):016x}" if _THREAD_NUMBER.fullmatch(text) else None
