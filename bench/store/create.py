"""Creating tasks: one at a time and in batches, held against plain inserts of the same rows in the same tables.

The plain side takes no number from a counter, looks for nothing and waits for no lock.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from figures import Figure, at_least, at_most
from store.find import BATCH, SLICE, make_drafts
from store.plain import Plain
from store.turns import Slice, microseconds, ratio, take_turns, timed

from inbox_loop.repository.tasks import TaskStore


class Creates:
    """New tasks for both sides, each of them once."""

    def __init__(self, store: TaskStore, plain: Plain) -> None:
        self._store = store
        self._plain = plain
        self._numbers = count(1)

    def one_at_a_time(self, _number: int) -> float:
        """Ours, a call for each."""
        drafts = make_drafts("create", self._take(SLICE))

        def work() -> None:
            for draft in drafts:
                self._store.upsert_task(draft, actor="bench")

        return timed(work, SLICE)

    def batch(self, _number: int) -> float:
        """Ours, one call."""
        drafts = make_drafts("create", self._take(BATCH))
        return timed(lambda: self._store.upsert_tasks(drafts, actor="bench"), BATCH)

    def plain_one_at_a_time(self, _number: int) -> float:
        """A transaction with three inserts for each."""
        refs = [draft.external_ref for draft in make_drafts("create", self._take(SLICE))]

        def work() -> None:
            for ref in refs:
                self._plain.insert([ref])

        return timed(work, SLICE)

    def plain_batch(self, _number: int) -> float:
        """A transaction with three inserts in all."""
        refs = [draft.external_ref for draft in make_drafts("create", self._take(BATCH))]
        return timed(lambda: self._plain.insert(refs), BATCH)

    def _take(self, many: int) -> range:
        """Numbers that were not given out before."""
        start = next(self._numbers) * BATCH
        return range(start, start + many)


def compare_creates(name: str, store: TaskStore, plain: Plain, slices: int) -> Iterator[Figure]:
    """Create new tasks in each slice."""
    creates = Creates(store, plain)
    one, batch, plain_one, plain_batch = (
        "upsert_task",
        f"upsert_tasks, {BATCH}",
        "plain inserts",
        f"plain, {BATCH} rows",
    )
    sides: dict[str, Slice] = {
        one: creates.one_at_a_time,
        batch: creates.batch,
        plain_one: creates.plain_one_at_a_time,
        plain_batch: creates.plain_batch,
    }
    name = f"{name} create"
    times = take_turns(sides, slices)
    for side in sides:
        yield Figure(name, side, microseconds(times, side), "us/task")
    yield at_least(name, "gain of a batch", ratio(times, one, batch), "x", promised=6)
    yield at_most(name, f"{batch} / {plain_batch}", ratio(times, batch, plain_batch), "x", promised=2.5)
    yield Figure(name, f"{one} / {plain_one}", ratio(times, one, plain_one), "x")
