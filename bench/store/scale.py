"""Finding among few tasks and among very many: in one big tenant, and in any tenant.

In any tenant, the connection is bound anew nearly each time. Both databases are in one server.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from figures import Figure, at_most
from store.content import BODY, SOURCE, TITLE, ref
from store.databases import find_size, new_database
from store.fill import BIG, Filling, fill
from store.find import SLICE
from store.turns import Slice, microseconds, ratio, take_turns, timed

from inbox_loop.repository.database import Database
from inbox_loop.repository.migrate import migrate
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import TaskDraft, UpsertOutcome

FEW = Filling(tasks=10_000, tenants=10)


@dataclass(frozen=True, slots=True)
class Filled:
    """A filled database, and a store for each of its tenants."""

    filling: Filling
    stores: dict[str, TaskStore]
    seconds: float
    gigabytes: float

    def find_in_big(self, number: int) -> float:
        """Refs of the big tenant alone; seconds a find."""
        return self._find([BIG] * SLICE, random.Random(number))

    def find_in_any(self, number: int) -> float:
        """Refs of any tenants, as likely a small one as the big one; seconds a find."""
        chance = random.Random(number)
        return self._find(chance.choices(list(self.stores), k=SLICE), chance)

    def use_each(self) -> None:
        """Let every store learn its tenant's id, as its first use does."""
        for tenant, store in self.stores.items():
            store.upsert_task(TaskDraft(ref(tenant, 1), TITLE), actor="bench")

    def _find(self, tenants: list[str], chance: random.Random) -> float:
        asked = [(self.stores[tenant], self._draft(tenant, chance)) for tenant in tenants]

        def work() -> None:
            for store, draft in asked:
                if store.upsert_task(draft, actor="bench").outcome is not UpsertOutcome.FOUND:
                    raise RuntimeError("a known ref was not found")

        return timed(work, SLICE)

    def _draft(self, tenant: str, chance: random.Random) -> TaskDraft:
        number = chance.randint(1, self.filling.tasks_of(tenant))
        return TaskDraft(ref(tenant, number), TITLE, body=BODY, source=SOURCE)


def compare_scales(name: str, postgres: str, many: Filling, slices: int) -> Iterator[Figure]:
    """Fill one database with few tasks and one with ``many``, and find in both in turn."""
    with _filled(postgres, "few", FEW) as few, _filled(postgres, "many", many) as very_many:
        name = f"{name} scale"
        yield Figure(name, f"filling with {many.tasks:,} tasks, {many.tenants:,} tenants", very_many.seconds, "s")
        yield Figure(name, "the database's size", very_many.gigabytes, "GB")
        few_big, few_any = f"big tenant, {FEW.in_big:,} of {FEW.tasks:,}", f"any of {FEW.tenants:,} tenants"
        many_big, many_any = f"big tenant, {many.in_big:,} of {many.tasks:,}", f"any of {many.tenants:,} tenants"
        sides: dict[str, Slice] = {
            few_big: few.find_in_big,
            many_big: very_many.find_in_big,
            few_any: few.find_in_any,
            many_any: very_many.find_in_any,
        }
        times = take_turns(sides, slices)
        for side in sides:
            yield Figure(name, side, microseconds(times, side), "us/task")
        yield at_most(name, "big tenant, many / few", ratio(times, many_big, few_big), "x", promised=1.5)
        yield at_most(name, "any tenant, many / few", ratio(times, many_any, few_any), "x", promised=1.5)
        yield Figure(name, "few, any tenant / one", ratio(times, few_any, few_big), "x")


@contextmanager
def _filled(postgres: str, name: str, filling: Filling) -> Iterator[Filled]:
    url = new_database(postgres, name)
    with Database(url, pool_size=1) as database:
        migrate(database)
        seconds = fill(url, filling)
        stores = {slug: TaskStore(database, tenant=slug) for slug in filling.tenant_names}
        filled = Filled(filling, stores, seconds, find_size(url) / 1_000_000_000)
        filled.use_each()
        yield filled
