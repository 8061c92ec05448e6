"""Signals that end a command: what is open is left in order, and nothing cuts that short."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from inbox_loop.commands.signals import tidying_up

ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def send(number: signal.Signals) -> None:
    """To this very process, which answers before the call returns."""
    os.kill(os.getpid(), number)


@contextmanager
def leaving_slowly(tidied: list[signal.Signals]) -> Iterator[None]:
    """Is sent every signal while it is left, and notes those that it survived."""
    try:
        yield
    finally:
        for number in ENDINGS:
            send(number)
            tidied.append(number)


@pytest.mark.parametrize("number", ENDINGS)
def test_the_first_signal_ends_it_and_further_ones_do_not_cut_the_tidying_up_short(number: signal.Signals) -> None:
    before = [signal.getsignal(each) for each in ENDINGS]
    tidied: list[signal.Signals] = []
    with pytest.raises(SystemExit) as ended, tidying_up(), leaving_slowly(tidied):
        send(number)
    assert (ended.value.code, tidied) == (128 + number, list(ENDINGS))
    assert [signal.getsignal(each) for each in ENDINGS] == before


def test_when_tidying_up_is_all_that_is_left_no_signal_ends_it() -> None:
    with tidying_up() as ignore_signals:
        ignore_signals()
        for each in ENDINGS:
            send(each)
    assert signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN
