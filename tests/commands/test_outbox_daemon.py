"""The daemon beside its mailboxes: it tells of new tasks at once, ends soon, and purges what is over."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs
from support.listening import heard, listener
from support.receiver import SECRET, Receiver, silent, status, when_all_are_there
from support.running import Running
from support.waiting import wait_until

from inbox_loop.commands.daemon_outbox import Step, close_all, deliver_due, open_deliveries, relaying
from inbox_loop.commands.daemon_purge import purge_once
from inbox_loop.commands.relay import announce_all, announce_created
from inbox_loop.errors import DatabaseConflict, DatabaseUnreachable, InboxLoopError
from inbox_loop.loop.outbox import SIDE_BY_SIDE
from inbox_loop.repository.database import Database
from inbox_loop.repository.outbox import PostgresOutbox
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.settings import OutboxSettings, RetentionSettings, Settings
from inbox_loop.task import NewTask, TaskDraft

StartCommand = Callable[..., Running]
CREATE = "select number from task_upsert_by_external_ref('default', %s, 'A title')"


@pytest.fixture
def with_webhook(variables: dict[str, str], receiver: Receiver) -> dict[str, str]:
    """Settings of a mailbox and a webhook."""
    return variables | {
        "INBOX_LOOP_OUTBOX__WEBHOOK_URL": receiver.url,
        "INBOX_LOOP_OUTBOX__WEBHOOK_SECRET": SECRET,
        "INBOX_LOOP_OUTBOX__WEBHOOK_TIMEOUT_SECONDS": "60",
    }


def test_a_plain_sql_create_is_heard_within_a_second_and_posted_and_a_stop_ends_a_post_that_hangs(
    start_command: StartCommand, with_webhook: dict[str, str], receiver: Receiver, database_url: str
) -> None:
    daemon = start_command("run", **with_webhook)
    daemon.wait_for("daemon.ready")
    with listener(database_url) as session, psycopg.connect(database_url, autocommit=True) as writer:
        writer.execute(CREATE.encode(), ["gmail:1#a"])
        committed = time.monotonic()
        (announced,) = heard(session, count=1)
        assert time.monotonic() - committed < 1
        told = daemon.wait_for("outbox.delivered")
        assert (told["tenant"], told["task_number"], told["attempts"]) == ("default", 1, 1)
        assert [each.headers["webhook-id"] for each in receiver.posted] == [announced["event_id"]]
        receiver.usual = silent
        writer.execute(CREATE.encode(), ["gmail:1#b"])
        wait_until(lambda: len(receiver.posted) == 2)
    daemon.process.send_signal(signal.SIGHUP)
    daemon.wait_for("daemon.ready", count=2)  # a reload cuts the post off, and the next one is made at once
    wait_until(lambda: len(receiver.posted) == 3)
    asked = time.monotonic()
    daemon.process.send_signal(signal.SIGTERM)
    assert daemon.end() == 0
    assert time.monotonic() - asked < 10
    with Database(database_url) as database:
        (cut_off,) = PostgresOutbox(database).list_undelivered(["default"])
    assert (cut_off.task_number, cut_off.attempts, cut_off.last_error) == (2, 0, None)
    assert cut_off.next_attempt_at < datetime.now(UTC)  # due at once, for the next daemon
    text = json.dumps(daemon.events)
    assert "s3cret" not in text
    assert SECRET not in text


@pytest.fixture
def outbox(database: Database) -> PostgresOutbox:
    ensure_tenant(database, "default", [])
    TaskStore(database, tenant="default").upsert_task(TaskDraft("gmail:1#a", "A title"), actor="ann")
    return PostgresOutbox(database)


# --- a backlog ------------------------------------------------------------------------------------------------------


BACKLOG = 3 * SIDE_BY_SIDE + 1


@pytest.fixture
def backlog(database: Database, outbox: PostgresOutbox) -> PostgresOutbox:
    """An outbox with many deliveries due."""
    drafts = [TaskDraft(f"gmail:2#{n:x}", "A title") for n in range(BACKLOG - 1)]
    TaskStore(database, tenant="default").upsert_tasks(drafts, actor="ann")
    return outbox


def deliver_to(receiver: Receiver, outbox: PostgresOutbox, stop: threading.Event) -> None:
    settings = OutboxSettings(webhook_url=SecretStr(receiver.url), webhook_secret=SecretStr(SECRET))
    deliveries = open_deliveries(settings, outbox, stop)
    assert deliveries is not None
    deliver_due(deliveries, timedelta(seconds=5), stop)
    deliveries.finish()


def test_a_backlog_is_delivered_in_one_go_several_at_once(receiver: Receiver, backlog: PostgresOutbox) -> None:
    together = threading.Barrier(SIDE_BY_SIDE)
    receiver.answers = [when_all_are_there(together)] * SIDE_BY_SIDE
    deliver_to(receiver, backlog, threading.Event())
    assert len({each.headers["webhook-id"] for each in receiver.posted}) == len(receiver.posted) == BACKLOG
    assert receiver.most_at_once == SIDE_BY_SIDE
    assert backlog.find_outbox_state(["default"]).undelivered == 0


def test_a_receiver_that_takes_nothing_is_not_run_down_with_the_whole_backlog(
    receiver: Receiver, backlog: PostgresOutbox
) -> None:
    receiver.usual = status(500)
    deliver_to(receiver, backlog, threading.Event())
    assert len(receiver.posted) == SIDE_BY_SIDE


def test_nothing_is_delivered_after_a_stop(receiver: Receiver, backlog: PostgresOutbox) -> None:
    stop = threading.Event()
    stop.set()
    deliver_to(receiver, backlog, stop)
    assert receiver.posted == []
    assert backlog.find_outbox_state(["default"]).undelivered == BACKLOG


# --- no webhook -----------------------------------------------------------------------------------------------------


def test_a_command_that_knows_of_no_webhook_takes_no_delivery_from_a_daemon_that_has_one(
    receiver: Receiver, database: Database, backlog: PostgresOutbox
) -> None:
    announce_created(database)
    assert not backlog.find_unannounced()
    deliver_to(receiver, backlog, threading.Event())
    assert len(receiver.posted) == BACKLOG


def test_a_daemon_without_a_webhook_closes_what_is_announced_by_whomever(
    database: Database, backlog: PostgresOutbox
) -> None:
    backlog.announce(BACKLOG - 1)
    stop = threading.Event()
    with relaying(Settings(outbox=OutboxSettings(interval_seconds=0.05)), database, stop):
        wait_until(lambda: backlog.list_undelivered(["default"]) == ())
    assert stop.is_set()
    assert not backlog.find_unannounced()


def test_closing_ends_with_a_stop(backlog: PostgresOutbox) -> None:
    backlog.announce(BACKLOG)
    stop = threading.Event()
    stop.set()
    close_all(backlog, stop)
    assert backlog.find_closable()


# --- no mailbox -----------------------------------------------------------------------------------------------------


def test_a_daemon_without_mailboxes_says_so_and_does_the_rest(
    start_command: StartCommand, database_url: str, outbox: PostgresOutbox
) -> None:
    daemon = start_command("run", INBOX_LOOP_DATABASE__URL=database_url, INBOX_LOOP_LOG__FORMAT="json")
    told = daemon.wait_for("daemon.no_mailbox")
    assert told["level"] == "warning"
    assert "[[mailboxes]]" in str(told["hint"])
    wait_until(lambda: not outbox.find_unannounced())
    daemon.process.send_signal(signal.SIGTERM)
    assert daemon.end() == 0
    assert [each["event"] for each in daemon.events].count("daemon.no_mailbox") == 1


# --- trouble --------------------------------------------------------------------------------------------------------


def test_trouble_is_logged_when_it_begins_and_when_it_ends(database_url: str, outbox: PostgresOutbox) -> None:
    step = Step("announce", lambda: announce_all(outbox))
    with psycopg.connect(database_url, autocommit=True) as owner, capture_logs() as lines:
        owner.execute("alter table notifications rename to elsewhere")
        for _ in range(3):
            step.run()
        owner.execute("alter table elsewhere rename to notifications")
        for _ in range(3):
            step.run()
    assert [(each["event"], each["step"]) for each in lines] == [
        ("outbox.interrupted", "announce"),
        ("outbox.recovered", "announce"),
    ]
    assert isinstance(lines[0]["exc_info"], InboxLoopError)
    assert lines[1]["error"] == lines[0]["exc_info"].code
    assert not outbox.find_unannounced()


def test_an_error_that_nobody_foresaw_ends_no_step_and_is_logged_once() -> None:
    def fail() -> None:
        raise ZeroDivisionError

    step = Step("announce", fail)
    with capture_logs() as lines:
        step.run()
        step.run()
    assert [(each["event"], each["log_level"]) for each in lines] == [("outbox.fault", "error")]


def test_trouble_is_logged_again_when_it_changes_and_every_15_minutes() -> None:
    met: list[Exception] = [DatabaseUnreachable("away"), DatabaseConflict("busy"), ZeroDivisionError()]
    clock = [0.0]

    def fail() -> None:
        raise met[0]

    step = Step("announce", fail, monotonic=lambda: clock[0])
    with capture_logs() as lines:
        for seconds in (0, 1, 899, 901, 902):
            clock[0] = seconds
            step.run()
        for _ in range(2):
            del met[0]
            step.run()
            step.run()
    codes = [getattr(each["exc_info"], "code", "fault") for each in lines]
    assert codes == [DatabaseUnreachable.code, DatabaseUnreachable.code, DatabaseConflict.code, "fault"]


# --- purge ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def over(database: Database, outbox: PostgresOutbox) -> TaskStore:
    """A task deleted long ago, one finished long ago, one open, and an idempotency key that has expired."""
    tasks = TaskStore(database, tenant="default")
    tasks.delete_task(1, actor="ann")
    tasks.create_task(NewTask("Finished"), actor="ann", idempotency_key="k")
    tasks.finish_task(2, actor="ann")
    tasks.create_task(NewTask("Open"), actor="ann")
    outbox.announce(10)
    outbox.close_announced(10)
    database.rows(b"update tasks set deleted_at = deleted_at - interval '91 days' returning 1")
    database.rows(b"update tasks set completed_at = completed_at - interval '91 days' returning 1")
    database.rows(b"update idempotency_keys set created_at = created_at - interval '73 hours' returning 1")
    return tasks


NINETY_DAYS = timedelta(days=90)


@pytest.mark.parametrize(
    ("retention", "purged", "left"),
    [
        (RetentionSettings(), 0, [3, 2, 1]),
        (RetentionSettings(deleted_after=NINETY_DAYS), 1, [3, 2]),
        (RetentionSettings(finished_after=NINETY_DAYS), 1, [3, 1]),
        (RetentionSettings(deleted_after=NINETY_DAYS, finished_after=NINETY_DAYS), 2, [3]),
        (RetentionSettings(deleted_after=2 * NINETY_DAYS), 0, [3, 2, 1]),
    ],
    ids=["off", "deleted", "finished", "both", "not yet"],
)
def test_the_purge_goes_by_the_settings_and_is_logged_when_it_purged_something(
    database: Database, over: TaskStore, retention: RetentionSettings, purged: int, left: list[int]
) -> None:
    settings = Settings(retention=retention)
    with capture_logs() as lines:
        purge_once(settings, database, threading.Event())
        purge_once(settings, database, threading.Event())
    assert [(each["event"], each["tasks"], each["keys"]) for each in lines] == [("retention.purged", purged, 1)]
    found = database.rows(b"select number from tasks order by number desc")
    assert [row["number"] for row in found] == left
    assert over.find_task(3).title == "Open"


def test_the_purge_is_of_every_tenant_of_the_database(database: Database, over: TaskStore) -> None:
    del over
    ensure_tenant(database, "elsewhere", [])
    theirs = TaskStore(database, tenant="elsewhere")
    theirs.create_task(NewTask("Deleted"), actor="ann")
    theirs.delete_task(1, actor="ann")
    database.rows(b"update notifications set announced_at = now(), delivered_at = now() returning 1")
    database.rows(b"update tasks set deleted_at = now() - interval '91 days' where deleted_at is not null returning 1")
    with capture_logs() as lines:
        purge_once(Settings(retention=RetentionSettings(deleted_after=NINETY_DAYS)), database, threading.Event())
    assert [each["tasks"] for each in lines] == [2]


def test_a_purge_that_meets_trouble_is_logged_and_returns(database: Database, over: TaskStore) -> None:
    del over
    with database.own_connection() as other, capture_logs() as lines:
        other.execute(b"alter table idempotency_keys rename to elsewhere")
        purge_once(Settings(), database, threading.Event())
    assert [(each["event"], each["log_level"]) for each in lines] == [("retention.failed", "warning")]


def test_a_stop_ends_a_purge_between_two_batches(database: Database, over: TaskStore) -> None:
    del over
    stop = threading.Event()
    stop.set()
    with capture_logs() as lines:
        purge_once(Settings(retention=RetentionSettings(deleted_after=NINETY_DAYS)), database, stop)
    assert lines == []
