"""What a command printed, read back."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

RunCommand = Callable[..., subprocess.CompletedProcess[str]]

# The fields of a task's record, in their order: a promise to other programs.
TASK_KEYS = [
    *("id", "number", "tenant", "project", "title", "status", "labels", "external_ref", "container_ref"),
    *("created_at", "updated_at", "completed_at", "deleted_at", "source"),
]


def records_of(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """The JSON lines of standard output."""
    return [json.loads(line) for line in done.stdout.splitlines()]


def record_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The one JSON line of standard output; fails when there is another."""
    (record,) = records_of(done)
    return record


def numbers_of(done: subprocess.CompletedProcess[str]) -> list[int]:
    """The numbers of the tasks that were printed as JSON lines."""
    return [record["number"] for record in records_of(done)]
