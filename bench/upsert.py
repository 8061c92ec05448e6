"""Find-or-create beside the plain statements it stands for, on one connection.

A find is held against a select by the same index; a create against an insert of the same row alone, without a number
taken, activity and notification. Both sides work on small slices in turn, so that a busy machine slows both alike, and
take turns at going first, so that neither always finds the pages that the other has just read.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from statistics import median
from uuid import UUID

import psycopg
from figures import Figure
from psycopg.types.json import Jsonb
from sizes import Sizes
from stage import new_postgres

from inbox_loop.repository.database import Database
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.repository.upkeep import vacuum

BENCHMARK = "upsert"
OURS, PLAIN = "ours", "plain"
BATCH = 500
SLICE = 100
TITLE, BODY, SOURCE = "What about the delivery?", "Please look into order 4711. " * 10, {"mailbox": "bench"}
FIELDS = {"title": TITLE, "body": BODY, "source": Jsonb(SOURCE)}

UPSERT = """
select * from task_upsert_by_external_ref(
  p_tenant => %(tenant)s, p_external_ref => %(ref)s, p_title => %(title)s, p_body => %(body)s,
  p_source => %(source)s, p_actor => 'bench')"""
SELECT = """
select task_id, number, status from tasks
 where tenant_id = %(tenant_id)s and external_ref = %(ref)s and deleted_at is null"""
INSERT = """
insert into tasks (tenant_id, number, title, body, external_ref, source)
values (%(tenant_id)s, %(number)s, %(title)s, %(body)s, %(ref)s, %(source)s)
on conflict do nothing returning task_id, status"""

UPSERT_BATCH = "select * from task_upsert_batch_by_external_ref(p_tenant => %(tenant)s, p_items => %(items)s)"
SELECT_BATCH = """
select t.task_id, t.number, t.status from unnest(%(refs)s::text[]) as asked (ref)
  join tasks as t on t.tenant_id = %(tenant_id)s and t.external_ref = asked.ref::citext and t.deleted_at is null"""
INSERT_BATCH = """
insert into tasks (tenant_id, number, title, body, external_ref, source)
select %(tenant_id)s, number, %(title)s, %(body)s, ref::citext, %(source)s
  from unnest(%(numbers)s::bigint[], %(refs)s::text[]) as new (number, ref)
on conflict do nothing returning task_id, status"""

Refs = Sequence[str]
Work = Callable[[Refs], None]


@dataclass(frozen=True, slots=True)
class Session:
    """One connection, and a tenant for either side, so that both can create the same refs."""

    connection: psycopg.Connection
    ours: UUID
    plain: UUID
    numbers: Iterator[int]
    """Task numbers for the plain side, which takes none from a counter."""

    def upsert(self, ref: str) -> None:
        """Ours, one ref."""
        self.connection.execute(UPSERT, {"tenant": OURS, "ref": ref, **FIELDS}).fetchall()

    def select(self, ref: str) -> None:
        """Plain, one ref that is there."""
        self.connection.execute(SELECT, {"tenant_id": self.ours, "ref": ref}).fetchall()

    def insert(self, ref: str) -> None:
        """Plain, one ref that is new."""
        params = {"tenant_id": self.plain, "number": next(self.numbers), "ref": ref, **FIELDS}
        self.connection.execute(INSERT, params).fetchall()

    def upsert_batch(self, refs: Refs) -> None:
        """Ours, many refs."""
        items = [{"external_ref": ref, "title": TITLE, "body": BODY, "source": SOURCE} for ref in refs]
        self.connection.execute(UPSERT_BATCH, {"tenant": OURS, "items": Jsonb(items)}).fetchall()

    def select_batch(self, refs: Refs) -> None:
        """Plain, many refs that are there."""
        self.connection.execute(SELECT_BATCH, {"tenant_id": self.ours, "refs": list(refs)}).fetchall()

    def insert_batch(self, refs: Refs) -> None:
        """Plain, many refs that are new."""
        numbers = [next(self.numbers) for _ in refs]
        params = {"tenant_id": self.plain, "numbers": numbers, "refs": list(refs), **FIELDS}
        self.connection.execute(INSERT_BATCH, params).fetchall()


def measure(sizes: Sizes) -> Iterator[Figure]:
    """Create and find refs, in batches and one by one."""
    with new_postgres() as postgres, Database(postgres) as database:
        for tenant in (OURS, PLAIN):
            ensure_tenant(database, tenant, [])
        with psycopg.connect(postgres, autocommit=True) as connection:
            session = _open_session(connection)
            known, new = _refs("known", sizes.batch_refs), _refs("new", sizes.single_refs)
            yield from _compare("create in batches", session.upsert_batch, session.insert_batch, _cut(known, BATCH))
            vacuum(database)
            yield from _compare("find in batches", session.upsert_batch, session.select_batch, _cut(known, BATCH))
            few = known[: sizes.single_refs]
            yield from _compare("find one by one", _each(session.upsert), _each(session.select), _cut(few, SLICE))
            yield from _compare("create one by one", _each(session.upsert), _each(session.insert), _cut(new, SLICE))


def _open_session(connection: psycopg.Connection) -> Session:
    tenants: dict[str, UUID] = dict(connection.execute("select slug, tenant_id from tenants").fetchall())
    return Session(connection, ours=tenants[OURS], plain=tenants[PLAIN], numbers=count(1))


def _refs(kind: str, number: int) -> list[str]:
    """Refs in no order, as they come from a listing of busy threads."""
    refs = [f"gmail:{kind}{n // 2:016x}#{n:016x}" for n in range(number)]
    random.Random(1).shuffle(refs)
    return refs


def _cut(refs: Refs, size: int) -> list[Refs]:
    return [refs[start : start + size] for start in range(0, len(refs), size)]


def _each(work: Callable[[str], None]) -> Work:
    def work_on_each(refs: Refs) -> None:
        for ref in refs:
            work(ref)

    return work_on_each


def _compare(name: str, ours: Work, plain: Work, slices: Sequence[Refs]) -> Iterator[Figure]:
    """Refs a second on either side, and the median of the ratio in each slice."""
    pairs = []
    for number, refs in enumerate(slices):
        speed = {side: _refs_a_second(side, refs) for side in ((ours, plain), (plain, ours))[number % 2]}
        pairs.append((speed[ours], speed[plain]))
    yield Figure(BENCHMARK, name, median(pair[0] for pair in pairs), "refs/s")
    yield Figure(BENCHMARK, f"{name}: plain", median(pair[1] for pair in pairs), "refs/s")
    yield Figure(BENCHMARK, f"{name}: ratio", median(pair[0] / pair[1] for pair in pairs), "")


def _refs_a_second(work: Work, refs: Refs) -> float:
    started = time.perf_counter()
    work(refs)
    return len(refs) / (time.perf_counter() - started)
