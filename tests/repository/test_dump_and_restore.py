"""A dump that was restored on another server goes on as if nothing had happened: nothing twice, nothing from the dead.

The dump is taken and restored as ``docs/backup.md`` says, by the server's own programs and as the ordinary role.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from fixtures.database import making_databases
from fixtures.desk import make_mailbox
from fixtures.embedded import reachable_folder
from support.desk import Desk
from support.rows import rows_of

from inbox_loop.embedded.binaries import Binaries, find_binaries
from inbox_loop.embedded.folders import Place
from inbox_loop.embedded.server import use_embedded
from inbox_loop.loop.ledger import MessageState
from inbox_loop.policy import SkipReason
from inbox_loop.repository.database import Database
from inbox_loop.repository.migrate import check_schema
from inbox_loop.task import NewTask, Task, TaskDraft, TaskFilter, UpsertOutcome

EVERYTHING = TaskFilter(include_deleted=True)
TIMEOUT_SECONDS = 30
PAGE = Path(__file__).parents[2] / "docs" / "backup.md"

WALLS = """
    select relname, relrowsecurity, relforcerowsecurity, polname, pg_get_expr(polqual, polrelid)
      from pg_class
      left join pg_policy on polrelid = pg_class.oid
     where relkind = 'r' and relnamespace = 'public'::regnamespace
     order by relname
"""


@dataclass(frozen=True, slots=True)
class Programs:
    """The client programs that belong to the private server."""

    binaries: Binaries

    def run(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """One of them, to its end; what it said is in C's language."""
        command = [str(self.binaries.program(name)), *arguments]
        environment = {"LC_ALL": "C"}
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS, env=environment
        )

    def dump(self, url: str, file: Path, *options: str) -> subprocess.CompletedProcess[str]:
        """The whole database of the URL into a file."""
        return self.run("pg_dump", *options, "--format=custom", f"--file={file}", f"--dbname={url}")

    def restore(self, file: Path, url: str) -> subprocess.CompletedProcess[str]:
        """All that is in the file, into a database with nothing in it; whole or not at all."""
        return self.run("pg_restore", "--single-transaction", "--no-owner", f"--dbname={url}", str(file))


@pytest.fixture(scope="module")
def programs() -> Programs:
    """The programs of the Postgres that is run here."""
    binaries = find_binaries(Place(Path("/")))
    for name in ("pg_dump", "pg_restore"):
        if not binaries.program(name).exists():
            pytest.skip(f"there is no {name} beside the server in {binaries.folder}")
    found = Programs(binaries)
    version = found.run("pg_dump", "--version").stdout.split()[2]
    if int(version.split(".")[0]) != binaries.major:
        pytest.skip(f"pg_dump is of version {version}, the server of {binaries.version}")
    return found


@pytest.fixture(scope="module")
def other_server() -> Iterator[str]:
    """A private server that is not the one the other tests share."""
    with reachable_folder() as folder, use_embedded(folder) as url:
        yield url


@pytest.fixture
def other_database_url(other_server: str) -> Iterator[str]:
    """A database with nothing in it, on that server."""
    with making_databases(other_server, "other") as make:
        yield make("template0")


@pytest.fixture
def busy_desk(open_desk: Callable[..., Desk]) -> Desk:
    """A mailbox that has seen something of all: a backfill, a poll, a second ask, tasks done, deleted and by hand."""
    desk = open_desk()
    first = desk.deliver("Past, done")
    desk.deliver("Past, open")
    assert desk.backfill().created == 2
    desk.tasks.finish_task(1, actor="ann", summary="Sent.")
    desk.deliver("Re: Past, done", thread_id=first.thread_id)
    desk.deliver("New, deleted")
    desk.deliver("An advertisement", labels=("INBOX", "CATEGORY_PROMOTIONS"))
    assert desk.poll().created == 2
    (deleted,) = [task for task in desk.all_tasks() if task.title == "New, deleted"]
    desk.tasks.delete_task(deleted.number, actor="ann")
    parent = desk.tasks.create_task(NewTask("By hand", labels=("one",)), actor="ann", idempotency_key="k")
    desk.tasks.create_task(NewTask("A child", parent=parent.number), actor="ann")
    desk.tasks.upsert_task(TaskDraft("Visit:École#1", "Of another scheme"), actor="ann")
    return desk


@pytest.fixture
def dump_file(
    programs: Programs,
    busy_desk: Desk,  # noqa: ARG001 - what is dumped
    database_url: str,
    tmp_path: Path,
) -> Path:
    """A dump of the busy desk's database."""
    file = tmp_path / "inbox-loop.dump"
    done = programs.dump(database_url, file, "--enable-row-security")
    assert (done.returncode, done.stderr) == (0, "")
    return file


