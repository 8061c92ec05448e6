"""Every function of the store, called for one tenant with all that another one has: nothing is shown, or written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from support.reads import own_callables
from support.tenants import SECRET, SENT_AT, Beta, everything_of, fill_both

from inbox_loop.errors import InboxLoopError
from inbox_loop.loop.ledger import EVERY_DATE, FoundBy, MessageState, Outcome, SenderHour
from inbox_loop.loop.ports import MessageId
from inbox_loop.repository.database import Database, Params, TenantDatabase
from inbox_loop.repository.health import list_mailbox_health, record_heartbeat
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.repository.loop_transaction import LoopTransaction
from inbox_loop.repository.messages import LedgerRow, MessageReader
from inbox_loop.repository.outbox import PostgresOutbox
from inbox_loop.repository.retention import count_purgeable, purge_tasks
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.upsert import upsert_new_task, upsert_task, upsert_tasks
from inbox_loop.task import NewTask, TaskChange, TaskDraft, TaskFilter

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
AT_ONCE = timedelta(0)
ZEBRAS = [TaskDraft(f"ZEBRA:{number}", "A title") for number in (1, 2, 3)]
IDS = ["zebra1", "zebra2"]
ZEBRA_HOUR = SenderHour("zebra@example.org", SENT_AT)

# Whole modules that know of no tenant, and single functions that work for all tenants on purpose.
WITHOUT_TENANT = {"clean", "faults", "migrate", "statements", "upkeep"}
FOR_ALL = {
    "Database": "whose walls and turns are proved statement by statement",
    "TenantDatabase": "likewise",
    "Session": "likewise",
    "Statements": "holds texts",
    "SchemaStatus": "holds versions",
    "PostgresOutbox.find_unannounced": "the relay delivers for all",
    "PostgresOutbox.announce": "likewise",
    "PostgresOutbox.find_closable": "likewise",
    "PostgresOutbox.close_announced": "likewise",
    "PostgresOutbox.claim_due": "likewise",
    "PostgresOutbox.record_delivered": "likewise",
    "PostgresOutbox.record_failed": "likewise",
    "PostgresOutbox.record_given_up": "likewise",
    "PostgresOutbox.release": "likewise",
    "retention.purge_idempotency_keys": "an expired key means nothing to anybody",
    "tenants.check_tenant": "is asked which tenants there are",
    "tenants.ensure_tenant": "makes tenants",
    "tenants.find_walls": "asks about the role",
    "tenants.list_tenants": "is asked which tenants there are",
    "upsert.upserted_of": "reads a row it is given",
}

Call = Callable[[Database, Beta], object]


def ledger_row() -> LedgerRow:
    """A place in the other tenant's ledger, to read on from."""
    return LedgerRow(
        mailbox="zebra",
        message_id="zebra2",
        thread_id="1",
        ref=None,
        state=MessageState.PENDING,
        reason=None,
        attempts=0,
        next_attempt_at=LONG_AGO,
        seen_at=datetime.now(UTC) + timedelta(days=1),
        found_by=FoundBy.POLL,
        settled_at=None,
        internal_date=None,
        task_number=1,
        task_status=None,
        task_deleted_at=None,
    )


def in_tasks(work: Callable[[TaskStore, Beta], object]) -> Call:
    return lambda database, beta: work(TaskStore(database, tenant="acme"), beta)


def in_store(work: Callable[[PostgresLoopStore], object]) -> Call:
    return lambda database, _beta: work(PostgresLoopStore(database, tenant="acme", mailbox="zebra", project=None))


def in_loop(work: Callable[[LoopTransaction, Beta], object]) -> Call:
    """In a transaction of the loop that was given the other tenant's mailbox."""

    def call(database: Database, beta: Beta) -> object:
        tenant = database.for_tenant("acme")
        names = tenant.params({"mailbox": "zebra", "mailbox_id": beta.mailbox_id})
        return tenant.in_transaction(
            lambda connection: work(LoopTransaction(connection, names, mailbox="zebra", project="zebra"), beta)
        )

    return call


def ingest(store: PostgresLoopStore) -> None:
    with store.ingesting():
        raise AssertionError("the lock of another tenant's mailbox was had")


