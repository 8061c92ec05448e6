"""The options that many sub-commands share, and what follows from them: settings, tenant, mailbox.

Lives here: those options, once. Not here: reading a configuration (``configuration.py``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from inbox_loop.commands.configuration import find_settings
from inbox_loop.commands.logs import configure_logs
from inbox_loop.errors import NoSuchMailbox, UsageError
from inbox_loop.settings import SLUG_PATTERN, MailboxSettings, Settings

DEFAULT_TENANT = "default"
JSON = "--json"


@dataclass(slots=True)
class Asked:
    """What one command line asks of the telling of its end."""

    as_json: bool | None = None
    """Whether a record is wanted; None while the command line is not read that far."""


def _note_form(context: typer.Context, value: bool) -> bool:  # noqa: FBT001 - typer hands a flag's value to its callback
    if (asked := context.find_object(Asked)) is not None:
        asked.as_json = value
    return value


ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", help="Configuration file. Default: $INBOX_LOOP_CONFIG, else the user's.", metavar="FILE"),
]
JsonOption = Annotated[
    bool,
    typer.Option(
        JSON,
        help="Print one JSON object per line. An error is one too, beside its words on standard error: "
        "error, message, hint, retryable, task_number.",
        is_eager=True,  # read before any other option, so that it is known when another one's value is refused
        callback=_note_form,
    ),
]
TenantOption = Annotated[
    str | None,
    typer.Option("--tenant", help="Whose tasks. Default: the only tenant that is configured.", metavar="NAME"),
]
MailboxOption = Annotated[str | None, typer.Option("--mailbox", help="Only this mailbox.", metavar="NAME")]
LimitOption = Annotated[int, typer.Option("--limit", help="At most so many, newest first.", min=1, max=10_000)]


def read_settings(context: typer.Context, config: Path | None) -> Settings:
    """The settings that ``find_given_settings`` finds, with the log set up by them. Raises ``ConfigError``."""
    settings = find_given_settings(context, config)
    configure_logs(settings.log)
    return settings


def find_given_settings(context: typer.Context, config: Path | None) -> Settings:
    """The settings, from ``--config`` of the sub-command or else of ``inbox-loop`` itself. Raises ``ConfigError``."""
    return find_settings(config or context.find_root().params.get("config"))


def choose_tenant(settings: Settings, wanted: str | None) -> str:
    """The tenant a command speaks of; raises ``UsageError`` when the configuration leaves it open."""
    tenants = choose_tenants(settings, wanted)
    if len(tenants) == 1:
        return tenants[0]
    if DEFAULT_TENANT in tenants:
        return DEFAULT_TENANT
    raise UsageError(
        f"the configured mailboxes belong to several tenants: {', '.join(tenants)}", hint="Say which: --tenant NAME."
    )


def choose_tenants(settings: Settings, wanted: str | None) -> tuple[str, ...]:
    """The tenants a command over all of them speaks of: the wanted one, else every configured one."""
    if wanted is None:
        return tuple(sorted({mailbox.tenant for mailbox in settings.mailboxes})) or (DEFAULT_TENANT,)
    if re.fullmatch(SLUG_PATTERN, wanted) is None:
        raise UsageError(f"{wanted!r} can't be a tenant's name", hint="It is lower-case letters, digits, _ and -.")
    return (wanted,)


def find_mailbox(settings: Settings, name: str) -> MailboxSettings:
    """The configured mailbox of this name; raises ``NoSuchMailbox``."""
    for mailbox in settings.mailboxes:
        if mailbox.name == name:
            return mailbox
    raise unknown_mailbox(name, [mailbox.name for mailbox in settings.mailboxes])


def unknown_mailbox(name: str, known: Sequence[str]) -> NoSuchMailbox:
    """The error for a mailbox that is not among ``known``; it names the nearest one."""
    if not known:
        return NoSuchMailbox(
            "no mailbox is configured", hint="Add [[mailboxes]] with name and token_file to the configuration."
        )
    nearest = get_close_matches(name, known, n=1)
    return NoSuchMailbox(
        f"no mailbox is called {name!r}",
        hint=f"Did you mean {nearest[0]}?" if nearest else f"There are: {', '.join(known)}.",
    )
