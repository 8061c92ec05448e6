"""Waiting for something that another process or thread does, with an end."""

from __future__ import annotations

import time
from collections.abc import Callable

LOOK_EVERY_SECONDS = 0.01


def wait_until(condition: Callable[[], bool], *, seconds: float = 20) -> None:
    """Return as soon as ``condition`` holds; fails when it does not come to it in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to it in time"
        time.sleep(LOOK_EVERY_SECONDS)
