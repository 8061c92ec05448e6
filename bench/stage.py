"""What a benchmark plays on: a private Postgres of its own, and a mailbox at a simulator.

Everything between is the program's own: Google's client, the store, the loop, with no quota to wait for.
"""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from processes import SimulatorProcess
from pydantic import SecretStr

from inbox_loop.commands.mailboxes import open_mailboxes
from inbox_loop.commands.wiring import open_database
from inbox_loop.embedded.throwaway import use_throwaway
from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.repository.database import Database
from inbox_loop.repository.migrate import migrate
from inbox_loop.settings import DatabaseSettings, GmailSettings, MailboxSettings, Settings

NAME = "bench"
NO_QUOTA = 1_000_000_000
# Once more after the last write, Postgres's background writer notes which transactions run: every 15 seconds, which it
# may notice 10 seconds late.
QUIET_SECONDS = 26


@dataclass(frozen=True, slots=True)
class Desk:
    """An open mailbox and the database behind it."""

    database: Database
    mailbox: Mailbox


@contextmanager
def new_folder() -> Iterator[Path]:
    """A folder for temporary files, gone on leaving."""
    with tempfile.TemporaryDirectory(prefix="inbox-loop-bench-") as name:
        yield Path(name)


@contextmanager
def new_postgres() -> Iterator[str]:
    """A private Postgres with an empty, migrated database; its URL."""
    with use_throwaway() as url:
        with Database(url) as database:
            migrate(database)
        yield url


def settle(postgres: str, read: Callable[[], object]) -> None:
    """Let Postgres finish what it writes of its own accord, so that whatever it writes later was asked for.

    ``read`` is what will be measured. A page settles at its first reading after a vacuum.
    """
    with psycopg.connect(postgres, user="postgres", autocommit=True) as connection:
        connection.execute("alter system set autovacuum = off")
        connection.execute("select pg_reload_conf()")
        connection.execute("vacuum (analyze)")
        connection.execute("checkpoint")
    read()
    time.sleep(QUIET_SECONDS)


@contextmanager
def open_desk(postgres: str, simulator: SimulatorProcess) -> Iterator[Desk]:
    """The simulator's mailbox, opened as the commands open it."""
    settings = Settings(
        database=DatabaseSettings(url=SecretStr(postgres)),
        gmail=GmailSettings(api_endpoint=simulator.url, units_per_minute=NO_QUOTA),
        mailboxes=(MailboxSettings(name=NAME, token_file=simulator.token_file),),
    )
    with (
        open_database(settings) as database,
        open_mailboxes(settings, settings.mailboxes, database, threading.Event()) as mailboxes,
    ):
        yield Desk(database, mailboxes[NAME])


def backfill_variables(
    postgres: str, endpoint: str, token_file: Path, *, units_per_minute: int, tenant: str = "default"
) -> dict[str, str]:
    """The same mailbox as settings in the environment of a command."""
    mailbox = {"name": NAME, "token_file": str(token_file), "tenant": tenant}
    return {
        "INBOX_LOOP_DATABASE__URL": postgres,
        "INBOX_LOOP_GMAIL__API_ENDPOINT": endpoint,
        "INBOX_LOOP_GMAIL__UNITS_PER_MINUTE": str(units_per_minute),
        "INBOX_LOOP_LOG__FORMAT": "json",
        "INBOX_LOOP_MAILBOXES": json.dumps([mailbox]),
    }
