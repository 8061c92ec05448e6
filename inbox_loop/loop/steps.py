"""Bounding a pass that has no end of its own: each of its steps has the pass's deadline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from inbox_loop.loop.mailbox import Mailbox

T = TypeVar("T")


def bound_steps(mailbox: Mailbox, steps: Iterator[T]) -> Iterator[T]:
    """The same steps, each within the deadline of a pass over the mailbox; raises ``DeadlineExceeded``."""
    while True:
        with mailbox.gmail.within(mailbox.limits.deadline_seconds):
            step = next(steps, None)
        if step is None:
            return
        yield step
