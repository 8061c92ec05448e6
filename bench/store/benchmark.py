"""The task store: what find-or-create costs beside plain statements, beside its peers, and among very many tasks.

Each part is a module of this folder; here is what they share: a server, a filled tenant, the open store.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from figures import Figure
from sizes import Sizes
from stage import new_postgres
from store.create import compare_creates
from store.databases import analyze
from store.fill import Filling
from store.find import BATCH, compare_batches, compare_finds, make_drafts
from store.peers import compare_with_peers, peers_python
from store.plain import open_plain, open_unwalled
from store.scale import compare_scales

from inbox_loop.repository.database import Database
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant

BENCHMARK = "store"
OURS, PLAIN = "ours", "plain"
KNOWN = 10_000


def measure(sizes: Sizes) -> Iterator[Figure]:
    """All parts, one after the other."""
    yield from _beside_plain_statements(sizes.store_slices)
    yield from _beside_peers(sizes)
    with new_postgres() as postgres:
        many = Filling(sizes.store_tasks, sizes.store_tenants)
        yield from compare_scales(BENCHMARK, postgres, many, sizes.store_slices)


def _beside_plain_statements(slices: int) -> Iterator[Figure]:
    drafts = make_drafts(OURS, range(KNOWN))
    with new_postgres() as postgres, _open_store(postgres) as store, open_plain(postgres, OURS) as plain:
        for start in range(0, KNOWN, BATCH):
            store.upsert_tasks(drafts[start : start + BATCH], actor="bench")
        analyze(postgres)
        with open_unwalled(postgres, OURS) as unwalled:
            yield from compare_finds(BENCHMARK, store, plain, unwalled, drafts, slices=slices)
        yield from compare_batches(BENCHMARK, store, plain, drafts, slices)
        with open_plain(postgres, PLAIN) as inserting:
            yield from compare_creates(BENCHMARK, store, inserting, slices)


def _beside_peers(sizes: Sizes) -> Iterator[Figure]:
    python = peers_python(install=sizes.store_peers)
    if python is None:
        print("The peers are not installed, and are left out: a full run installs them.", file=sys.stderr)
        return
    yield from compare_with_peers(BENCHMARK, python, sizes.store_slices)


@contextmanager
def _open_store(postgres: str) -> Iterator[TaskStore]:
    with Database(postgres, pool_size=1) as database:
        for tenant in (OURS, PLAIN):
            ensure_tenant(database, tenant, [])
        yield TaskStore(database, tenant=OURS)
