"""What is long over is purged for good, never what somebody still waits for, and nothing of it comes back."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from support.desk import TENANT, Desk
from support.rivals import open_connections, race, wait_until_blocked

from inbox_loop.errors import NoSuchTask, NoSuchTenant
from inbox_loop.loop.ledger import MessageState
from inbox_loop.repository.database import Database
from inbox_loop.repository.retention import count_purgeable, purge_idempotency_keys, purge_tasks
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.task import NewTask, TaskChange, TaskDraft, TaskFilter, TaskStatus

DAY = timedelta(days=1)
MONTH = timedelta(days=30)
EVERYTHING = TaskFilter(include_deleted=True)
READ_ONLY = "&options=-c%20default_transaction_read_only%3Don"


def create(tasks: TaskStore, title: str = "A title", *, key: str | None = None, parent: int | None = None) -> int:
    return tasks.create_task(NewTask(title, parent=parent), actor="ann", idempotency_key=key).number


def create_deleted(tasks: TaskStore, database: Database, *, days_ago: int = 31) -> int:
    """A tombstone that nobody is to be told of any more; its number."""
    number = create(tasks)
    tasks.delete_task(number, actor="ann")
    tell_everybody(database)
    make_older(database, days=days_ago)
    return number


def tell_everybody(database: Database) -> None:
    database.rows(b"update notifications set announced_at = now(), delivered_at = now() returning tenant_id")


def make_older(database: Database, *, days: int) -> None:
    """Let what happened to the tasks until now have happened days earlier."""
    statement = b"""
        update tasks
           set created_at = created_at - %(age)s, completed_at = completed_at - %(age)s,
               deleted_at = deleted_at - %(age)s
        returning tenant_id
    """
    database.rows(statement, {"age": timedelta(days=days)})


def purge(
    database: Database, *, deleted: timedelta | None = MONTH, finished: timedelta | None = MONTH, limit: int = 1000
) -> int:
    return purge_tasks(database, tenant="acme", deleted_after=deleted, finished_after=finished, limit=limit)


def count(database: Database, *, deleted: timedelta | None = MONTH, finished: timedelta | None = MONTH) -> int:
    return count_purgeable(database, tenant="acme", deleted_after=deleted, finished_after=finished)


def numbers(tasks: TaskStore) -> list[int]:
    """Of all that are there, deleted or not."""
    return sorted(task.number for task in tasks.list_tasks(EVERYTHING, limit=1000))


# --- what is past its time ------------------------------------------------------------------------------------------


def test_without_a_limit_in_time_nothing_is_purged(database: Database, tasks: TaskStore) -> None:
    tasks.finish_task(create(tasks), actor="ann")
    create_deleted(tasks, database, days_ago=10_000)
    assert count(database, deleted=None, finished=None) == 0
    assert purge(database, deleted=None, finished=None) == 0
    assert numbers(tasks) == [1, 2]


def test_a_tombstone_goes_when_it_was_deleted_longer_ago_than_asked(database: Database, tasks: TaskStore) -> None:
    create_deleted(tasks, database, days_ago=2)
    create_deleted(tasks, database, days_ago=29)  # the first one is 31 days old by now
    assert count(database, finished=None) == 1
    assert purge(database, finished=None) == 1
    assert numbers(tasks) == [2]


def test_a_done_or_cancelled_task_goes_so_long_after_that_and_no_other(database: Database, tasks: TaskStore) -> None:
    done, cancelled, reopened, blocked, untouched = (create(tasks) for _ in range(5))
    tasks.finish_task(done, actor="ann")
    tasks.cancel_task(cancelled, actor="ann")
    tasks.finish_task(reopened, actor="ann")
    tasks.update_task(reopened, TaskChange(status=TaskStatus.OPEN), actor="ann")
    tasks.update_task(blocked, TaskChange(status=TaskStatus.BLOCKED), actor="ann")
    tell_everybody(database)
    make_older(database, days=29)
    assert (count(database), purge(database)) == (0, 0)
    make_older(database, days=2)
    assert (count(database), purge(database)) == (2, 2)
    assert numbers(tasks) == [reopened, blocked, untouched]


def test_each_kind_has_its_own_time(database: Database, tasks: TaskStore) -> None:
    """A task that was done and then deleted is a tombstone like any other."""
    done, both, deleted = (create(tasks) for _ in range(3))
    for number in (done, both):
        tasks.finish_task(number, actor="ann")
    for number in (both, deleted):
        tasks.delete_task(number, actor="ann")
    tell_everybody(database)
    make_older(database, days=5)
    assert (count(database, deleted=None, finished=DAY), purge(database, deleted=None, finished=DAY)) == (1, 1)
    assert numbers(tasks) == [both, deleted]
    assert (count(database, deleted=DAY, finished=None), purge(database, deleted=DAY, finished=None)) == (2, 2)
    assert numbers(tasks) == []


def test_a_task_that_is_done_nobody_knows_when_is_kept(database: Database, tasks: TaskStore) -> None:
    tasks.finish_task(create(tasks), actor="ann")
    tell_everybody(database)
    database.rows(b"update tasks set completed_at = null returning number")
    assert (count(database, finished=DAY), purge(database, finished=DAY)) == (0, 0)


# --- what is kept although it is ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "purged"),
    [
        (b"announced_at = now(), delivered_at = now()", 1),
        (b"announced_at = now(), gave_up_at = now()", 1),
        (b"announced_at = now()", 0),
        (b"attempts = 0", 0),
    ],
    ids=["delivered", "given up", "told of and not delivered", "untouched"],
)
def test_a_task_is_kept_while_somebody_is_to_be_told_of_it(
    database: Database, tasks: TaskStore, state: bytes, purged: int
) -> None:
    tasks.delete_task(create(tasks), actor="ann")
    make_older(database, days=31)
    database.rows(b"update notifications set " + state + b" returning tenant_id")
    assert (count(database), purge(database)) == (purged, purged)


def test_a_task_is_kept_while_an_idempotency_key_names_it(database: Database, tasks: TaskStore) -> None:
    """Else a retry with the key would create what someone deleted."""
    number = create(tasks, key="k")
    tasks.delete_task(number, actor="ann")
    tell_everybody(database)
    make_older(database, days=31)
    age = b"update idempotency_keys set created_at = created_at - %(age)s returning key"
    database.rows(age, {"age": timedelta(hours=71, minutes=59)})
    assert (count(database), purge(database)) == (0, 0)
    assert create(tasks, key="k") == number
    database.rows(age, {"age": timedelta(minutes=2)})
    assert (count(database), purge(database)) == (1, 1)
    assert create(tasks, key="k") == number + 1


# --- what goes with it ----------------------------------------------------------------------------------------------


def test_all_that_hangs_on_a_task_goes_with_it_and_children_lose_their_parent(
    database: Database, tasks: TaskStore
) -> None:
    parent = create(tasks, key="k")
    child = create(tasks, "A child", parent=parent)
    before = tasks.find_task(child)
    assert before.parent == parent
    tasks.delete_task(parent, actor="ann")
    tell_everybody(database)
    make_older(database, days=31)
    database.rows(b"update idempotency_keys set created_at = now() - interval '4 days' returning key")
    assert purge(database) == 1
    after = tasks.find_task(child)
    assert (after.parent, after.title, after.updated_at) == (None, "A child", before.updated_at)
    for table in (b"task_activity", b"notifications"):
        assert database.rows(b"select distinct task_id from " + table) == [{"task_id": after.task_id}]
    assert database.rows(b"select from idempotency_keys") == []


def test_a_purged_number_is_not_given_again_and_its_ref_is_free(database: Database, tasks: TaskStore) -> None:
    draft = TaskDraft("gmail:1#1", "A title")
    assert tasks.upsert_task(draft, actor="ann").number == 1
    tasks.delete_task(1, actor="ann")
    tell_everybody(database)
    make_older(database, days=31)
    assert purge(database) == 1
    with pytest.raises(NoSuchTask):
        tasks.find_task(1)
    assert tasks.upsert_task(draft, actor="ann").number == 2


def test_another_tenant_keeps_what_it_has(database: Database, tasks: TaskStore) -> None:
    ensure_tenant(database, "other", [])
    others = TaskStore(database, tenant="other")
    others.delete_task(create(others), actor="ann")
    create_deleted(tasks, database)
    assert (count(database), purge(database)) == (1, 1)
    assert (numbers(tasks), numbers(others)) == ([], [1])


def test_an_unknown_tenant_is_told(database: Database) -> None:
    with pytest.raises(NoSuchTenant, match="'acme'"):
        purge(database)
    with pytest.raises(NoSuchTenant, match="'acme'"):
        count(database)


def test_a_purge_takes_no_more_than_a_batch_and_ends_with_none(database: Database, tasks: TaskStore) -> None:
    for _ in range(5):
        create_deleted(tasks, database)
    assert count(database) == 5
    assert [purge(database, limit=2) for _ in range(4)] == [2, 2, 1, 0]


def test_counting_writes_nothing(database: Database, tasks: TaskStore, database_url: str) -> None:
    create_deleted(tasks, database)
    with Database(database_url + READ_ONLY) as read_only:
        assert count(read_only) == 1


def test_expired_keys_of_every_tenant_are_purged_and_the_others_count(database: Database, tasks: TaskStore) -> None:
    ensure_tenant(database, "other", [])
    others = TaskStore(database, tenant="other")
    for store in (tasks, others):
        for number in range(3):
            create(store, key=f"old {number}")
    database.rows(b"update idempotency_keys set created_at = now() - interval '72 hours 1 second' returning key")
    kept = [create(store, key="young") for store in (tasks, others)]
    assert [purge_idempotency_keys(database, limit=4) for _ in range(3)] == [4, 2, 0]
    assert [create(store, key="young") for store in (tasks, others)] == kept
    assert numbers(tasks) == [1, 2, 3, 4]


# --- beside others --------------------------------------------------------------------------------------------------


def restored(tasks: TaskStore, number: int) -> bool:
    """Whether a restore found its task; any error but the one that says so is a failure."""
    try:
        tasks.restore_task(number, actor="ann")
    except NoSuchTask:
        return False
    return True


def test_a_task_that_is_just_being_restored_is_left_alone(
    database: Database, tasks: TaskStore, database_url: str
) -> None:
    number = create_deleted(tasks, database)
    with psycopg.connect(database_url) as person:
        person.execute("select from task_restore('acme', %s)", [number])
        assert purge(database) == 0
    assert purge(database) == 0
    assert tasks.find_task(number).deleted_at is None


@pytest.mark.parametrize("ending", ["commit", "rollback"])
def test_a_restore_waits_for_a_purge_and_takes_what_it_left(
    database: Database, tasks: TaskStore, database_url: str, ending: str
) -> None:
    number = create_deleted(tasks, database)
    with psycopg.connect(database_url) as purger, ThreadPoolExecutor(1) as pool, open_connections(database_url, 1) as w:
        assert purger.execute("select task_purge('acme', '30 days')").fetchone() == (1,)
        future = pool.submit(restored, tasks, number)
        wait_until_blocked(w[0])
        purger.execute(ending)
        assert future.result(timeout=30) == (ending == "rollback")
    assert numbers(tasks) == ([number] if ending == "rollback" else [])


def test_a_purge_beside_a_restore_leaves_a_task_or_none_and_each_is_told(
    database: Database, tasks: TaskStore, database_url: str
) -> None:
    rounds = 60
    for number in [create(tasks) for _ in range(rounds)]:
        tasks.delete_task(number, actor="ann")
    tell_everybody(database)
    database.rows(b"update tasks set deleted_at = now() - (1000 - number) * interval '1 day' returning number")

    def work(_connection: object, rival: int, number: int) -> int:
        """In each round one tombstone is old enough: those of the rounds before are purged or restored."""
        if rival == 1:
            return int(restored(tasks, number + 1))
        return purge(database, deleted=timedelta(days=999 - number - 0.5))

    with open_connections(database_url, 2) as rivals:
        answers = race(rivals, rounds, work)
    assert {tuple(answer) for answer in answers} <= {(0, 1), (1, 0)}
    assert numbers(tasks) == [number for number, (_, was_restored) in enumerate(answers, start=1) if was_restored]


def test_of_several_purgers_each_task_is_purged_by_one(database: Database, tasks: TaskStore, database_url: str) -> None:
    """Parents and children in different hands: none waits for the other in a circle."""
    total = 60
    made = [create(tasks)]
    for _ in range(total - 1):
        made.append(create(tasks, parent=made[-1]))
    for number in made:
        tasks.delete_task(number, actor="ann")
    tell_everybody(database)
    make_older(database, days=31)
    with open_connections(database_url, 4) as rivals:
        answers = race(rivals, 20, lambda _connection, _rival, _number: purge(database, limit=7))
    assert sum(purged for each in answers for purged in each) + purge(database) == total
    assert numbers(tasks) == []


# --- the loop -------------------------------------------------------------------------------------------------------


def read_all_again(desk: Desk) -> list[int]:
    """How many tasks each way of reading the mailbox creates: changes of every message, the past, a comparison."""
    for message_id in desk.ledger():
        desk.account.relabel(message_id, add=["STARRED"])
        desk.account.relabel(message_id, remove=["INBOX"])
        desk.account.relabel(message_id, add=["INBOX"])
    return [report.created for report in (desk.poll(), desk.backfill(), desk.reconcile(datetime.now(UTC)))]


@pytest.fixture
def purged_desk(open_desk: Callable[..., Desk]) -> Desk:
    """Five messages, of before and after the first touch. Two tasks were deleted, two done; those are purged."""
    desk = open_desk()
    desk.deliver("Past, deleted")
    desk.deliver("Past, done")
    desk.poll()
    desk.backfill()
    desk.deliver("New, deleted")
    desk.deliver("New, done")
    desk.deliver("New, open")
    desk.poll()
    for task in desk.all_tasks():
        if "deleted" in task.title:
            desk.tasks.delete_task(task.number, actor="ann")
        elif "done" in task.title:
            desk.tasks.finish_task(task.number, actor="ann")
    tell_everybody(desk.database)
    make_older(desk.database, days=31)
    assert purge_tasks(desk.database, tenant=TENANT, deleted_after=MONTH, finished_after=MONTH) == 4
    return desk


def test_what_was_purged_stays_in_the_ledger_and_no_pass_makes_it_again(purged_desk: Desk) -> None:
    def states() -> list[tuple[MessageState, int | None]]:
        return sorted(((row.state, row.task_number) for row in purged_desk.ledger().values()), key=str)

    before = states()
    assert before == [(MessageState.TASK, 5), *[(MessageState.TASK, None)] * 4]
    read = purged_desk.methods().count("messages.get")
    assert read_all_again(purged_desk) == [0, 0, 0]
    assert purged_desk.methods().count("messages.get") == read
    assert states() == before
    assert [task.number for task in purged_desk.tasks.list_tasks(EVERYTHING)] == [5]


def test_a_further_ask_on_a_thread_whose_tasks_are_purged_gets_its_own_task(purged_desk: Desk) -> None:
    (row,) = [row for row in purged_desk.ledger().values() if row.message_id == min(purged_desk.ledger())]
    purged_desk.deliver("Once more", thread_id=row.thread_id)
    assert purged_desk.poll().created == 1
    assert [task.number for task in purged_desk.all_tasks()] == [5, 6]


def test_of_a_purged_task_the_ledger_alone_knows(purged_desk: Desk) -> None:
    """Its tombstone is gone with it: with the ledger lost as well, the message is new."""
    purged_desk.database.rows(b"delete from messages returning message_id")
    assert purged_desk.backfill().created == 4
