"""Killed with -9 at any moment, the next start goes on where the last transaction ended: none lost, none doubled."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from support.desk import ADDRESS, NAME, TENANT, plain_mail
from support.running import Running
from support.waiting import wait_until

from inbox_loop.loop.ledger import MessageState
from inbox_loop.repository.database import Database
from inbox_loop.repository.messages import MessageReader
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.simulator.faults import Fault
from inbox_loop.simulator.server import Simulator

MESSAGES = 120
KILLS = 6


@pytest.mark.parametrize("command", ["poll", "backfill"])
def test_none_is_lost_and_none_doubled(
    command: str,
    start_command: Callable[..., Running],
    variables: dict[str, str],
    simulator: Simulator,
    database_url: str,
) -> None:
    account = simulator.account(ADDRESS)
    if command == "poll":
        assert start_command("poll", **variables).end() == 0  # the first touch: what follows is history
    for number in range(MESSAGES):
        account.deliver(plain_mail(f"Ask {number}"))
    simulator.faults.add(Fault("*", kind="delay", seconds=0.01, times=None))
    chance = random.Random(20261130)
    for _ in range(KILLS):
        running = start_command(command, **variables)
        wait_for_calls(simulator, running, chance.randrange(1, 40))
        running.process.kill()
        running.end()
    simulator.faults.clear()
    assert start_command(command, **variables).end() == 0
    with Database(database_url) as database:
        rows = MessageReader(database, tenant=TENANT).list_messages(mailbox=NAME, limit=1000)
        tasks = TaskStore(database, tenant=TENANT).list_tasks(limit=1000)
        activities = [len(TaskStore(database, tenant=TENANT).list_activity(task.task_id)) for task in tasks]
    assert [row.state for row in rows] == [MessageState.TASK] * MESSAGES
    assert sorted(task.title for task in tasks) == sorted(f"Ask {number}" for number in range(MESSAGES))
    assert sorted(task.number for task in tasks) == list(range(1, MESSAGES + 1))
    assert activities == [1] * MESSAGES


def wait_for_calls(simulator: Simulator, running: Running, count: int) -> None:
    """Until the process has made so many more calls, or has ended by itself."""
    calls = len(simulator.calls) + count
    wait_until(lambda: len(simulator.calls) >= calls or running.process.poll() is not None)
