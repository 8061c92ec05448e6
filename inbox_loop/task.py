"""What a task is: its statuses, the draft it is made from, and the row as the store gives it back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

# One MiB of text; the store refuses more. What makes a draft cuts the text and says so.
MAX_BODY_BYTES = 1024 * 1024
MAX_TITLE_CHARACTERS = 1000


class TaskStatus(StrEnum):
    """Where a task stands. ``in_progress`` is leased; ``blocked`` needs a person."""

    OPEN = "open"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    BLOCKED = "blocked"
    CANCELLED = "cancelled"


# The statuses a task can be finished from.
FINISHABLE = frozenset({TaskStatus.OPEN, TaskStatus.IN_PROGRESS, TaskStatus.BLOCKED})


class UpsertOutcome(StrEnum):
    """What an upsert did. A found task was only read."""

    CREATED = "created"
    FOUND = "found"


@dataclass(frozen=True, slots=True)
class TaskDraft:
    """A task that may come to be. Only ``external_ref`` decides find or create; the rest may drift."""

    external_ref: str
    title: str
    body: str = ""
    project: str | None = None
    labels: tuple[str, ...] = ()
    container_ref: str | None = None
    source: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Upserted:
    """The answer of an upsert: which task, its number and status, and whether this call created it."""

    task_id: UUID
    number: int
    status: TaskStatus
    outcome: UpsertOutcome


@dataclass(frozen=True, slots=True)
class Task:
    """A task as stored."""

    task_id: UUID
    number: int
    tenant: str
    project: str | None
    title: str
    body: str
    status: TaskStatus
    labels: tuple[str, ...]
    external_ref: str | None
    container_ref: str | None
    source: Mapping[str, object]
    created_at: datetime
    updated_at: datetime
    completed_at: datetime | None
    deleted_at: datetime | None
