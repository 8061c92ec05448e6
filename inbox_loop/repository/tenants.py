"""Tenants and their projects: made from the configuration at start-up."""

from __future__ import annotations

from collections.abc import Iterable

from inbox_loop.repository.database import Connection, Database
from inbox_loop.repository.statements import Statements

_SQL = Statements("tenants")


def ensure_tenant(database: Database, slug: str, projects: Iterable[str]) -> None:
    """Make the tenant and its projects where they are missing; a pure read when all exist.

    A name is 1 to 63 lower-case letters, digits, hyphens and underscores. Raises ``InvalidValue``.
    """
    params = {"tenant": slug, "projects": sorted(set(projects))}
    missing = database.row(_SQL["find_missing"], params)
    if missing is not None and not missing["tenant"] and not missing["project"]:
        return

    def work(connection: Connection) -> None:
        for step in ("create_tenant", "create_counter", "create_projects"):
            connection.execute(_SQL[step], params)

    database.in_transaction(work)
