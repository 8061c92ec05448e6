"""What the task store promises, over a dict: small enough to be seen to be right. It raises the store's errors."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field, replace
from datetime import timedelta

from inbox_loop.errors import IdempotencyConflict, IllegalMove, NoSuchProject, NoSuchTask, RefTaken
from inbox_loop.task import FINISHED, KEY_LIFETIME, MOVES, NewTask, Task, TaskChange, TaskDraft, TaskFilter, TaskStatus

PROJECTS = {None, "inbox"}


@dataclass(frozen=True)
class Known:
    """A task as the model has it."""

    title: str
    body: str
    project: str | None
    parent: int | None
    labels: tuple[str, ...]
    ref: str | None
    container: str | None
    mailbox: str | None
    status: TaskStatus = TaskStatus.OPEN
    deleted: int = 0
    """0 for a live task, else the how manieth deletion it was."""

    def is_told_by(self, task: Task) -> bool:
        """Whether the store's row says the same."""
        return self == Known(
            title=task.title,
            body=task.body,
            project=task.project,
            parent=task.parent,
            labels=task.labels,
            ref=task.external_ref,
            container=task.container_ref,
            mailbox=None if task.source.get("mailbox") is None else str(task.source["mailbox"]),
            status=task.status,
            deleted=self.deleted if task.deleted_at else 0,
        ) and (task.completed_at is not None) == (task.status in FINISHED)


@dataclass
class Key:
    """What an idempotency key stands for."""

    content: tuple[str | None, str, int | None]
    number: int
    age: timedelta = timedelta(0)


def kept(ref: str) -> str:
    """The form a ref is kept in."""
    return unicodedata.normalize("NFC", ref.strip())


@dataclass
class StoreModel:
    """The tasks by their number, what happened to each, and the keys."""

    tasks: dict[int, Known] = field(default_factory=dict)
    activity: dict[int, list[str]] = field(default_factory=dict)
    keys: dict[str, Key] = field(default_factory=dict)
    deletions: int = 0

    def find_by_ref(self, ref: str, *, deleted: bool = False) -> int | None:
        """The live task of this ref, or the one of it that was deleted last."""
        same = [n for n, task in self.tasks.items() if task.ref is not None and task.ref.lower() == kept(ref).lower()]
        fits = [n for n in same if (self.tasks[n].deleted > 0) == deleted]
        return max(fits, key=lambda n: self.tasks[n].deleted, default=None)

    def upsert(self, draft: TaskDraft) -> tuple[int, bool]:
        """The number, and whether it is new."""
        found = self.find_by_ref(draft.external_ref)
        if found is not None:
            return found, False
        return self._add(draft, kept(draft.external_ref), None), True

    def upsert_all(self, drafts: list[TaskDraft]) -> list[tuple[int, bool]]:
        """All, or none."""
        missing = [draft for draft in drafts if self.find_by_ref(draft.external_ref) is None]
        if any(draft.project not in PROJECTS for draft in missing):
            raise NoSuchProject("")
        return [self.upsert(draft) for draft in drafts]

    def create(self, new: NewTask, key: str | None) -> tuple[int, bool]:
        """The number, and whether it is new."""
        content = (new.project, new.title, new.parent)
        held = self.keys.get(key or "")
        if held is not None and held.age < KEY_LIFETIME:
            if held.content != content:
                raise IdempotencyConflict("", task_number=held.number)
            return held.number, False
        number = self._add(new, None, new.parent)
        if key is not None:
            self.keys[key] = Key(content, number)
        return number, True

    def _add(self, new: TaskDraft | NewTask, ref: str | None, parent: int | None) -> int:
        if new.project not in PROJECTS:
            raise NoSuchProject("")
        if parent is not None and (parent not in self.tasks or self.tasks[parent].deleted):
            raise NoSuchTask("")
        number = len(self.tasks) + 1
        container = None if new.container_ref is None else kept(new.container_ref)
        mailbox = new.source.get("mailbox")
        self.tasks[number] = Known(
            new.title,
            new.body,
            new.project,
            parent,
            new.labels,
            ref,
            container,
            None if mailbox is None else str(mailbox),
        )
        self.activity[number] = ["created"]
        return number

    def update(self, number: int, change: TaskChange, kind: str = "updated") -> None:
        """Also finish and cancel, which are changes of the status."""
        task = self._find(number)
        if task.deleted:
            raise IllegalMove("", task_number=number)
        changed = replace(
            task,
            title=task.title if change.title is None else change.title,
            body=task.body if change.body is None else change.body,
            status=change.status or task.status,
        )
        if changed.status not in {task.status, *MOVES[task.status]}:
            raise IllegalMove("", task_number=number)
        self._put(number, changed, kind)

    def delete(self, number: int) -> None:
        """Make it a tombstone."""
        task = self._find(number)
        if not task.deleted:
            self.deletions += 1
            self._put(number, replace(task, deleted=self.deletions), "deleted")

    def restore(self, number: int) -> None:
        """Bring it back, unless its ref is taken."""
        task = self._find(number)
        holder = None if task.ref is None else self.find_by_ref(task.ref)
        if task.deleted and holder is not None:
            raise RefTaken("", task_number=holder)
        self._put(number, replace(task, deleted=0), "restored")

    def _find(self, number: int) -> Known:
        if number not in self.tasks:
            raise NoSuchTask("")
        return self.tasks[number]

    def _put(self, number: int, task: Known, kind: str) -> None:
        if task != self.tasks[number]:
            self.tasks[number] = task
            self.activity[number].append(kind)

    def fits(self, number: int, wanted: TaskFilter) -> bool:
        """Whether a list with this filter has it; the moment apart, of which the model knows nothing."""
        task = self.tasks[number]
        container = None if wanted.container_ref is None else kept(wanted.container_ref).lower()
        return (
            (not task.deleted or wanted.include_deleted)
            and (not wanted.statuses or task.status in wanted.statuses)
            and set(wanted.labels) <= set(task.labels)
            and (container is None or (task.container or "").lower() == container)
            and (wanted.mailbox is None or task.mailbox == wanted.mailbox)
            and (wanted.text is None or any(wanted.text.lower() in text.lower() for text in (task.title, task.body)))
        )

    def pass_time(self, time: timedelta) -> None:
        """Only keys grow old."""
        for key in self.keys.values():
            key.age += time

    def purge_keys(self) -> int:
        """How many expired keys there were."""
        expired = [name for name, key in self.keys.items() if key.age >= KEY_LIFETIME]
        for name in expired:
            del self.keys[name]
        return len(expired)
