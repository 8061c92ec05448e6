"""The options that many sub-commands share, and what follows from them: the settings and the tenant.

Lives here: those options, once. Not here: reading a configuration (``configuration.py``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inbox_loop.commands.configuration import find_settings
from inbox_loop.commands.logs import configure_logs
from inbox_loop.errors import UsageError
from inbox_loop.settings import Settings

DEFAULT_TENANT = "default"

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", help="Configuration file. Default: $INBOX_LOOP_CONFIG, else the user's.", metavar="FILE"),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")]
TenantOption = Annotated[
    str | None,
    typer.Option("--tenant", help="Whose tasks. Default: the only tenant that is configured.", metavar="NAME"),
]
MailboxOption = Annotated[str | None, typer.Option("--mailbox", help="Only this mailbox.", metavar="NAME")]
LimitOption = Annotated[int, typer.Option("--limit", help="At most so many, newest first.", min=1, max=10_000)]


def read_settings(context: typer.Context, config: Path | None) -> Settings:
    """The settings, from ``--config`` of the sub-command or else of ``inbox-loop`` itself. Sets up the log by them.

    Raises ``ConfigError``.
    """
    settings = find_settings(config or context.find_root().params.get("config"))
    configure_logs(settings.log)
    return settings


def choose_tenant(settings: Settings, wanted: str | None) -> str:
    """The tenant a command speaks of; raises ``UsageError`` when the configuration leaves it open."""
    configured = sorted({mailbox.tenant for mailbox in settings.mailboxes})
    if wanted is not None:
        return wanted
    if len(configured) == 1:
        return configured[0]
    if not configured or DEFAULT_TENANT in configured:
        return DEFAULT_TENANT
    raise UsageError(
        f"the configured mailboxes belong to several tenants: {', '.join(configured)}", hint="Say which: --tenant NAME."
    )