CALLS: dict[str, Call] = {
    "TaskStore.find_task": in_tasks(lambda tasks, _: tasks.find_task(3)),
    "TaskStore.find_task_by_ref": in_tasks(lambda tasks, _: tasks.find_task_by_ref("zebra:1")),
    "TaskStore.find_task_or_tombstone": in_tasks(lambda tasks, _: tasks.find_task_or_tombstone("zebra:2")),
    "TaskStore.list_tasks": in_tasks(lambda tasks, _: tasks.list_tasks(TaskFilter(include_deleted=True))),
    "TaskStore.list_tasks of the mailbox": in_tasks(lambda tasks, _: tasks.list_tasks(TaskFilter(mailbox="zebra"))),
    "TaskStore.count_tasks": in_tasks(
        lambda tasks, _: tasks.count_tasks(TaskFilter(text=SECRET, include_deleted=True))
    ),
    "TaskStore.list_activity": in_tasks(lambda tasks, beta: [tasks.list_activity(one) for one in beta.task_ids]),
    "TaskStore.update_task": in_tasks(lambda tasks, _: tasks.update_task(4, TaskChange(title="Mine"), actor="ann")),
    "TaskStore.finish_task": in_tasks(lambda tasks, _: tasks.finish_task(4, actor="ann")),
    "TaskStore.cancel_task": in_tasks(lambda tasks, _: tasks.cancel_task(4, actor="ann")),
    "TaskStore.delete_task": in_tasks(lambda tasks, _: tasks.delete_task(4, actor="ann")),
    "TaskStore.restore_task": in_tasks(lambda tasks, _: tasks.restore_task(4, actor="ann")),
    "TaskStore.upsert_task": in_tasks(lambda tasks, _: tasks.upsert_task(ZEBRAS[0], actor="ann")),
    "TaskStore.upsert_tasks": in_tasks(lambda tasks, _: tasks.upsert_tasks(ZEBRAS, actor="ann")),
    "TaskStore.create_task": in_tasks(
        lambda tasks, _: tasks.create_task(NewTask("Mine"), actor="ann", idempotency_key="zebra-key")
    ),
    "TaskStore.create_task below": in_tasks(lambda tasks, _: tasks.create_task(NewTask("x", parent=4), actor="ann")),
    "TaskStore.create_task in the project": in_tasks(
        lambda tasks, _: tasks.create_task(NewTask("Mine", project="zebra"), actor="ann")
    ),
    "MessageReader.list_messages": lambda database, _: MessageReader(database, tenant="acme").list_messages(),
    "MessageReader.list_messages of the mailbox": lambda database, _: MessageReader(
        database, tenant="acme"
    ).list_messages(mailbox="zebra"),
    "MessageReader.list_messages from there on": lambda database, _: MessageReader(
        database, tenant="acme"
    ).list_messages(before=ledger_row()),
    "MessageReader.find_message": lambda database, _: MessageReader(database, tenant="acme").find_message(
        None, "zebra1"
    ),
    "PostgresLoopStore.find_mailbox": in_store(lambda store: store.find_mailbox()),
    "PostgresLoopStore.create_mailbox": lambda database, _: PostgresLoopStore(
        database, tenant="acme", mailbox="ours", project=None
    ).create_mailbox("zebra@example.com", 1, "mine"),
    "PostgresLoopStore.find_due": in_store(lambda store: store.find_due(10)),
    "PostgresLoopStore.find_pending": in_store(lambda store: store.find_pending(IDS)),
    "PostgresLoopStore.count_pending": in_store(lambda store: store.count_pending()),
    "PostgresLoopStore.in_transaction": in_store(lambda store: store.in_transaction(lambda tx: tx.find_known(IDS))),
    "PostgresLoopStore.ingesting": in_store(ingest),
    "LoopTransaction.find_known": in_loop(lambda tx, _: tx.find_known(IDS)),
    "LoopTransaction.record_discovered": in_loop(
        lambda tx, _: tx.record_discovered([MessageId("zebra1", "1"), MessageId("new", "1")], FoundBy.POLL, EVERY_DATE)
    ),
    "LoopTransaction.record_reopened": in_loop(lambda tx, _: tx.record_reopened(IDS, EVERY_DATE, remint=True)),
    "LoopTransaction.advance_cursor": in_loop(lambda tx, _: tx.advance_cursor(10**6)),
    "LoopTransaction.record_coverage": in_loop(lambda tx, _: tx.record_coverage(LONG_AGO)),
    "LoopTransaction.record_sign_in": in_loop(lambda tx, _: tx.record_sign_in("mine")),
    "LoopTransaction.lock_pending": in_loop(lambda tx, _: tx.lock_pending(dict.fromkeys(IDS, 1))),
    "LoopTransaction.find_ref_holders": in_loop(lambda tx, _: tx.find_ref_holders(["zebra:1", "zebra:2"])),
    "LoopTransaction.count_sender_tasks": in_loop(lambda tx, _: sum(tx.count_sender_tasks([ZEBRA_HOUR], 9).values())),
    "LoopTransaction.upsert_tasks": in_loop(lambda tx, _: tx.upsert_tasks(ZEBRAS)),
    "LoopTransaction.record_outcomes": in_loop(
        lambda tx, beta: tx.record_outcomes([Outcome("zebra2", 1, MessageState.TASK, task_id=beta.task_ids[0])])
    ),
    "PostgresOutbox.find_outbox_state": lambda database, _: (
        PostgresOutbox(database).find_outbox_state(["acme"]).given_up
    ),
    "PostgresOutbox.list_undelivered": lambda database, _: PostgresOutbox(database).list_undelivered(["acme"]),
    "PostgresOutbox.retry_given_up": lambda database, _: PostgresOutbox(database).retry_given_up(["acme"]),
    "health.record_heartbeat": lambda database, _: record_heartbeat(
        database, "acme", "zebra", daemon="mine", last_good_poll_at=datetime.now(UTC), last_error=None
    ),
    "health.list_mailbox_health": lambda database, _: list_mailbox_health(database, "acme"),
    "retention.purge_tasks": lambda database, _: purge_tasks(
        database, tenant="acme", deleted_after=AT_ONCE, finished_after=AT_ONCE
    ),
    "retention.count_purgeable": lambda database, _: count_purgeable(
        database, tenant="acme", deleted_after=AT_ONCE, finished_after=AT_ONCE
    ),
    "upsert.upsert_new_task": lambda database, _: upsert_new_task(
        database.for_tenant("acme").tuples, ZEBRAS[0], actor="ann"
    ),
    "upsert.upsert_task": lambda database, _: upsert_task(database.for_tenant("acme").tuples, ZEBRAS[0], actor="ann"),
    "upsert.upsert_tasks": lambda database, _: upsert_tasks(database.for_tenant("acme").tuples, ZEBRAS, actor="ann"),
}


