"""``inbox-loop tasks count``: how many tasks there are that the filters fit."""

from __future__ import annotations

from datetime import UTC, datetime

import typer

from inbox_loop.commands.known import check_mailbox
from inbox_loop.commands.options import ConfigOption, JsonOption, MailboxOption, TenantOption, read_settings
from inbox_loop.commands.show import print_line, print_records
from inbox_loop.commands.task_filters import (
    ContainerRefFilter,
    DeletedFilter,
    LabelFilter,
    SinceFilter,
    StatusFilter,
    TextFilter,
    read_filter,
)
from inbox_loop.commands.wiring import open_tenant
from inbox_loop.repository.tasks import TaskStore


def count_tasks(
    context: typer.Context,
    *,
    status: StatusFilter = None,
    label: LabelFilter = None,
    container_ref: ContainerRefFilter = None,
    mailbox: MailboxOption = None,
    text: TextFilter = None,
    since: SinceFilter = None,
    deleted: DeletedFilter = False,
    tenant: TenantOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count the tasks that every given filter fits."""
    wanted = read_filter(
        statuses=status,
        labels=label,
        container_ref=container_ref,
        mailbox=mailbox,
        text=text,
        since=since,
        deleted=deleted,
        now=datetime.now(UTC),
    )
    settings = read_settings(context, config)
    with open_tenant(settings, tenant) as (database, chosen):
        check_mailbox(database, settings, tenant=chosen, mailbox=mailbox)
        count = TaskStore(database, tenant=chosen).count_tasks(wanted)
    if as_json:
        print_records([{"count": count}])
    else:
        print_line(str(count))
