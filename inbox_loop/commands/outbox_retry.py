"""``inbox-loop outbox retry``: set the deliveries going again that were given up."""

from __future__ import annotations

import typer

from inbox_loop.commands.options import ConfigOption, JsonOption, TenantOption, choose_tenants, read_settings
from inbox_loop.commands.show import print_line, print_records
from inbox_loop.commands.wiring import open_database
from inbox_loop.repository.outbox import PostgresOutbox
from inbox_loop.repository.tenants import check_tenant


def retry_outbox(
    context: typer.Context, *, tenant: TenantOption = None, config: ConfigOption = None, as_json: JsonOption = False
) -> None:
    """Try the webhook deliveries again that were given up, with all their attempts before them.

    The daemon makes the attempts: inbox-loop run.
    """
    settings = read_settings(context, config)
    tenants = choose_tenants(settings, tenant)
    with open_database(settings) as database:
        for each in tenants:
            check_tenant(database, each)
        count = PostgresOutbox(database).retry_given_up(tenants)
    if as_json:
        print_records([{"retried": count}])
    else:
        print_line(f"{count} {'delivery is' if count == 1 else 'deliveries are'} tried again.")
