"""A session with Postgres: a connection, the tenant it is bound to, and the cursor for its single statements.

Lives here: the binding, by which row-level security tells whose rows a session sees (``migrations/0004_walls.sql``).
Not here: who takes which session when (``database.py``).
"""

from __future__ import annotations

from functools import cached_property
from uuid import UUID

import psycopg
from psycopg.rows import DictRow, TupleRow, tuple_row

from inbox_loop.repository.statements import Statements

# The server's bounds. A lock is waited for as long as a few commits take; more means that something is stuck.
TIMEOUTS = {"statement_timeout": "30s", "lock_timeout": "5s", "idle_timeout": "60s"}

# What a session is bound to while it is being bound: nothing that anyone asks for.
_UNKNOWN = UUID(int=0)

_SQL = Statements("session")


class Session(psycopg.Connection[DictRow]):
    """A connection in autocommit whose rows are dicts. Bound to no tenant, it passes the tenants' walls."""

    bound_to: UUID | None = None

    @cached_property
    def single(self) -> psycopg.Cursor[DictRow]:
        """The cursor for statements that run alone and are read to their end at once.

        Kept, because making a cursor costs as much as a third of a look-up.
        """
        return self.cursor()

    @cached_property
    def single_tuples(self) -> psycopg.Cursor[TupleRow]:
        """The same with rows that are tuples, for what is asked for by the thousand."""
        return self.cursor(row_factory=tuple_row)

    def configure(self) -> None:
        """Bound what the session can wait for; raises psycopg's errors."""
        self.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        self.execute(_SQL["configure_session"], TIMEOUTS)

    def bind(self, tenant_id: UUID | None) -> None:
        """See and write the rows of this tenant alone from now on; None for those of all. Not within a transaction.

        Costs nothing when the session is bound so already. Raises psycopg's errors.
        """
        if self.bound_to != tenant_id:
            self.bound_to = _UNKNOWN  # interrupted half-way, it is bound anew by the next user
            self.execute(_SQL["bind_tenant"], {"tenant_id": "" if tenant_id is None else str(tenant_id)})
            self.bound_to = tenant_id
