"""The labels of one mailbox: Gmail's own, and those its user made.

Lives here: ids, names, and the way from one to the other. Not here: which message carries which (``store.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SYSTEM_LABELS = (
    "INBOX",
    "SENT",
    "DRAFT",
    "SPAM",
    "TRASH",
    "UNREAD",
    "STARRED",
    "IMPORTANT",
    "CHAT",
    "CATEGORY_PERSONAL",
    "CATEGORY_SOCIAL",
    "CATEGORY_PROMOTIONS",
    "CATEGORY_UPDATES",
    "CATEGORY_FORUMS",
)


@dataclass(frozen=True, slots=True)
class Label:
    """One label of the mailbox."""

    label_id: str
    name: str
    is_system: bool

    def as_json(self) -> dict[str, Any]:
        """As labels.list shows it."""
        answer = {"id": self.label_id, "name": self.name, "type": "system" if self.is_system else "user"}
        if not self.is_system:
            answer |= {"messageListVisibility": "show", "labelListVisibility": "labelShow"}
        return answer


class Labels:
    """The labels of one mailbox. A name that is new becomes a label of the user's."""

    def __init__(self) -> None:
        self._by_id = {name: Label(name, name, is_system=True) for name in SYSTEM_LABELS}
        self._ids_by_name = {name.lower(): name for name in SYSTEM_LABELS}

    def all(self) -> tuple[Label, ...]:
        """Gmail's own first, then the user's in the order they were made."""
        return tuple(self._by_id.values())

    def find(self, label_id: str) -> Label | None:
        """The label of this id."""
        return self._by_id.get(label_id)

    def find_query_id(self, name: str) -> str | None:
        """The id of the label a search means: any case, and a hyphen for a blank or a slash."""
        wanted = _query_name(name)
        return next((label.label_id for label in self._by_id.values() if _query_name(label.name) == wanted), None)

    def claim_id(self, name: str) -> str:
        """The id of the label with this name or id, made when there is none."""
        if name in self._by_id:
            return name
        if name.lower() not in self._ids_by_name:
            label = Label(f"Label_{len(self._by_id) - len(SYSTEM_LABELS) + 1}", name, is_system=False)
            self._by_id[label.label_id] = label
            self._ids_by_name[name.lower()] = label.label_id
        return self._ids_by_name[name.lower()]


def _query_name(name: str) -> str:
    return name.lower().replace(" ", "-").replace("/", "-")
