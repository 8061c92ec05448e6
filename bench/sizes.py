"""How much is measured: the full sizes, and quick ones to try a change.

The figures of the full sizes stand in docs/performance.md and README.md.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of every benchmark."""

    rounds: int
    """How often each measurement is repeated; its figure is the median."""
    polls: int
    known_messages: tuple[int, ...]
    allowance_seconds: int
    """How long a backfill runs against the quota."""
    new_messages: tuple[int, ...]
    """From the fewest to the most; memory at the last is held against memory at the first."""
    mail_rounds: int
    """How often each mail of the corpus is read; its figure is the median."""
    store_slices: int
    """Slices that each side of the task store's comparisons works on."""
    store_tasks: int
    """How many very many tasks are."""
    store_tenants: int
    """Their tenants."""
    store_peers: bool
    """Whether the task store's peers are installed where they are missing, or else left out."""


FULL = Sizes(
    rounds=3,
    polls=200,
    known_messages=(2_000, 20_000),
    allowance_seconds=75,
    new_messages=(1_000, 5_000, 10_000),
    mail_rounds=15,
    store_slices=60,
    store_tasks=10_000_000,
    store_tenants=10_000,
    store_peers=True,
)

QUICK = Sizes(
    rounds=1,
    polls=20,
    known_messages=(1_000,),
    allowance_seconds=30,
    new_messages=(200, 600),
    mail_rounds=2,
    store_slices=6,
    store_tasks=100_000,
    store_tenants=100,
    store_peers=False,
)
