"""Finding known refs: one at a time and in batches, held against the plain selects that this stands for."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from figures import Figure, at_most
from store.content import BODY, SOURCE, TITLE, ref
from store.plain import Plain
from store.turns import Slice, Times, microseconds, ratio, take_turns, timed

from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import TaskDraft

SLICE = 100
BATCH = 500
Item = TypeVar("Item")


def make_drafts(tenant: str, numbers: range) -> list[TaskDraft]:
    """The drafts of these tasks."""
    return [TaskDraft(ref(tenant, number), TITLE, body=BODY, source=SOURCE) for number in numbers]


def compare_finds(
    name: str, store: TaskStore, plain: Plain, unwalled: Plain, drafts: Sequence[TaskDraft], *, slices: int
) -> Iterator[Figure]:
    """Find some of the known ``drafts`` in each slice, and the same ones on every side."""
    chosen = [random.Random(number).sample(drafts, SLICE) for number in range(slices + 1)]
    refs = [[draft.external_ref for draft in some] for some in chosen]
    ids = [[plain.find(each) for each in some] for some in refs]
    sides = {
        "upsert_task": _each(lambda draft: store.upsert_task(draft, actor="bench"), chosen),
        "plain select": _each(plain.find, refs),
        "plain select by primary key": _each(plain.find_by_primary_key, ids),
        "plain select by ref alone, no walls": _each(unwalled.find_by_ref_alone, refs),
    }
    yield from _figures(f"{name} find", take_turns(sides, slices), promised=1.2)


def compare_batches(
    name: str, store: TaskStore, plain: Plain, drafts: Sequence[TaskDraft], slices: int
) -> Iterator[Figure]:
    """The same in batches: a slice is one call."""
    chosen = [random.Random(number).sample(drafts, BATCH) for number in range(slices + 1)]
    refs = [[draft.external_ref for draft in some] for some in chosen]
    sides: dict[str, Slice] = {
        "upsert_tasks": lambda number: timed(lambda: store.upsert_tasks(chosen[number], actor="bench"), BATCH),
        "plain join": lambda number: timed(lambda: plain.find_batch(refs[number]), BATCH),
    }
    yield from _figures(f"{name} find {BATCH}", take_turns(sides, slices), promised=1.25)


def _each(work: Callable[[Item], object], slices: Sequence[Sequence[Item]]) -> Slice:
    def work_on_each(items: Sequence[Item]) -> None:
        for item in items:
            work(item)

    return lambda number: timed(lambda: work_on_each(slices[number]), SLICE)


def _figures(name: str, times: Times, *, promised: float) -> Iterator[Figure]:
    """The first side is ours, the second the one that the promise speaks of."""
    ours, against, *others = times
    for side in times:
        yield Figure(name, side, microseconds(times, side), "us/task")
    yield at_most(name, f"{ours} / {against}", ratio(times, ours, against), "x", promised=promised)
    for side in others:
        yield Figure(name, f"{ours} / {side}", ratio(times, ours, side), "x")
