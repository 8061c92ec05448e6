"""A mailbox's history: what changed, in order, for as long as it is kept.

Lives here: records, their growing ids, filtering and paging. Not here: the changes themselves (``store.py``).

Rules: ids grow with gaps. A page holds up to so many *records looked at*; filters are applied afterwards, so a page may
come out empty and still have a next one. A label filter looks at the labels the message had when the record was made.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection
from dataclasses import dataclass
from itertools import cycle
from typing import Any

FIRST_HISTORY_ID = 1_000
_GAPS = (1, 7, 2, 18, 1, 1, 35, 4)

# historyTypes value -> key of a record.
KEYS_BY_TYPE = {
    "messageAdded": "messagesAdded",
    "messageDeleted": "messagesDeleted",
    "labelAdded": "labelsAdded",
    "labelRemoved": "labelsRemoved",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One record: a message as it was, and what happened to it. ``labels`` maps a key of KEYS_BY_TYPE to label ids."""

    history_id: int
    message_id: str
    thread_id: str
    labels_then: tuple[str, ...]
    labels: dict[str, tuple[str, ...]]

    def as_json(self, keys: Collection[str]) -> dict[str, Any] | None:
        """The record with those of its ``keys`` that are wanted; None when none is."""
        message: dict[str, Any] = {"id": self.message_id, "threadId": self.thread_id}
        short = dict(message)
        if self.labels_then:
            message["labelIds"] = list(self.labels_then)
        happened: dict[str, Any] = {}
        for key, label_ids in self.labels.items():
            if key in keys:
                entry: dict[str, Any] = {"message": message}
                if label_ids:
                    entry["labelIds"] = list(label_ids)
                happened[key] = [entry]
        return {"id": str(self.history_id), "messages": [short], **happened} if happened else None


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """Records of one page, and the history id to go on after, if there is more."""

    records: list[dict[str, Any]]
    next_after: int | None


class History:
    """The records of one mailbox. Not safe between threads; its account holds the lock."""

    def __init__(self) -> None:
        self.latest = FIRST_HISTORY_ID
        self._oldest_start = FIRST_HISTORY_ID
        self._gaps = cycle(_GAPS)
        self._ids: list[int] = []
        self._changes: list[Change] = []

    def record(self, message_id: str, thread_id: str, then: tuple[str, ...], what: dict[str, tuple[str, ...]]) -> int:
        """Add a record; its id."""
        self.latest += next(self._gaps)
        self._ids.append(self.latest)
        self._changes.append(Change(self.latest, message_id, thread_id, then, what))
        return self.latest

    def expire(self) -> None:
        """Forget everything before now: older starts are answered with 404."""
        self._oldest_start = self.latest
        self._ids.clear()
        self._changes.clear()

    def is_known_start(self, start: int) -> bool:
        """Whether history since ``start`` is still complete; a start in the future is unknown as well."""
        return self._oldest_start <= start <= self.latest

    def page(self, after: int, *, keys: Collection[str], label_id: str | None, limit: int) -> HistoryPage:
        """Up to ``limit`` records after ``after``, filtered."""
        first = bisect_right(self._ids, after)
        looked_at = self._changes[first : first + limit]
        more = first + limit < len(self._changes)
        wanted = (change for change in looked_at if label_id is None or label_id in change.labels_then)
        records = [json for change in wanted if (json := change.as_json(keys)) is not None]
        return HistoryPage(records, looked_at[-1].history_id if more else None)
