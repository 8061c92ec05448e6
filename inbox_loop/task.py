"""What a task is: its statuses and their legal moves, what it is made from, and the row as the store gives it back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

# One MiB of text; the store refuses more. What makes a draft cuts the text and says so.
MAX_BODY_BYTES = 1024 * 1024
MAX_TITLE_CHARACTERS = 1000
MAX_LABELS = 50
MAX_LABEL_CHARACTERS = 100
MAX_KEY_CHARACTERS = 200
MAX_NOTE_CHARACTERS = 10_000
MAX_SOURCE_BYTES = 1024 * 1024

# An idempotency key means something for so long after the create that brought it.
KEY_LIFETIME = timedelta(hours=72)


class TaskStatus(StrEnum):
    """Where a task stands. ``in_progress`` is leased; ``blocked`` needs a person."""

    OPEN = "open"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    BLOCKED = "blocked"
    CANCELLED = "cancelled"


# Where a task can go from where it stands. Only a claim, which comes with a lease, leads to ``in_progress``; a finished
# task can be opened again. The store holds the same table: ``status_move_allowed``.
MOVES: Mapping[TaskStatus, frozenset[TaskStatus]] = {
    TaskStatus.OPEN: frozenset({TaskStatus.DONE, TaskStatus.BLOCKED, TaskStatus.CANCELLED}),
    TaskStatus.IN_PROGRESS: frozenset({TaskStatus.OPEN, TaskStatus.DONE, TaskStatus.BLOCKED, TaskStatus.CANCELLED}),
    TaskStatus.BLOCKED: frozenset({TaskStatus.OPEN, TaskStatus.DONE, TaskStatus.CANCELLED}),
    TaskStatus.DONE: frozenset({TaskStatus.OPEN}),
    TaskStatus.CANCELLED: frozenset({TaskStatus.OPEN}),
}

# Nothing is left to do about a task with one of these.
FINISHED = frozenset({TaskStatus.DONE, TaskStatus.CANCELLED})


class UpsertOutcome(StrEnum):
    """What an upsert, or a create with an idempotency key, did. A found task was only read."""

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
class NewTask:
    """A task to be created without a ref. Labels are set here, once. ``parent`` is the number of another task."""

    title: str
    body: str = ""
    project: str | None = None
    parent: int | None = None
    labels: tuple[str, ...] = ()
    container_ref: str | None = None
    source: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TaskChange:
    """What is to be different about a task; None leaves a field as it is."""

    title: str | None = None
    body: str | None = None
    status: TaskStatus | None = None


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """Which tasks: those that all given fields fit. What is left out fits any."""

    statuses: tuple[TaskStatus, ...] = ()
    """One of these."""
    labels: tuple[str, ...] = ()
    """All of these."""
    container_ref: str | None = None
    """Compared without regard to case."""
    mailbox: str | None = None
    """The name of the mailbox they came from: all tasks of its account, those of an earlier name too."""
    text: str | None = None
    """Occurs in the title or the body, whatever the case. Nothing in it is a wildcard."""
    since: datetime | None = None
    """Created at or after this moment."""
    include_deleted: bool = False


@dataclass(frozen=True, slots=True)
class Upserted:
    """The answer of an upsert or a create: which task, its number and status, and whether this call created it."""

    task_id: UUID
    number: int
    status: TaskStatus
    outcome: UpsertOutcome
    deleted: bool = False
    """Whether it was deleted since: a repeated create answers such a task too, an upsert never does."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task as stored."""

    task_id: UUID
    number: int
    tenant: str
    project: str | None
    parent: int | None
    """The number of the task it belongs to."""
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
