"""A backfill repeated over messages that are all known: the list calls, and nothing else.

The ledger is filled through the store, as a first backfill leaves it, without reading the messages for it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from statistics import median

from figures import Figure, exactly
from made_mail import write_mbox
from processes import running_simulator
from sizes import Sizes
from stage import NAME, Desk, new_folder, new_postgres, open_desk, settle

from inbox_loop.loop.backfill import BackfillRequest, backfill_once
from inbox_loop.loop.ledger import EVERY_DATE, FoundBy, MessageState, Outcome
from inbox_loop.loop.ports import ListingPage, MessageId, StoreTransaction
from inbox_loop.loop.register import find_or_register
from inbox_loop.loop.report import PassReport
from inbox_loop.repository.upkeep import find_write_position
from inbox_loop.task import TaskDraft

BENCHMARK = "known-mail"
PAGE = 500
UNITS_A_PAGE = 5
TASK_SOURCE = {"mailbox": NAME, "account": "me@example.com"}


def measure(sizes: Sizes) -> Iterator[Figure]:
    """Repeat a backfill over each number of known messages."""
    for count in sizes.known_messages:
        with new_folder() as folder, new_postgres() as postgres:
            mail = write_mbox(folder / "mail.mbox", count)
            with running_simulator(folder, mail) as simulator, open_desk(postgres, simulator) as desk:
                _fill_ledger(desk)
                settle(postgres, lambda: _backfill(desk))
                yield from _repeat(desk, count, sizes.rounds)


def _fill_ledger(desk: Desk) -> None:
    find_or_register(desk.mailbox)
    for page in _pages(desk):
        desk.mailbox.store.in_transaction(partial(_record_as_tasks, messages=page.messages))


def _record_as_tasks(tx: StoreTransaction, messages: tuple[MessageId, ...]) -> None:
    tx.record_discovered(messages, FoundBy.BACKFILL, EVERY_DATE)
    drafts = [TaskDraft(f"gmail:{each.thread_id}#{each.message_id}", "A task", source=TASK_SOURCE) for each in messages]
    tasks = tx.upsert_tasks(drafts)
    tx.record_outcomes(
        [
            Outcome(message.message_id, 1, MessageState.TASK, task_id=task.task_id)
            for message, task in zip(messages, tasks, strict=True)
        ]
    )


def _pages(desk: Desk) -> Iterator[ListingPage]:
    token: str | None = None
    while True:
        page = desk.mailbox.gmail.list_messages("", token)
        yield page
        token = page.next_page
        if token is None:
            return


def _backfill(desk: Desk) -> PassReport:
    return backfill_once(desk.mailbox, BackfillRequest(EVERY_DATE), lambda _progress: None)


def _repeat(desk: Desk, count: int, rounds: int) -> Iterator[Figure]:
    before = find_write_position(desk.database)
    backfills, listings = [], []
    for _ in range(rounds):
        started = time.perf_counter()
        report = _backfill(desk)
        backfills.append(time.perf_counter() - started)
        started = time.perf_counter()
        listed = sum(len(page.messages) for page in _pages(desk))
        listings.append(time.perf_counter() - started)
    after = find_write_position(desk.database)
    name = f"{BENCHMARK} {count:,}"
    pages = -(-count // PAGE)
    yield exactly(name, "messages known", report.known, "", promised=listed)
    yield exactly(name, "Gmail calls", report.api_calls, "calls", promised=pages)
    yield exactly(name, "quota", report.quota_units, "units", promised=UNITS_A_PAGE * pages)
    yield exactly(name, "WAL of all repeats", after.wal_bytes - before.wal_bytes, "bytes", promised=0)
    yield exactly(name, "writing transactions", after.next_transaction - before.next_transaction, "", promised=0)
    yield Figure(name, "time per 1,000 known", median(backfills) / count * 1_000_000, "ms")
    yield Figure(name, "of which the Gmail calls", median(listings) / count * 1_000_000, "ms")
