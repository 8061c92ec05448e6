"""Millions of tasks over thousands of tenants, made by the server itself. One tenant has a tenth of them.

Without the indexes and the checks of foreign keys while it fills: the indexes are made again as they were, and what the
foreign keys would check is right by construction.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb
from store.content import BODY, SOURCE, TITLE

BIG = "tenant-0"
CONNECTIONS = 2

TENANTS = """
with made as (
    insert into tenants (slug) select * from unnest(%(slugs)s::text[]) returning tenant_id
)
insert into task_counters (tenant_id) select tenant_id from made"""
# With the server's own way of making ``content.ref``.
TASKS = """
insert into tasks (tenant_id, number, title, body, external_ref, container_ref, source)
select tenant_id, number, %(title)s, %(body)s, thread || '#' || left(md5(slug || '.' || number || '.'), 16), thread,
       %(source)s
  from tenants,
       generate_series(1, case when slug = %(big)s then %(in_big)s else %(in_others)s end) as number,
       lateral (select 'gmail:' || left(md5(slug || '.' || number / 2), 16)) as t (thread)
 where slug = any (%(slugs)s)"""
COUNTERS = """
update task_counters as c set next_number = 1 + case when n.slug = %(big)s then %(in_big)s else %(in_others)s end
  from tenants as n where n.tenant_id = c.tenant_id and n.slug = any (%(slugs)s)"""
# Those of constraints stay: the others are dropped and made again.
INDEXES = """
select c.relname, pg_get_indexdef(i.indexrelid) from pg_index as i join pg_class as c on c.oid = i.indexrelid
 where i.indrelid = 'tasks'::regclass and not exists (select from pg_constraint where conindid = i.indexrelid)"""


@dataclass(frozen=True, slots=True)
class Filling:
    """So many tasks, for so many tenants."""

    tasks: int
    tenants: int

    @property
    def in_others(self) -> int:
        """Tasks of each tenant but the big one: nine tenths, shared out."""
        return self.tasks * 9 // 10 // (self.tenants - 1)

    @property
    def in_big(self) -> int:
        """Tasks of the big tenant: the rest."""
        return self.tasks - self.in_others * (self.tenants - 1)

    @property
    def tenant_names(self) -> list[str]:
        """The slugs, the big one first."""
        return [f"tenant-{number}" for number in range(self.tenants)]

    def tasks_of(self, tenant: str) -> int:
        """How many tasks a tenant has; they are numbered from 1."""
        return self.in_big if tenant == BIG else self.in_others


def fill(postgres: str, filling: Filling) -> float:
    """Fill an empty database over a few connections at once; seconds it took."""
    started = time.perf_counter()
    with _connect(postgres) as connection, ThreadPoolExecutor(CONNECTIONS) as pool:
        indexes = connection.execute(INDEXES).fetchall()
        for name, _ in indexes:
            connection.execute(sql.SQL("drop index {}").format(sql.Identifier(name)))
        connection.execute(TENANTS, {"slugs": filling.tenant_names})
        shares = [filling.tenant_names[first::CONNECTIONS] for first in range(CONNECTIONS)]
        list(pool.map(lambda slugs: _make_tasks(postgres, filling, slugs), shares))
        list(pool.map(lambda index: _make_index(postgres, index[1]), indexes))
        connection.execute("vacuum (analyze)")
        connection.execute("checkpoint")
    return time.perf_counter() - started


def _make_tasks(postgres: str, filling: Filling, slugs: list[str]) -> None:
    params = {
        "slugs": slugs,
        "big": BIG,
        "in_big": filling.in_big,
        "in_others": filling.in_others,
        "title": TITLE,
        "body": BODY,
        "source": Jsonb(SOURCE),
    }
    with _connect(postgres) as connection:
        connection.execute(TASKS, params)
        connection.execute(COUNTERS, params)


def _make_index(postgres: str, definition: str) -> None:
    with _connect(postgres) as connection:
        connection.execute(sql.SQL(definition))


def _connect(postgres: str) -> psycopg.Connection:
    """As a superuser, for whom foreign keys can be left unchecked."""
    connection = psycopg.connect(postgres, user="postgres", autocommit=True)
    connection.execute("set session_replication_role = replica")
    connection.execute("set maintenance_work_mem = '1GB'")
    return connection
