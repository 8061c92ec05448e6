"""A backfill under Gmail's quota: nearly all of the allowance is used, and no answer says "slow down".

Measured on the other side: the simulator counts units as Gmail does, in a sliding window of a minute, and refuses what
is over. It runs in this process, so that its record of calls can be read; the backfill is the real command.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress

from figures import Figure, at_least, exactly
from made_mail import make_messages
from processes import read_log, start_command
from sizes import Sizes
from stage import backfill_variables, new_folder, new_postgres

from inbox_loop.errors import EXIT_LOOK
from inbox_loop.simulator.calls import Call
from inbox_loop.simulator.server import Simulator

BENCHMARK = "allowance"
ADDRESS = "desk@example.com"
UNITS_PER_MINUTE = 6_000
WINDOW_SECONDS = 10
# More than can be read: threads read whole cost down to ten units a message.
MESSAGES_A_SECOND = 12
START_SECONDS = 60


def measure(sizes: Sizes) -> Iterator[Figure]:
    """Run a backfill for a while, and stop it."""
    first_answer = threading.Event()
    with Simulator(units_per_minute=UNITS_PER_MINUTE, observe=lambda _answer: first_answer.set()) as simulator:
        account = simulator.account(ADDRESS)
        for message in make_messages(MESSAGES_A_SECOND * sizes.allowance_seconds):
            account.deliver(message.encode())
        _backfill_for(sizes.allowance_seconds, simulator, first_answer)
        yield from _figures(simulator.calls, sizes.allowance_seconds)


def _backfill_for(seconds: int, simulator: Simulator, first_answer: threading.Event) -> None:
    with new_folder() as folder, new_postgres() as postgres:
        token_file = simulator.token_file(ADDRESS, folder / "token.json")
        variables = backfill_variables(postgres, simulator.url, token_file, units_per_minute=UNITS_PER_MINUTE)
        with start_command(["backfill", "--json"], variables, folder) as process:
            started = first_answer.wait(START_SECONDS)
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds if started else 0)
            process.terminate()
            process.communicate(timeout=START_SECONDS)
        if not started or process.returncode != EXIT_LOOK:
            raise RuntimeError(f"the backfill was not stopped in the middle: {read_log(folder)}")


def _figures(calls: Sequence[Call], seconds: int) -> Iterator[Figure]:
    asked = sorted((call for call in calls if call.address), key=lambda call: call.at)
    start = asked[0].at
    throttled = sum(call.is_throttled for call in asked)
    yield Figure(BENCHMARK, "calls in all", len(asked), "calls")
    yield exactly(BENCHMARK, "answers that said slow down", throttled, "", promised=0)
    for begin in range(0, seconds - WINDOW_SECONDS + 1, WINDOW_SECONDS):
        end = begin + WINDOW_SECONDS
        units = sum(call.units for call in asked if begin <= call.at - start < end)
        yield Figure(BENCHMARK, f"used from {begin} to {end} s", _percent(units, WINDOW_SECONDS), "%")
    later = [call for call in asked if call.at - start >= WINDOW_SECONDS]
    yield at_least(BENCHMARK, f"used from {WINDOW_SECONDS} s on", _pace(later), "%", promised=97)


def _pace(calls: Sequence[Call]) -> float:
    """Use between the first call and the last: what a call costs was waited for before it, so the first is left out."""
    return _percent(sum(call.units for call in calls[1:]), calls[-1].at - calls[0].at)


def _percent(units: int, seconds: float) -> float:
    return 100 * units / (seconds * UNITS_PER_MINUTE / 60)
