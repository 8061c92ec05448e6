"""Tenants and their projects: made from the configuration at start-up, and looked for by whoever only reads."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from inbox_loop.errors import NoSuchTenant
from inbox_loop.repository.clean import check_text
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


def check_tenant(database: Database, slug: str) -> None:
    """Return when the database has the tenant; writes nothing.

    Raises ``NoSuchTenant``; its hint names the tenant that was most likely meant, if one is called nearly so.
    """
    check_text("tenant", slug)
    if database.row(_SQL["find_tenant"], {"tenant": slug}) is not None:
        return
    nearest = get_close_matches(slug, list_tenants(database), n=1)
    hint = f"Did you mean {nearest[0]}?" if nearest else "Check mailboxes.tenant or --tenant."
    raise NoSuchTenant(f"the database has no tenant {slug!r}", hint=hint)


def list_tenants(database: Database) -> tuple[str, ...]:
    """The names of all tenants that the database has, in order."""
    return tuple(row["slug"] for row in database.rows(_SQL["list_tenants"]))


def find_walls(database: Database) -> bool:
    """Whether the walls between tenants stand for this database user: superusers and BYPASSRLS pass by them."""
    row = database.row(_SQL["find_walls"])
    return row is not None and bool(row["stand"])
