"""Bringing the parts together: the only place that knows all of them.

Lives here: making the parts from the settings. Not here: what they do with each other, which is a sub-command's.
Google's libraries take half a second to import, so they are imported by the functions that need them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from inbox_loop.commands.options import DEFAULT_TENANT, choose_tenant
from inbox_loop.embedded.folders import Place
from inbox_loop.embedded.server import default_folder, use_embedded
from inbox_loop.errors import NeedsAuth
from inbox_loop.gmail.token_file import TokenFile, read_token_file
from inbox_loop.repository.database import Database
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.repository.migrate import check_schema, migrate
from inbox_loop.repository.tenants import check_tenant, ensure_tenant
from inbox_loop.settings import DatabaseSettings, MailboxSettings, Settings

EMBEDDED = "embedded"


@contextmanager
def open_database(settings: Settings) -> Iterator[Database]:
    """The database, ready to be used: its schema fits, and the configured tenants and projects are there.

    The private one is brought up to date by itself. One of the user's own is only checked: raises
    ``DatabaseOutdated``. Also raises ``EmbeddedUnavailable`` and ``DatabaseUnreachable``.
    """
    with connect_database(settings) as database:
        if settings.database.url.get_secret_value() == EMBEDDED:
            migrate(database)
        else:
            check_schema(database)
        _ensure_tenants(database, settings)
        yield database


@contextmanager
def open_tenant(settings: Settings, wanted: str | None) -> Iterator[tuple[Database, str]]:
    """The database and the tenant a command speaks of, which must exist. Raises ``NoSuchTenant`` and ``UsageError``."""
    tenant = choose_tenant(settings, wanted)
    with open_database(settings) as database:
        check_tenant(database, tenant)
        yield database, tenant


@contextmanager
def connect_database(settings: Settings) -> Iterator[Database]:
    """The database as it is, whatever its schema. Raises ``EmbeddedUnavailable`` and ``DatabaseUnreachable``."""
    url = settings.database.url.get_secret_value()
    if url == EMBEDDED:
        with use_embedded(settings.database.data_folder) as private, Database(private) as database:
            yield database
    else:
        with Database(url) as database:
            yield database


def _ensure_tenants(database: Database, settings: Settings) -> None:
    projects: dict[str, set[str]] = defaultdict(set)
    of_rules = {rule.project for rule in settings.policy.rules if rule.project}
    for mailbox in settings.mailboxes:
        projects[mailbox.tenant] |= of_rules | ({mailbox.project} if mailbox.project else set())
    if not projects:
        projects[DEFAULT_TENANT] = set()
    for tenant, names in projects.items():
        ensure_tenant(database, tenant, sorted(names))


def find_sign_in(mailbox: MailboxSettings) -> TokenFile | NeedsAuth:
    """The mailbox's token file, or why it can't be used. Asks nobody."""
    try:
        return read_token_file(mailbox.token_file, mailbox=mailbox.name)
    except NeedsAuth as trouble:
        return trouble


def find_sign_in_trouble(mailbox: MailboxSettings) -> NeedsAuth | None:
    """Why the mailbox's token file can't be used, or None when it can. Asks nobody."""
    found = find_sign_in(mailbox)
    return found if isinstance(found, NeedsAuth) else None


def find_accounts(settings: Settings) -> Mapping[str, str]:
    """The Gmail address of each configured mailbox that was read before, by its name, as the database knows it.

    A private Postgres that has no data yet is not made for this. Raises what ``connect_database`` and ``check_schema``
    raise.
    """
    if _is_still_to_be_made(settings.database):
        return {}
    with connect_database(settings) as database:
        check_schema(database)
        rows = {
            each.name: PostgresLoopStore(
                database, tenant=each.tenant, mailbox=each.name, project=each.project
            ).find_mailbox()
            for each in settings.mailboxes
        }
    return {name: row.address for name, row in rows.items() if row is not None}


def _is_still_to_be_made(database: DatabaseSettings) -> bool:
    if database.url.get_secret_value() != EMBEDDED:
        return False
    return not Place(database.data_folder or default_folder()).list_majors()


def sign_in_to(
    client_secrets: Path,
    token_file: Path,
    *,
    port: int,
    open_browser: bool,
    timeout_seconds: float,
    show_url: Callable[[str], None],
) -> None:
    """Sign in to Gmail with a browser; see ``gmail/login.py``."""
    from inbox_loop.gmail.login import sign_in  # noqa: PLC0415 - see the head of this file

    sign_in(
        client_secrets,
        token_file,
        port=port,
        open_browser=open_browser,
        timeout_seconds=timeout_seconds,
        show_url=show_url,
    )


def revoke_sign_in_of(mailbox: MailboxSettings, *, timeout_seconds: float) -> None:
    """Give the mailbox's sign-in back; see ``gmail/revoke.py``."""
    from inbox_loop.gmail.revoke import revoke_sign_in  # noqa: PLC0415 - see the head of this file

    revoke_sign_in(mailbox.token_file, mailbox=mailbox.name, timeout_seconds=timeout_seconds)
