"""``inbox-loop outbox retry``: set the deliveries going again that were given up."""

from __future__ import annotations

import typer

from inbox_loop.commands.options import ConfigOption, JsonOption, read_settings
from inbox_loop.commands.outbox_tenants import EveryTenantOption, find_outbox_tenants
from inbox_loop.commands.show import print_line, print_records
from inbox_loop.commands.wiring import open_database
from inbox_loop.errors import UsageError
from inbox_loop.repository.outbox import PostgresOutbox


def retry_outbox(
    context: typer.Context,
    *,
    tenant: EveryTenantOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Try the webhook deliveries again that were given up, with all their attempts before them.

    The daemon makes the attempts: inbox-loop run. Needs outbox.webhook_url.
    """
    settings = read_settings(context, config)
    if settings.outbox.webhook_url is None:
        raise UsageError(
            "outbox.webhook_url is not set, so nothing is posted",
            hint="Use the configuration that the daemon posts by: --config FILE.",
        )
    with open_database(settings) as database:
        count = PostgresOutbox(database).retry_given_up(find_outbox_tenants(database, tenant))
    if as_json:
        print_records([{"retried": count}])
    else:
        print_line(f"{count} {'delivery is' if count == 1 else 'deliveries are'} tried again.")
