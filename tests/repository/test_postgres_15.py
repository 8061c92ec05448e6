"""The oldest Postgres that is supported runs the same schema under the same contract."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from fixtures.embedded import wait_until
from support.rivals import open_connections, race

from inbox_loop.loop.ledger import EVERY_DATE, FoundBy, MessageState, Outcome
from inbox_loop.loop.ports import MessageId
from inbox_loop.repository.database import Database
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.repository.migrate import check_schema, list_migrations, migrate
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.task import TaskDraft, UpsertOutcome

BINARIES = Path("/usr/lib/postgresql/15/bin")

pytestmark = pytest.mark.skipif(not (BINARIES / "postgres").exists(), reason=f"PostgreSQL 15 is not in {BINARIES}")


def unprivileged() -> dict[str, int]:
    """Whom to run Postgres as, which refuses to be root: this user, or ``nobody``."""
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid} if os.geteuid() == 0 else {}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A migrated database on a server of version 15."""
    with tempfile.TemporaryDirectory(prefix="inbox-loop-15-") as name:
        folder = Path(name)
        who = unprivileged()
        if who:
            os.chown(folder, who["user"], who["group"])
        command = [BINARIES / "initdb", "-D", folder / "data", "-U", "loop", "-A", "trust", "-E", "UTF8"]
        options = ["--locale=C.UTF-8", "--no-sync", "--no-instructions"]
        subprocess.run([*command, *options], check=True, capture_output=True, cwd="/", **who)  # type: ignore[call-overload]
        # Quiet: nothing in the background writes WAL of its own accord, so that a test can measure it.
        settings = ["listen_addresses=", "fsync=off", "autovacuum=off", "wal_level=minimal", "max_wal_senders=0"]
        chosen = [argument for setting in settings for argument in ("-c", setting)]
        server = subprocess.Popen(
            [BINARIES / "postgres", "-D", folder / "data", "-k", folder, *chosen],
            stderr=subprocess.DEVNULL,
            cwd="/",
            **who,  # type: ignore[call-overload]
        )
        try:
            wait_until(lambda: is_up(f"postgresql:///postgres?host={folder}&user=loop"))
            yield f"postgresql:///postgres?host={folder}&user=loop"
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(timeout=30)


def is_up(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


@pytest.fixture(scope="module")
def database(url: str) -> Iterator[Database]:
    """The database, migrated and open."""
    with Database(url) as opened:
        assert migrate(opened) == list_migrations()
        check_schema(opened)
        yield opened


@pytest.fixture
def tasks(database: Database, request: pytest.FixtureRequest) -> TaskStore:
    """The tasks of a tenant of this test's own."""
    slug = request.node.originalname.replace("_", "-")[-60:].strip("-")
    ensure_tenant(database, slug, ["inbox"])
    return TaskStore(database, tenant=slug)


def test_one_and_many_refs_are_created_once_and_found_in_any_case(tasks: TaskStore) -> None:
    assert tasks.upsert_task(TaskDraft("gmail:1a#1", "A title", project="inbox"), actor="ann").number == 1
    answers = tasks.upsert_tasks([TaskDraft(ref, "A title") for ref in ("GMAIL:1A#1", "b", "B", "c")], actor="ann")
    assert [(one.number, one.outcome is UpsertOutcome.CREATED) for one in answers] == [
        (1, False),
        (2, True),
        (2, False),
        (3, True),
    ]
    tasks.delete_task(1, actor="ann")
    assert tasks.upsert_task(TaskDraft("gmail:1a#1", "A title"), actor="ann").number == 4


def test_blanks_around_a_ref_are_trimmed_and_letters_are_not(tasks: TaskStore) -> None:
    drafts = [TaskDraft(ref, "A title") for ref in (" \t\n\r\f\x0bvisit-v\x0b", "isit-")]
    assert [one.number for one in tasks.upsert_tasks(drafts, actor="ann")] == [1, 2]
    assert tasks.find_task(1).external_ref == "visit-v"
    assert tasks.upsert_task(TaskDraft("\x0bVISIT-V", "A title"), actor="ann").number == 1


def test_rivals_make_one_task_and_burn_no_number(tasks: TaskStore, url: str) -> None:
    def work(_connection: object, _rival: int, number: int) -> tuple[int, bool]:
        one = tasks.upsert_task(TaskDraft(f"ref-{number}", "A title"), actor="ann")
        return one.number, one.outcome is UpsertOutcome.CREATED

    with open_connections(url, 8) as rivals:
        for number, answers in enumerate(race(rivals, 15, work), start=1):
            assert sorted(answers) == [(number, False)] * 7 + [(number, True)]


def test_a_find_moves_the_write_position_of_the_whole_server_by_nothing(
    tasks: TaskStore, database: Database, url: str
) -> None:
    draft = TaskDraft("gmail:1#1", "A title")
    tasks.upsert_task(draft, actor="ann")
    finds: list[Callable[[], object]] = [
        lambda: tasks.upsert_task(draft, actor="ann"),
        lambda: tasks.upsert_tasks([draft, draft], actor="ann"),
        lambda: tasks.find_task(1),
    ]
    position = b"select pg_current_wal_insert_lsn() as wal, pg_snapshot_xmax(pg_current_snapshot())::text as xid"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("vacuum (freeze, analyze)")
        connection.execute("checkpoint")
    for find in finds:
        find()
    before = database.row(position)
    for _ in range(50):
        for find in finds:
            find()
    assert database.row(position) == before


def test_the_ledger_works(tasks: TaskStore, database: Database) -> None:
    task = tasks.upsert_task(TaskDraft("gmail:1#a", "A title"), actor="ann")
    slug = tasks.find_task(1).tenant
    store = PostgresLoopStore(database, tenant=slug, mailbox="desk", project=None)
    store.create_mailbox("desk@example.com", 1, "sign-in 1")
    store.in_transaction(
        lambda tx: tx.record_discovered([MessageId("a", "1"), MessageId("b", "1")], FoundBy.POLL, EVERY_DATE)
    )
    outcome = Outcome("a", 1, MessageState.TASK, task_id=task.task_id)
    with store.ingesting():
        assert store.in_transaction(lambda tx: tx.record_outcomes([outcome])) == {"a"}
    assert [due.message_id for due in store.find_due(10)] == ["b"]
    holders = store.in_transaction(lambda tx: tx.find_ref_holders(["GMAIL:1#A"]))
    assert holders["GMAIL:1#A"].number == 1
    purge = b"delete from tasks where task_id = %(task_id)s returning number"
    assert database.row(purge, {"task_id": task.task_id}) == {"number": 1}
    known = store.in_transaction(lambda tx: tx.find_known(["a"]))
    assert known["a"].state is MessageState.TASK