class ForgetfulTenant(TenantDatabase):
    """Bound to one tenant, and gives each statement the id and the name of the other one."""

    def params(self, params: Params) -> Params:
        return {**self._database.for_tenant("beta").params(params), **params}


class ForgetfulDatabase(Database):
    """As if every where-clause on the tenant had been forgotten, and worse: they all ask for the other one's rows."""

    def for_tenant(self, slug: str) -> TenantDatabase:
        return ForgetfulTenant(self, slug) if slug == "acme" else super().for_tenant(slug)


@pytest.fixture(scope="module")
def shared(make_module_database: Callable[[str], str], template: str) -> Iterator[tuple[str, Beta]]:
    """A database of both tenants, and what the other one has there."""
    url = make_module_database(template)
    with Database(url) as database:
        yield url, fill_both(database)


@pytest.fixture(params=[Database, ForgetfulDatabase], ids=["its ids", "statements that ask for its rows"])
def database(request: pytest.FixtureRequest, shared: tuple[str, Beta]) -> Iterator[Database]:
    """That database, as the functions are given it."""
    with request.param(shared[0]) as opened:
        yield opened


def test_every_function_of_the_store_is_tried_here() -> None:
    tried = {name.partition(" ")[0] for name in CALLS}
    known = tried | FOR_ALL.keys()
    left = {name for name in own_callables() if name.partition(".")[0] not in WITHOUT_TENANT}
    assert {name for name in left if name not in known and name.partition(".")[0] not in FOR_ALL} == set()
    assert tried <= left


@pytest.mark.parametrize("call", CALLS)
def test_a_function_shows_and_writes_nothing_of_another_tenant(
    database: Database, shared: tuple[str, Beta], call: str
) -> None:
    beta = shared[1]
    try:
        shown = CALLS[call](database, beta)
    except InboxLoopError as error:
        shown = f"{error} {error.hint}"
    assert not isinstance(shown, int) or shown == 0
    assert SECRET not in repr(shown)
    assert [one for one in (beta.tenant_id, beta.mailbox_id, *beta.task_ids) if str(one) in repr(shown)] == []
    assert everything_of(database, beta.tenant_id) == beta.everything


def test_the_other_tenant_has_what_the_functions_could_have_shown(shared: tuple[str, Beta]) -> None:
    """Asked for itself, each of those that count or take away has something to count or to take away."""
    with Database(shared[0]) as database:
        tasks = TaskStore(database, tenant="beta")
        assert tasks.count_tasks(TaskFilter(text=SECRET, include_deleted=True)) == 4
        assert count_purgeable(database, tenant="beta", deleted_after=AT_ONCE, finished_after=AT_ONCE) == 2
        store = PostgresLoopStore(database, tenant="beta", mailbox="zebra", project=None)
        assert store.count_pending() == len(store.find_pending(IDS)) == 1
        assert store.in_transaction(lambda tx: tx.count_sender_tasks([ZEBRA_HOUR], 9)) == {ZEBRA_HOUR: 1}
        assert len(MessageReader(database, tenant="beta").list_messages(before=ledger_row())) == 2
        assert PostgresOutbox(database).find_outbox_state(["beta"]).given_up == 1
        assert len(PostgresOutbox(database).list_undelivered(["beta"])) == 1
