"""``inbox-loop outbox list``: the deliveries that were given up, and those that wait."""

from __future__ import annotations

from typing import Annotated

import typer

from inbox_loop.commands.options import ConfigOption, JsonOption, read_settings
from inbox_loop.commands.outbox_tenants import EveryTenantOption, find_outbox_tenants
from inbox_loop.commands.show import moment, print_records, print_table
from inbox_loop.commands.wiring import open_database
from inbox_loop.repository.outbox import OutboxRow, PostgresOutbox

_COLUMNS = ("TASK", "TENANT", "STATE", "ATTEMPTS", "NEXT TRY", "LAST ERROR")


def list_outbox(
    context: typer.Context,
    *,
    limit: Annotated[int, typer.Option("--limit", help="At most so many.", min=1, max=10_000)] = 50,
    tenant: EveryTenantOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the webhook deliveries that were given up, then those that wait for their next attempt."""
    settings = read_settings(context, config)
    with open_database(settings) as database:
        rows = PostgresOutbox(database).list_undelivered(find_outbox_tenants(database, tenant), limit=limit)
    if as_json:
        print_records(_record(row) for row in rows)
    else:
        print_table(_COLUMNS, (_cells(row) for row in rows))


def _state(row: OutboxRow) -> str:
    return "waiting" if row.gave_up_at is None else "given up"


def _record(row: OutboxRow) -> dict[str, object]:
    return {
        "event_id": row.event_id,
        "topic": row.topic,
        "tenant": row.tenant,
        "task_number": row.task_number,
        "state": _state(row),
        "attempts": row.attempts,
        "next_attempt_at": None if row.gave_up_at else row.next_attempt_at,
        "last_error": row.last_error,
        "created_at": row.created_at,
        "announced_at": row.announced_at,
        "gave_up_at": row.gave_up_at,
    }


def _cells(row: OutboxRow) -> tuple[str, ...]:
    return (
        str(row.task_number),
        row.tenant,
        _state(row),
        str(row.attempts),
        "-" if row.gave_up_at else moment(row.next_attempt_at),
        row.last_error or "-",
    )
