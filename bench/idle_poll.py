"""An idle poll: one Gmail call of two units, and not a byte written by Postgres.

Its time is told beside that of the Gmail call alone: the difference is what the loop and its look at the database cost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from statistics import median

from figures import Figure, exactly
from made_mail import write_mbox
from processes import running_simulator
from sizes import Sizes
from stage import Desk, new_folder, new_postgres, open_desk, settle

from inbox_loop.loop.backfill import BackfillRequest, backfill_once
from inbox_loop.loop.ledger import EVERY_DATE
from inbox_loop.loop.poll import poll_once
from inbox_loop.repository.upkeep import find_write_position

BENCHMARK = "idle-poll"
MESSAGES = 200


def measure(sizes: Sizes) -> Iterator[Figure]:
    """Poll a mailbox in which nothing happens."""
    with new_folder() as folder, new_postgres() as postgres:
        mail = write_mbox(folder / "mail.mbox", MESSAGES)
        with running_simulator(folder, mail) as simulator, open_desk(postgres, simulator) as desk:
            backfill_once(desk.mailbox, BackfillRequest(EVERY_DATE), lambda _progress: None)
            settle(postgres, lambda: poll_once(desk.mailbox))
            yield from _poll(desk, sizes.polls)


def _poll(desk: Desk, polls: int) -> Iterator[Figure]:
    cursor = int(poll_once(desk.mailbox).cursor)
    before = find_write_position(desk.database)
    reports, poll_seconds, call_seconds = [], [], []
    for _ in range(polls):
        poll_seconds.append(_seconds(lambda: reports.append(poll_once(desk.mailbox))))
        call_seconds.append(_seconds(lambda: desk.mailbox.gmail.list_history(cursor, None)))
    after = find_write_position(desk.database)
    yield Figure(BENCHMARK, "polls", polls, "")
    yield exactly(BENCHMARK, "Gmail calls a poll", sum(each.api_calls for each in reports) / polls, "calls", promised=1)
    yield exactly(BENCHMARK, "quota a poll", sum(each.quota_units for each in reports) / polls, "units", promised=2)
    yield exactly(BENCHMARK, "WAL of all polls", after.wal_bytes - before.wal_bytes, "bytes", promised=0)
    transactions = after.next_transaction - before.next_transaction
    yield exactly(BENCHMARK, "writing transactions", transactions, "", promised=0)
    yield Figure(BENCHMARK, "time of a poll (median)", median(poll_seconds) * 1000, "ms")
    yield Figure(BENCHMARK, "of which the Gmail call", median(call_seconds) * 1000, "ms")


def _seconds(step: Callable[[], object]) -> float:
    started = time.perf_counter()
    step()
    return time.perf_counter() - started
