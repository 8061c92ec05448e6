"""How much is measured: the full sizes, whose figures stand in docs/performance.md, and quick ones to try a change."""

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
    single_refs: int
    """Refs found, and refs created, one by one in a round."""
    batch_refs: int
    """The same in batches."""


FULL = Sizes(
    rounds=3,
    polls=200,
    known_messages=(2_000, 20_000),
    allowance_seconds=75,
    new_messages=(1_000, 5_000, 10_000),
    single_refs=2_000,
    batch_refs=10_000,
)

QUICK = Sizes(
    rounds=1,
    polls=20,
    known_messages=(1_000,),
    allowance_seconds=30,
    new_messages=(200, 600),
    single_refs=200,
    batch_refs=1_000,
)
