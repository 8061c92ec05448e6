"""The daemon's purge: once an hour, what is over for good is removed in small batches.

Expired idempotency keys always; tasks only where the retention settings say after how long, and then those of every
tenant of the database.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

import structlog

from inbox_loop.errors import InboxLoopError
from inbox_loop.loop.schedule import Job
from inbox_loop.repository.database import Database
from inbox_loop.repository.retention import purge_idempotency_keys, purge_tasks
from inbox_loop.repository.tenants import list_tenants
from inbox_loop.settings import Settings

INTERVAL_SECONDS = 3600.0
JITTER_SECONDS = 300.0
# By then a daemon that was only just restarted has caught up with its mail.
FIRST_SECONDS = 60.0

log = structlog.get_logger()


def purges(settings: Settings, database: Database, stop: threading.Event) -> Job:
    """The job that purges once an hour."""
    purge = partial(purge_once, settings, database, stop)
    return Job("purge", INTERVAL_SECONDS, JITTER_SECONDS, FIRST_SECONDS, purge)


def purge_once(settings: Settings, database: Database, stop: threading.Event) -> None:
    """Purge expired idempotency keys, and the tasks that the retention settings name; in batches, until a stop.

    Trouble is logged: the next purge goes on where this one ended.
    """
    tasks = keys = 0
    try:
        keys = _purge_all(partial(purge_idempotency_keys, database), stop)
        for tenant in list_tenants(database):
            tasks += _purge_all(_purge_of(settings, database, tenant), stop)
    except InboxLoopError as error:
        log.warning("retention.failed", hint=error.hint, exc_info=error)
    if tasks or keys:
        log.info("retention.purged", tasks=tasks, keys=keys)


def _purge_of(settings: Settings, database: Database, tenant: str) -> Callable[[], int]:
    """One batch of a tenant's tasks; with neither setting it removes none."""
    return partial(
        purge_tasks,
        database,
        tenant=tenant,
        deleted_after=settings.retention.deleted_after,
        finished_after=settings.retention.finished_after,
    )


def _purge_all(batch: Callable[[], int], stop: threading.Event) -> int:
    total = 0
    while not stop.is_set() and (count := batch()):
        total += count
    return total