@pytest.fixture
def restored_desk(programs: Programs, busy_desk: Desk, dump_file: Path, other_database_url: str) -> Iterator[Desk]:
    """The same mailbox over the restored database."""
    done = programs.restore(dump_file, other_database_url)
    assert (done.returncode, done.stderr) == (0, "")
    with Database(other_database_url) as database:
        check_schema(database)
        yield replace(busy_desk, database=database, mailbox=make_mailbox(database, busy_desk.gmail))


def all_tasks(desk: Desk) -> tuple[Task, ...]:
    """Deleted ones too, newest first."""
    return desk.tasks.list_tasks(EVERYTHING, limit=1000)


def read_all_again(desk: Desk) -> list[int]:
    """How many tasks each way of reading the mailbox creates."""
    return [report.created for report in (desk.poll(), desk.backfill(), desk.reconcile(datetime.now(UTC)), desk.poll())]


def test_a_restored_database_has_every_row_and_the_walls_and_goes_on_without_a_double(
    busy_desk: Desk, restored_desk: Desk, database_url: str, other_database_url: str
) -> None:
    with psycopg.connect(database_url) as here, psycopg.connect(other_database_url) as there:
        assert rows_of(there) == rows_of(here)
        assert there.execute(WALLS).fetchall() == here.execute(WALLS).fetchall()
        there.execute("select set_config('inbox_loop.tenant_id', gen_random_uuid()::text, false)")
        assert [table for table, rows in rows_of(there).items() if rows] == []
    before = all_tasks(busy_desk)
    read = restored_desk.methods().count("messages.get")
    assert read_all_again(restored_desk) == [0, 0, 0, 0]
    assert restored_desk.methods().count("messages.get") == read
    assert all_tasks(restored_desk) == before
    check_that_work_goes_on(restored_desk, latest=before[0].number)


def check_that_work_goes_on(desk: Desk, *, latest: int) -> None:
    """Refs are found, keys are replayed, and the next task gets the next number."""
    found = desk.tasks.upsert_task(TaskDraft("VISIT:ÉCOLE#1", "Another title"), actor="ann")
    assert (found.number, found.outcome) == (latest, UpsertOutcome.FOUND)
    replayed = desk.tasks.create_task(NewTask("By hand"), actor="ann", idempotency_key="k")
    assert (replayed.number, replayed.outcome) == (latest - 2, UpsertOutcome.FOUND)
    desk.deliver("After the restore")
    assert desk.poll().created == 1
    assert all_tasks(desk)[0].number == latest + 1


def test_after_an_older_dump_the_gap_is_read_again_and_refs_alone_keep_it_from_doubling(
    busy_desk: Desk, dump_file: Path, request: pytest.FixtureRequest
) -> None:
    """The cursor goes back with the dump. With the ledger lost as well, the tombstone keeps what was deleted away."""
    assert dump_file.exists()
    busy_desk.deliver("In the gap")
    assert busy_desk.poll().created == 1
    desk: Desk = request.getfixturevalue("restored_desk")
    assert read_all_again(desk) == [1, 0, 0, 0]
    before = all_tasks(desk)
    assert [task.title for task in before].count("In the gap") == 1

    desk.database.rows(b"delete from messages returning message_id")
    assert read_all_again(desk) == [0, 0, 0, 0]
    assert all_tasks(desk) == before
    outcomes = Counter((row.state, row.reason) for row in desk.ledger().values())
    assert outcomes == {
        (MessageState.TASK, None): 4,
        (MessageState.SKIPPED, SkipReason.TASK_DELETED): 1,
        (MessageState.SKIPPED, SkipReason.CATEGORY): 1,
    }


def test_without_row_security_the_owner_gets_no_dump_rather_than_a_part(
    programs: Programs, busy_desk: Desk, database_url: str, tmp_path: Path
) -> None:
    assert busy_desk.all_tasks()
    done = programs.dump(database_url, tmp_path / "refused.dump")
    assert done.returncode == 1
    (said, _) = done.stderr.split(' for table "', maxsplit=1)
    assert said == "pg_dump: error: query failed: ERROR:  query would be affected by row-level security policy"
    assert said in PAGE.read_text(encoding="utf-8")


def test_the_page_gives_the_commands_that_are_run_here() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert "pg_dump --enable-row-security --format=custom --file=" in page
    assert "pg_restore --single-transaction --no-owner --dbname=" in page
