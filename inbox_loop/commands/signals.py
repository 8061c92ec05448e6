"""Signals as events: the first SIGINT or SIGTERM asks to stop, a second one ends at once; SIGHUP asks to read again.

Handlers only set events. The main thread waits for them; other threads look at ``stop`` wherever they would wait.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Requests:
    """What the operator has asked of this process by signal."""

    stop: threading.Event = field(default_factory=threading.Event)
    reload: threading.Event = field(default_factory=threading.Event)
    any: threading.Event = field(default_factory=threading.Event)
    """Set with either; to wait for."""


@contextmanager
def listening() -> Iterator[Requests]:
    """Turn signals into requests while inside. Only from the main thread."""
    requests = Requests()
    earlier = {number: signal.getsignal(number) for number in (*ENDING, signal.SIGHUP)}

    def ask_to_stop(_number: int, _frame: FrameType | None) -> None:
        for number in ENDING:
            signal.signal(number, signal.SIG_DFL)
        requests.stop.set()
        requests.any.set()

    def ask_to_reload(_number: int, _frame: FrameType | None) -> None:
        requests.reload.set()
        requests.any.set()

    for number in ENDING:
        signal.signal(number, ask_to_stop)
    signal.signal(signal.SIGHUP, ask_to_reload)
    try:
        yield requests
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
