"""What a command that changed a task answers: the task's record for programs, a sentence for people."""

from __future__ import annotations

from collections.abc import Mapping

from inbox_loop.commands.shapes import task_record
from inbox_loop.commands.show import print_line, print_records
from inbox_loop.task import Task

_NOTHING: Mapping[str, object] = {}


def print_task(task: Task, sentence: str, *, as_json: bool, facts: Mapping[str, object] = _NOTHING) -> None:
    """Print the task's record with further ``facts``, or the sentence."""
    if as_json:
        print_records([{**task_record(task), **facts}])
    else:
        print_line(sentence)


def standing(task: Task) -> str:
    """Where the task stands, in a word: its status, or that it is deleted."""
    return "deleted" if task.deleted_at is not None else task.status.value
