"""Whose notifications the commands of the outbox speak of.

The relay works for every tenant of the database, configured here or not, so these commands do as well.
"""

from __future__ import annotations

from typing import Annotated

import typer

from inbox_loop.repository.database import Database
from inbox_loop.repository.tenants import check_tenant, list_tenants

EveryTenantOption = Annotated[
    str | None, typer.Option("--tenant", help="Whose tasks. Default: those of every tenant.", metavar="NAME")
]


def find_outbox_tenants(database: Database, wanted: str | None) -> tuple[str, ...]:
    """The wanted tenant, else all that the database has. Raises ``NoSuchTenant``."""
    if wanted is None:
        return list_tenants(database)
    check_tenant(database, wanted)
    return (wanted,)
