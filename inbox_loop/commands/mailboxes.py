"""Bringing a mailbox's parts together: its Gmail side, its store, its policy and its limits.

Apart from ``wiring.py``, because Google's client takes half a second to import, and most commands ask Gmail nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import timedelta

from inbox_loop.commands.options import find_mailbox
from inbox_loop.commands.policy_reading import read_policy
from inbox_loop.errors import NoSuchMailbox
from inbox_loop.gmail.auth import Credentials
from inbox_loop.gmail.mailbox import GoogleMailbox
from inbox_loop.loop.mailbox import Mailbox, PassLimits
from inbox_loop.reader.limits import ReadingLimits
from inbox_loop.reader.pool import ReadingPool
from inbox_loop.repository.database import Database
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.settings import MailboxSettings, ReadingSettings, Settings

HINT = "Add a [[mailboxes]] section with name and token_file to the configuration."
MEBIBYTE = 1024 * 1024


def choose_mailboxes(settings: Settings, name: str | None) -> tuple[MailboxSettings, ...]:
    """The enabled mailboxes, or the one of this name. Raises ``NoSuchMailbox``."""
    if name is not None:
        return (find_mailbox(settings, name),)
    enabled = list_enabled(settings)
    if not enabled:
        raise NoSuchMailbox("no mailbox is configured, or none is enabled", hint=HINT)
    return enabled


def list_enabled(settings: Settings) -> tuple[MailboxSettings, ...]:
    """The enabled mailboxes; there may be none."""
    return tuple(mailbox for mailbox in settings.mailboxes if mailbox.enabled)


@contextmanager
def open_mailboxes(
    settings: Settings, chosen: Sequence[MailboxSettings], database: Database, stop: threading.Event
) -> Iterator[dict[str, Mailbox]]:
    """The mailboxes by name, ready for passes; ``stop`` ends every wait for Gmail with ``Stopped``.

    Asks nobody: a sign-in that is missing shows when a pass needs it, so that it holds up no other mailbox. All read
    their messages in the same few processes, which are started when there is something to read.
    """
    with ExitStack() as stack:
        pool = stack.enter_context(open_reader(settings.reading))
        yield {each.name: stack.enter_context(_open_mailbox(settings, each, database, pool, stop)) for each in chosen}


@contextmanager
def open_gmail(settings: Settings, each: MailboxSettings, stop: threading.Event) -> Iterator[GoogleMailbox]:
    """The Gmail side of a mailbox alone, to look at messages without the store; ``stop`` and sign-in as above."""
    with open_reader(settings.reading) as pool, closing(_connect(settings, each, pool, stop)) as gmail:
        yield gmail


def open_reader(reading: ReadingSettings) -> closing[ReadingPool]:
    """What reads messages under the limits of the settings; no process is started before there is one to read."""
    limits = ReadingLimits(cpu_seconds=reading.cpu_seconds, memory_bytes=reading.memory_megabytes * MEBIBYTE)
    return closing(ReadingPool(limits))


def _connect(settings: Settings, each: MailboxSettings, pool: ReadingPool, stop: threading.Event) -> GoogleMailbox:
    credentials = Credentials(each.token_file, timeout_seconds=settings.gmail.timeout_seconds, mailbox=each.name)
    return GoogleMailbox(each.name, credentials, settings.gmail, stop, read_download=pool.read)


@contextmanager
def _open_mailbox(
    settings: Settings, each: MailboxSettings, database: Database, pool: ReadingPool, stop: threading.Event
) -> Iterator[Mailbox]:
    with closing(_connect(settings, each, pool, stop)) as gmail:
        yield Mailbox(
            name=each.name,
            tenant=each.tenant,
            address=each.address,
            project=each.project,
            gmail=gmail,
            store=PostgresLoopStore(database, tenant=each.tenant, mailbox=each.name, project=each.project),
            policy=read_policy(settings.policy),
            limits=PassLimits(
                deadline_seconds=settings.poll.deadline_seconds,
                gone_after=timedelta(seconds=settings.poll.gone_after_seconds),
                reconcile_window=settings.poll.reconcile_window,
            ),
        )
