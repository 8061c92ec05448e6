"""The loop of a side in a process of its own, asked by ``side.py``. Runs where only the standard library is.

A line ``create 100`` or ``find 100`` asks for so many tasks, one at a time; the answer is a line with the seconds that
took. The first line of all says that the side is ready.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from typing import Protocol

from store.content import ref


class TaskSide(Protocol):
    """Whoever creates a task of a ref once, by whatever name."""

    def create(self, ref: str) -> None:
        """Create the task of a new ref."""

    def find(self, ref: str) -> None:
        """Ask for a task that is there already; raise when another one is made."""


def answer(side: TaskSide) -> None:
    """Serve until the asker closes."""
    chance = random.Random(1)
    made: list[str] = []
    print("ready", flush=True)
    for line in sys.stdin:
        verb, _, words = line.partition(" ")
        count = int(words)
        if verb == "create":
            new = [ref("bench", len(made) + number) for number in range(count)]
            seconds = _seconds(side.create, new)
            made += new
        else:
            seconds = _seconds(side.find, chance.choices(made, k=count))
        print(seconds, flush=True)


def _seconds(work: Callable[[str], None], refs: list[str]) -> float:
    started = time.perf_counter()
    for each in refs:
        work(each)
    return time.perf_counter() - started
