"""Signals, in two ways: as events for what runs until it is told to stop, and as an end that tidies up.

As events (``listening``): the first SIGINT or SIGTERM asks to stop, a second one ends at once; SIGHUP asks to read
again. Handlers only set events. The main thread waits for them; other threads look at ``stop`` wherever they would
wait. As an end (``tidying_up``): whichever comes first leaves every open block, and so removes what was made.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM)
Handler = Callable[[int, FrameType | None], None]
# What a shell says of a command that a signal ended: this, and the signal's number.
ENDED_BY_SIGNAL = 128


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

    def ask_to_stop(_number: int, _frame: FrameType | None) -> None:
        for number in ENDING:
            signal.signal(number, signal.SIG_DFL)
        requests.stop.set()
        requests.any.set()

    def ask_to_reload(_number: int, _frame: FrameType | None) -> None:
        requests.reload.set()
        requests.any.set()

    with _answering(dict.fromkeys(ENDING, ask_to_stop) | {signal.SIGHUP: ask_to_reload}):
        yield requests


@contextmanager
def tidying_up() -> Iterator[Callable[[], None]]:
    """Let SIGINT, SIGTERM and SIGHUP end the process by leaving what is open inside, in order.

    Only from the main thread. The exit code is 128 and the signal's number. Further signals do not cut the tidying up
    short; SIGKILL does. What is yielded is to be called when tidying up is all that is left: then no signal does.
    """
    numbers = (*ENDING, signal.SIGHUP)

    def ignore_signals() -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)

    def leave(number: int, _frame: FrameType | None) -> None:
        ignore_signals()
        raise SystemExit(ENDED_BY_SIGNAL + number)

    with _answering(dict.fromkeys(numbers, leave)):
        yield ignore_signals


@contextmanager
def _answering(handlers: Mapping[signal.Signals, Handler]) -> Iterator[None]:
    """Answer signals by ``handlers`` while inside, and as before afterwards."""
    earlier = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
