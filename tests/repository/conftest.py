"""What the tests of the store start from: a tenant, its tasks, and one mailbox."""

from __future__ import annotations

import pytest

from inbox_loop.repository.database import Database
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant


@pytest.fixture
def tasks(database: Database) -> TaskStore:
    """The tasks of the tenant ``acme``, which has the project ``inbox``."""
    ensure_tenant(database, "acme", ["inbox"])
    return TaskStore(database, tenant="acme")


@pytest.fixture
def store(database: Database, tasks: TaskStore) -> PostgresLoopStore:  # noqa: ARG001 - makes the tenant
    """The mailbox ``desk`` of ``acme``, touched once: its cursor is 100."""
    bound = PostgresLoopStore(database, tenant="acme", mailbox="desk", project=None)
    bound.create_mailbox("desk@example.com", 100, "sign-in 1")
    return bound
