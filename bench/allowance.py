"""A backfill under Gmail's quota: nearly all of the allowance is used, and no answer says "slow down".

Measured on the other side: the simulator counts units as Gmail does, in a sliding window of a minute, and refuses what
is over. It runs in this process, so that its record of calls can be read; the backfill is the real command.
"""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence

from figures import Figure, at_least, exactly
from mail import make_messages
from processes import start_command
from sizes import Sizes
from stage import backfill_variables, new_folder, new_postgres

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
            try:
                first_answer.wait(START_SECONDS)
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGTERM)
            else:
                raise RuntimeError("the backfill ended too soon: see its log")


def _figures(calls: Sequence[Call], seconds: int) -> Iterator[Figure]:
    asked = [call for call in calls if call.address]
    start = min(call.at for call in asked)
    throttled = sum(call.is_throttled for call in asked)
    yield Figure(BENCHMARK, "calls in all", len(asked), "calls")
    yield exactly(BENCHMARK, "answers that said slow down", throttled, "", promised=0)
    for begin in range(0, seconds - WINDOW_SECONDS + 1, WINDOW_SECONDS):
        end = begin + WINDOW_SECONDS
        yield Figure(BENCHMARK, f"used from {begin} to {end} s", _percent_used(asked, start, begin, end), "%")
    used = _percent_used(asked, start, WINDOW_SECONDS, seconds)
    yield at_least(BENCHMARK, f"used from {WINDOW_SECONDS} to {seconds} s", used, "%", promised=97)


def _percent_used(calls: Sequence[Call], start: float, begin: int, end: int) -> float:
    units = sum(call.units for call in calls if begin <= call.at - start < end)
    return 100 * units / ((end - begin) * UNITS_PER_MINUTE / 60)
