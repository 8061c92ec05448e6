"""Sides that take turns: each works on a small slice, so that a busy machine slows all of them alike.

Whoever goes first changes from round to round, so that nobody always finds the pages that another has just read. The
first round is left out: it plans, connects and fills caches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median

Slice = Callable[[int], float]
"""Does the work of the round of this number, the first of which is 0; answers with the seconds it took for one unit."""
Times = Mapping[str, Sequence[float]]
"""Seconds a unit of each side, round by round."""


def take_turns(sides: Mapping[str, Slice], rounds: int) -> Times:
    """Let the sides work on so many slices each."""
    names = list(sides)
    times: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds + 1):
        first = number % len(names)
        taken = {name: sides[name](number) for name in names[first:] + names[:first]}
        if number > 0:
            for name, seconds in taken.items():
                times[name].append(seconds)
    return times


def ratio(times: Times, one: str, other: str) -> float:
    """How much more time ``one`` takes than ``other``: the median over the rounds."""
    return median(a / b for a, b in zip(times[one], times[other], strict=True))


def microseconds(times: Times, side: str) -> float:
    """The median time a unit."""
    return median(times[side]) * 1_000_000


def a_second(times: Times, side: str) -> float:
    """Units a second at the median."""
    return 1 / median(times[side])


def timed(work: Callable[[], object], units: int) -> float:
    """Seconds for one unit of ``work``."""
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) / units
