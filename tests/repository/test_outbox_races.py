"""Several relays and deliverers at once: each notification is announced once, and claimed by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from support.listening import heard, listener

from inbox_loop.repository.database import Database
from inbox_loop.repository.outbox import PostgresOutbox
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import TaskDraft

RIVALS = 4
CREATED = 300
BATCH = 7


@pytest.fixture
def outbox(database: Database, tasks: TaskStore) -> PostgresOutbox:
    """The outbox after many creates."""
    tasks.upsert_tasks([TaskDraft(f"gmail:1#{n:x}", "A title") for n in range(CREATED)], actor="ann")
    return PostgresOutbox(database)


def race(work: Callable[[], int]) -> list[int]:
    """Every rival does ``work`` again and again, all from the same moment, until there is none; how much each did."""
    together = Barrier(RIVALS)

    def run() -> int:
        together.wait(20)
        total = 0
        while count := work():
            total += count
        return total

    with ThreadPoolExecutor(RIVALS) as pool:
        return [each.result() for each in [pool.submit(run) for _ in range(RIVALS)]]


def test_relays_at_once_announce_each_create_once(database_url: str, outbox: PostgresOutbox) -> None:
    with listener(database_url) as session:
        done = race(lambda: outbox.announce(BATCH))
        while outbox.announce(BATCH):
            pass  # what a rival had in hand when the others looked is announced by now
        announced = heard(session, count=CREATED + 1, seconds=1)
    assert sum(done) == CREATED
    assert Counter(each["number"] for each in announced) == Counter(range(1, CREATED + 1))


def test_deliverers_at_once_claim_each_delivery_once(outbox: PostgresOutbox) -> None:
    claimed: list[int] = []

    def claim() -> int:
        deliveries = outbox.claim_due(BATCH, timedelta(minutes=5))
        claimed.extend(each.task.number for each in deliveries)
        return len(deliveries)

    done = race(claim)
    assert sum(done) == CREATED
    assert sorted(claimed) == list(range(1, CREATED + 1))
