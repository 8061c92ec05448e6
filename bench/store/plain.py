"""The plain statements that the store's calls stand for, on a connection of their own that is bound to the tenant.

Sent as psycopg's documentation shows it: ``connection.execute(...).fetchone()``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from uuid import UUID, uuid4

import psycopg
from psycopg.types.json import Jsonb
from store.content import BODY, SOURCE, TITLE

BIND = (
    "select set_config('inbox_loop.tenant_id', tenant_id::text, false), tenant_id from tenants where slug = %(tenant)s"
)

SELECT = """
select task_id, number, status from tasks
 where tenant_id = %(tenant_id)s and external_ref_key = ref_key(%(ref)s::text)
   and external_ref = %(ref)s::text::citext and deleted_at is null"""
SELECT_BY_REF_ALONE = """
select task_id, number, status from tasks
 where tenant_id = %(tenant_id)s and external_ref = %(ref)s::text::citext and deleted_at is null"""
SELECT_BY_PRIMARY_KEY = """
select task_id, number, status from tasks where tenant_id = %(tenant_id)s and task_id = %(task_id)s"""
# The limit makes it one look by index a ref, whatever the planner believes: behind row-level security an ordinary join
# on ref_key(...), which is not leakproof, reads the whole tenant and takes three times as long.
SELECT_BATCH = """
select t.task_id, t.number, t.status
  from unnest(%(refs)s::text[]) as asked (ref)
 cross join lateral (
       select k.task_id, k.number, k.status from tasks as k
        where k.tenant_id = %(tenant_id)s and k.external_ref_key = ref_key(asked.ref)
          and k.external_ref = asked.ref::citext and k.deleted_at is null
        limit 1) as t"""

INSERT_TASKS = """
insert into tasks (tenant_id, task_id, number, title, body, external_ref, source)
select %(tenant_id)s, new.* from unnest(
  %(task_ids)s::uuid[], %(numbers)s::bigint[], %(titles)s::text[], %(bodies)s::text[], %(refs)s::citext[],
  %(sources)s::jsonb[]) as new"""
INSERT_ACTIVITY = """
insert into task_activity (tenant_id, task_id, kind, actor)
select %(tenant_id)s, new.task_id, 'created', 'bench' from unnest(%(task_ids)s::uuid[]) as new (task_id)"""
INSERT_NOTIFICATIONS = """
insert into notifications (tenant_id, topic, task_id, payload)
select %(tenant_id)s, 'task.created', new.task_id, jsonb_build_object('number', new.number, 'external_ref', new.ref)
  from unnest(%(task_ids)s::uuid[], %(numbers)s::bigint[], %(refs)s::text[]) as new (task_id, number, ref)"""


@dataclass(frozen=True, slots=True)
class Plain:
    """One connection, bound to one tenant."""

    connection: psycopg.Connection
    tenant_id: UUID
    numbers: Iterator[int]
    """Task numbers, which no counter gives."""

    def find(self, ref: str) -> UUID:
        """By the index that the store's look-ups use."""
        return self._task_id(SELECT, {"tenant_id": self.tenant_id, "ref": ref})

    def find_by_ref_alone(self, ref: str) -> UUID:
        """By the unique index, which only a session without walls may use."""
        return self._task_id(SELECT_BY_REF_ALONE, {"tenant_id": self.tenant_id, "ref": ref})

    def find_by_primary_key(self, task_id: UUID) -> UUID:
        """By id."""
        return self._task_id(SELECT_BY_PRIMARY_KEY, {"tenant_id": self.tenant_id, "task_id": task_id})

    def find_batch(self, refs: Sequence[str]) -> int:
        """Many refs at once; how many were there."""
        rows = self.connection.execute(SELECT_BATCH, {"tenant_id": self.tenant_id, "refs": refs}).fetchall()
        return len(rows)

    def insert(self, refs: Sequence[str]) -> None:
        """The rows of new tasks, their activity and their notifications, in one transaction."""
        params = {
            "tenant_id": self.tenant_id,
            "task_ids": [uuid4() for _ in refs],
            "numbers": [next(self.numbers) for _ in refs],
            "titles": [TITLE for _ in refs],
            "bodies": [BODY for _ in refs],
            "refs": refs,
            "sources": [Jsonb(SOURCE) for _ in refs],
        }
        with self.connection.transaction():
            self.connection.execute(INSERT_TASKS, params)
            self.connection.execute(INSERT_ACTIVITY, params)
            self.connection.execute(INSERT_NOTIFICATIONS, params)

    def _task_id(self, statement: str, params: dict[str, object]) -> UUID:
        row = self.connection.execute(statement, params).fetchone()
        assert row is not None
        found: UUID = row[0]
        return found


@contextmanager
def open_plain(postgres: str, tenant: str) -> Iterator[Plain]:
    """A connection in autocommit, bound to the tenant."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        row = connection.execute(BIND, {"tenant": tenant}).fetchone()
        assert row is not None
        yield Plain(connection, row[1], count(1))


@contextmanager
def open_unwalled(postgres: str, tenant: str) -> Iterator[Plain]:
    """The same for a superuser, whom row-level security does not concern."""
    with open_plain(psycopg.conninfo.make_conninfo(postgres, user="postgres"), tenant) as plain:
        yield plain
