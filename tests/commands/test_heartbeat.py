"""The heartbeat when the database is away: said, and waited for once, however many mailboxes there are."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from structlog.testing import capture_logs
from support.desk import Desk

from inbox_loop.commands.heartbeat import Heartbeat
from inbox_loop.loop.watch import Watch
from inbox_loop.repository.database import Database
from inbox_loop.repository.health import list_mailbox_health


def watches_of(desk: Desk, count: int) -> list[Watch]:
    return [
        Watch(desk.mailbox, reconcile_every=timedelta(days=1), monotonic=time.monotonic, now=lambda: datetime.now(UTC))
        for _ in range(count)
    ]


def test_a_beat_tells_the_database_and_says_that_it_could(desk: Desk, database: Database) -> None:
    (watch,) = watches_of(desk, 1)
    watch.take_turn()
    assert Heartbeat(database, [watch]).beat()
    (health,) = list_mailbox_health(database, watch.tenant)
    assert health.beat_at is not None


def test_a_database_that_is_away_is_asked_once_for_all_mailboxes(desk: Desk, database_url: str) -> None:
    with Database(database_url) as closed:
        pass
    with capture_logs() as lines:
        assert not Heartbeat(closed, watches_of(desk, 3)).beat()
    assert [each["event"] for each in lines] == ["heartbeat.failed"]
