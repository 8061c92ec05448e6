"""What a command that made, found or changed a task answers: a record for programs, a sentence for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from inbox_loop.commands.shapes import task_record
from inbox_loop.commands.show import print_error, print_line, print_records
from inbox_loop.errors import NoSuchTask
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import Task, Upserted


@dataclass(frozen=True, slots=True)
class Warned:
    """What may be a mistake about an answer, and what to do."""

    what: str
    advice: str


def print_task(task: Task, sentence: str, *, as_json: bool) -> None:
    """Print the task's record, or the sentence."""
    if as_json:
        print_records([task_record(task)])
    else:
        print_line(sentence)


def find_answer(store: TaskStore, answer: Upserted) -> dict[str, object]:
    """The record of the task that an upsert or a create answered; if it was purged since, what the answer holds."""
    try:
        task: Mapping[str, object] = task_record(store.find_task(answer.number))
    except NoSuchTask:
        task = {"id": answer.task_id, "number": answer.number, "status": answer.status}
    return {**task, "outcome": answer.outcome}


def print_answer(record: Mapping[str, object] | None, sentence: str, warned: Warned | None) -> None:
    """Print the record, or the sentence when there is none; a warning as well, and in the record."""
    if warned is not None:
        print_error(f"warning: {warned.what}", warned.advice)
    if record is None:
        print_line(sentence)
    else:
        print_records([record if warned is None else {**record, "warning": f"{warned.what}. {warned.advice}"}])


def standing(task: Task) -> str:
    """Where the task stands, in a word: its status, or that it is deleted."""
    return "deleted" if task.deleted_at is not None else task.status.value
