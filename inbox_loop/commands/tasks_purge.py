"""``inbox-loop tasks purge``: remove old tasks for good."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import typer

from inbox_loop.commands.moments import AGE_FORMS, read_age
from inbox_loop.commands.options import ConfigOption, JsonOption, TenantOption, read_settings
from inbox_loop.commands.show import print_line, print_records
from inbox_loop.commands.wiring import open_tenant
from inbox_loop.errors import UsageError
from inbox_loop.repository.database import Database
from inbox_loop.repository.retention import count_purgeable, purge_tasks
from inbox_loop.settings import RetentionSettings


def purge(
    context: typer.Context,
    *,
    deleted_after: Annotated[
        str | None,
        typer.Option(
            "--deleted-after",
            help=f"Tasks deleted so long ago. {AGE_FORMS} Default: retention.deleted_after.",
            metavar="AGE",
        ),
    ] = None,
    finished_after: Annotated[
        str | None,
        typer.Option(
            "--finished-after",
            help="Tasks done or cancelled so long ago. Default: retention.finished_after.",
            metavar="AGE",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count what would be purged; purge nothing.")] = False,
    tenant: TenantOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Purge old tasks with all that happened to them. They can't be restored.

    What is known of the messages they came from is kept, so that no poll or backfill makes them again. A task that
    somebody is still to be told of stays for now, and so does one that a valid idempotency key stands for. A purge that
    was stopped has purged what it had come to; start it again for the rest.
    """
    settings = read_settings(context, config)
    limits = _read_limits(settings.retention, deleted_after, finished_after)
    with open_tenant(settings, tenant) as (database, chosen):
        count = (_count if dry_run else _purge_all)(database, chosen, limits)
    if as_json:
        print_records([{"tenant": chosen, "purgeable" if dry_run else "purged": count}])
    else:
        print_line(f"Tasks that {'would be' if dry_run else 'were'} purged: {count}")


def _read_limits(
    configured: RetentionSettings, deleted_after: str | None, finished_after: str | None
) -> RetentionSettings:
    """The configured ages, each replaced by the one that is given; raises ``UsageError`` when there is none at all."""
    limits = RetentionSettings(
        deleted_after=_age_or("--deleted-after", deleted_after, configured.deleted_after),
        finished_after=_age_or("--finished-after", finished_after, configured.finished_after),
    )
    if limits == RetentionSettings():
        raise UsageError(
            "nothing says which tasks to purge",
            hint="Give --deleted-after or --finished-after, or set one of them under [retention].",
        )
    return limits


def _age_or(option: str, text: str | None, configured: timedelta | None) -> timedelta | None:
    return configured if text is None else read_age(option, text)


def _count(database: Database, tenant: str, limits: RetentionSettings) -> int:
    return count_purgeable(
        database, tenant=tenant, deleted_after=limits.deleted_after, finished_after=limits.finished_after
    )


def _purge_all(database: Database, tenant: str, limits: RetentionSettings) -> int:
    """Purge a batch at a time until none is left; how many there were."""
    total = 0
    while purged := purge_tasks(
        database, tenant=tenant, deleted_after=limits.deleted_after, finished_after=limits.finished_after
    ):
        total += purged
    return total
