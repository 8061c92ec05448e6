"""A first backfill of many messages by the real command: how fast, and in how much memory.

There is no quota here, so this is what the machine can do, not what Gmail allows (some seven messages a second).
Processor time is told for the program, the simulator and Postgres apart: when the machine is busy with other work,
messages a second go down and processor time stays.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from figures import Figure, at_most, exactly
from made_mail import write_mbox
from processes import SimulatorProcess, cpu_seconds, postgres_cpu_seconds, run_command, running_simulator
from sizes import Sizes
from stage import NO_QUOTA, backfill_variables, new_folder, new_postgres

BENCHMARK = "new-mail"
MEBIBYTE = 1024 * 1024
# What Python's allocator may hold more or less from one run to the next.
ALLOWED_GROWTH_MEBIBYTES = 16


@dataclass(frozen=True, slots=True)
class Run:
    """One backfill."""

    settled: int
    seconds: float
    """Of the pass, without the start of the program."""
    peak_bytes: int
    program_cpu: float
    simulator_cpu: float
    postgres_cpu: float


def measure(sizes: Sizes) -> Iterator[Figure]:
    """Backfill each number of messages, the sizes in turn, each time for a tenant that knows none of them."""
    runs: dict[int, list[Run]] = defaultdict(list)
    with ExitStack() as stack:
        folder, postgres = stack.enter_context(new_folder()), stack.enter_context(new_postgres())
        simulators = {
            count: stack.enter_context(running_simulator(folder, write_mbox(folder / f"{count}.mbox", count)))
            for count in sizes.new_messages
        }
        for number in range(sizes.rounds):
            for count, simulator in simulators.items():
                tenant = f"tenant-{count}-{number}"
                runs[count].append(_backfill(folder, postgres, simulator, tenant))
    for count, of_count in runs.items():
        yield from _figures(count, of_count)
    few, many = (median(run.peak_bytes for run in runs[count]) for count in (min(runs), max(runs)))
    growth = (many - few) / MEBIBYTE
    name = f"{BENCHMARK} {min(runs):,} to {max(runs):,}"
    yield at_most(name, "growth of peak memory", growth, "MiB", promised=ALLOWED_GROWTH_MEBIBYTES)


def _backfill(folder: Path, postgres: str, simulator: SimulatorProcess, tenant: str) -> Run:
    variables = backfill_variables(
        postgres, simulator.url, simulator.token_file, units_per_minute=NO_QUOTA, tenant=tenant
    )
    simulator_before, postgres_before = cpu_seconds(simulator.pid), postgres_cpu_seconds(postgres)
    ended = run_command(["backfill", "--json"], variables, folder)
    report = json.loads(ended.output)
    return Run(
        settled=report["created"] + report["skipped"],
        seconds=report["duration_ms"] / 1000,
        peak_bytes=ended.peak_bytes,
        program_cpu=ended.cpu_seconds,
        simulator_cpu=cpu_seconds(simulator.pid) - simulator_before,
        postgres_cpu=postgres_cpu_seconds(postgres) - postgres_before,
    )


def _figures(count: int, runs: Sequence[Run]) -> Iterator[Figure]:
    name = f"{BENCHMARK} {count:,}"
    yield exactly(name, "messages settled", min(run.settled for run in runs), "", promised=count)
    yield Figure(name, "speed", count / median(run.seconds for run in runs), "messages/s")
    yield Figure(name, "peak memory", median(run.peak_bytes for run in runs) / MEBIBYTE, "MiB")
    yield Figure(name, "processor: program", median(run.program_cpu for run in runs), "s")
    yield Figure(name, "processor: simulator", median(run.simulator_cpu for run in runs), "s")
    yield Figure(name, "processor: Postgres", median(run.postgres_cpu for run in runs), "s")
