"""Retention: tasks that are long over, and idempotency keys that have expired, removed for good.

Rules: a task goes with all that hangs on it (activity, notifications, keys), and its children lose their parent. The
ledger keeps its row, so that no message becomes a task again. A task stays as long as somebody is still to be told of
it, and as long as an idempotency key that has not expired names it.

Not here: when it is time (``settings.RetentionSettings``), and who asks.
"""

from __future__ import annotations

from datetime import timedelta

from inbox_loop.repository.clean import check_limit
from inbox_loop.repository.database import Database
from inbox_loop.repository.statements import Statements

BATCH = 1000
KEY_BATCH = 10_000

_SQL = Statements("retention")


def purge_tasks(
    database: Database,
    *,
    tenant: str,
    deleted_after: timedelta | None,
    finished_after: timedelta | None,
    limit: int = BATCH,
) -> int:
    """Remove at most ``limit`` tasks of the tenant, in one short transaction; how many. None left: 0.

    Tombstones go so long after they were deleted, live tasks that are done or cancelled so long after that, by the
    database's clock. None keeps them for ever. A task that somebody else has locked is left for the next call. Raises
    ``NoSuchTenant``.
    """
    check_limit(limit)
    row = database.for_tenant(tenant).row(
        _SQL["purge_tasks"], {"deleted_after": deleted_after, "finished_after": finished_after, "limit": limit}
    )
    return 0 if row is None else int(row["purged"])


def count_purgeable(
    database: Database, *, tenant: str, deleted_after: timedelta | None, finished_after: timedelta | None
) -> int:
    """How many tasks ``purge_tasks`` would remove now, in all of its batches. Raises ``NoSuchTenant``."""
    row = database.for_tenant(tenant).row(
        _SQL["count_purgeable"],
        {"deleted_after": deleted_after, "finished_after": finished_after},
    )
    return 0 if row is None else int(row["purgeable"])


def purge_idempotency_keys(database: Database, *, limit: int = KEY_BATCH) -> int:
    """Remove at most ``limit`` keys of any tenant that expired; how many.

    They mean nothing from that moment on, purged or not.
    """
    check_limit(limit)
    row = database.row(_SQL["purge_idempotency_keys"], {"limit": limit})
    return 0 if row is None else int(row["purged"])
