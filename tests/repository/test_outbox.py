"""The outbox: each create is announced once, claimed by one at a time, and ends delivered or given up."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import psycopg
import pytest
from support.listening import heard, listener
from support.waiting import wait_until

from inbox_loop.loop.outbox_ports import Delivery
from inbox_loop.repository.database import Database
from inbox_loop.repository.outbox import PostgresOutbox
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.task import TaskDraft, TaskStatus

LEASE = timedelta(minutes=1)
TENANTS = ["acme"]
AN_HOUR = b"update notifications set next_attempt_at = next_attempt_at - interval '1 hour' returning 1"


@pytest.fixture(scope="module")
def shared_url(make_module_database: Callable[[str], str], template: str) -> str:
    """One database for all tests here, which each begins empty."""
    return make_module_database(template)


@pytest.fixture
def database_url(shared_url: str) -> str:
    with psycopg.connect(shared_url) as connection:
        connection.execute("truncate tenants cascade")
    return shared_url


@pytest.fixture
def outbox(database: Database, tasks: TaskStore) -> PostgresOutbox:
    """The outbox of a database with the tenant ``acme``, in which two tasks were created."""
    for name in ("a", "b"):
        tasks.upsert_task(
            TaskDraft(
                f"gmail:1#{name}",
                f"Title {name}",
                body="Not for the receiver",
                project="inbox",
                labels=("billing",),
                container_ref="gmail:1",
                source={"mailbox": "desk"},
            ),
            actor="ann",
        )
    return PostgresOutbox(database)


def claim(outbox: PostgresOutbox) -> Delivery:
    """The next one due."""
    (delivery,) = outbox.claim_due(1, LEASE)
    return delivery


# --- announcing -----------------------------------------------------------------------------------------------------


def test_listeners_hear_of_each_create_once_and_in_order(database_url: str, outbox: PostgresOutbox) -> None:
    with listener(database_url) as session:
        assert outbox.find_unannounced()
        assert outbox.announce(10) == 2
        assert not outbox.find_unannounced()
        assert outbox.announce(10) == 0
        announced = heard(session, count=3, seconds=0.2)
    assert [each["number"] for each in announced] == [1, 2]
    assert [each.keys() for each in announced] == [{"topic", "event_id", "tenant", "number", "task_id"}] * 2
    assert (announced[0]["topic"], announced[0]["tenant"]) == ("task.created", "acme")


def test_an_announcement_names_the_task_and_the_event_that_are_delivered(
    database_url: str, outbox: PostgresOutbox
) -> None:
    with listener(database_url) as session:
        outbox.announce(1)
        (announced,) = heard(session, count=1)
    delivery = claim(outbox)
    assert (announced["event_id"], announced["task_id"]) == (str(delivery.event_id), str(delivery.task.task_id))


def test_the_oldest_are_announced_first_and_no_more_than_asked_for(outbox: PostgresOutbox) -> None:
    assert [outbox.announce(1), outbox.announce(1), outbox.announce(1)] == [1, 1, 0]


def test_a_find_and_a_replay_stage_nothing(outbox: PostgresOutbox, tasks: TaskStore) -> None:
    outbox.announce(10)
    tasks.upsert_task(TaskDraft("gmail:1#a", "Another title"), actor="bob")
    assert not outbox.find_unannounced()


def test_a_create_that_is_rolled_back_is_never_announced(database_url: str, outbox: PostgresOutbox) -> None:
    outbox.announce(10)
    with listener(database_url) as session, psycopg.connect(database_url) as writer:
        writer.execute("select * from task_upsert_by_external_ref('acme', 'gmail:1#c', 'A title')")
        assert outbox.announce(10) == 0  # not seen before its commit
        writer.rollback()
        assert outbox.announce(10) == 0
        assert heard(session, count=1, seconds=0.1) == []


def test_an_announcement_that_is_not_committed_is_made_by_the_next_relay(
    database_url: str, outbox: PostgresOutbox
) -> None:
    with listener(database_url) as session, psycopg.connect(database_url) as dying:
        dying.execute("select from notifications for update")  # a relay that has them all in hand, and dies
        assert outbox.announce(10) == 0
        dying.close()
        wait_until(lambda: outbox.announce(10) == 2)
        assert len(heard(session, count=2)) == 2


def test_an_announcement_is_no_delivery(outbox: PostgresOutbox) -> None:
    assert outbox.announce(10) == 2
    assert outbox.find_outbox_state(TENANTS).undelivered == 2
    assert len(outbox.claim_due(10, LEASE)) == 2


def test_without_a_receiver_what_was_announced_is_closed_whatever_was_tried_before(outbox: PostgresOutbox) -> None:
    outbox.announce(10)
    outbox.record_failed(claim(outbox), "http_500", timedelta(hours=1))  # a webhook that is not configured any more
    assert outbox.find_closable()
    assert [outbox.close_announced(1), outbox.close_announced(10), outbox.close_announced(10)] == [1, 1, 0]
    assert not outbox.find_closable()
    assert outbox.claim_due(10, LEASE) == ()
    assert outbox.list_undelivered(TENANTS) == ()


def test_what_was_not_announced_or_was_given_up_is_not_closed(outbox: PostgresOutbox) -> None:
    outbox.record_given_up(claim(outbox), "http_410")
    assert not outbox.find_closable()
    assert outbox.close_announced(10) == 0
    outbox.announce(10)
    assert outbox.close_announced(10) == 1
    assert outbox.find_outbox_state(TENANTS).given_up == 1


def test_what_another_has_in_hand_is_not_waited_for_and_closed_later(database_url: str, outbox: PostgresOutbox) -> None:
    outbox.announce(10)
    with psycopg.connect(database_url) as other:
        other.execute("select from notifications order by notification_id limit 1 for update")
        assert outbox.close_announced(10) == 1
    assert outbox.close_announced(10) == 1


# --- claiming -------------------------------------------------------------------------------------------------------


def test_a_delivery_tells_of_the_task_and_not_of_the_mail(outbox: PostgresOutbox, tasks: TaskStore) -> None:
    delivery = claim(outbox)
    task = tasks.find_task(1)
    assert (delivery.tenant, delivery.topic, delivery.attempts) == ("acme", "task.created", 1)
    brief = delivery.task
    assert (brief.task_id, brief.number, brief.project, brief.title) == (task.task_id, 1, "inbox", "Title a")
    assert (brief.status, brief.labels) == (TaskStatus.OPEN, ("billing",))
    assert (brief.external_ref, brief.container_ref) == ("gmail:1#a", "gmail:1")
    assert "Not for the receiver" not in repr(delivery)


def test_what_is_claimed_is_no_one_elses_until_its_lease_is_over(database: Database, outbox: PostgresOutbox) -> None:
    first = claim(outbox)
    second = claim(outbox)
    assert (first.task.number, second.task.number) == (1, 2)
    assert outbox.claim_due(10, LEASE) == ()
    database.rows(AN_HOUR)
    again = outbox.claim_due(10, LEASE)
    assert [(each.event_id, each.attempts) for each in again] == [(first.event_id, 2), (second.event_id, 2)]


def test_a_claim_that_another_has_in_hand_is_passed_over_and_not_waited_for(
    database_url: str, outbox: PostgresOutbox
) -> None:
    with psycopg.connect(database_url) as other:
        other.execute("select from notifications order by notification_id limit 1 for update")
        assert claim(outbox).task.number == 2


def test_deliveries_of_all_tenants_are_claimed(database: Database, outbox: PostgresOutbox) -> None:
    ensure_tenant(database, "other", [])
    TaskStore(database, tenant="other").upsert_task(TaskDraft("gmail:1#a", "Theirs"), actor="ann")
    assert [each.tenant for each in outbox.claim_due(10, LEASE)] == ["acme", "acme", "other"]


def test_a_delivery_that_was_never_announced_is_delivered_all_the_same(outbox: PostgresOutbox) -> None:
    outbox.record_delivered(claim(outbox))
    assert outbox.announce(10) == 2


# --- what becomes of it ---------------------------------------------------------------------------------------------


def test_what_is_delivered_is_done(database: Database, outbox: PostgresOutbox) -> None:
    for delivery in outbox.claim_due(10, LEASE):
        outbox.record_delivered(delivery)
    database.rows(AN_HOUR)
    assert outbox.claim_due(10, LEASE) == ()
    assert outbox.list_undelivered(TENANTS) == ()


def test_what_failed_is_due_again_after_its_wait(database: Database, outbox: PostgresOutbox) -> None:
    failed = claim(outbox)
    outbox.record_failed(failed, "http_500", timedelta(minutes=50))
    row = next(each for each in outbox.list_undelivered(TENANTS) if each.event_id == failed.event_id)
    assert (row.attempts, row.last_error, row.gave_up_at) == (1, "http_500", None)
    assert timedelta(minutes=49) < row.next_attempt_at - row.created_at < timedelta(minutes=51)
    outbox.record_delivered(claim(outbox))
    assert outbox.claim_due(10, LEASE) == ()
    database.rows(AN_HOUR)
    assert claim(outbox).event_id == failed.event_id


def test_what_is_given_up_is_left_alone_until_a_person_wants_it_again(
    database: Database, outbox: PostgresOutbox
) -> None:
    given_up = claim(outbox)
    outbox.record_given_up(given_up, "http_410")
    outbox.record_delivered(claim(outbox))
    database.rows(AN_HOUR)
    assert outbox.claim_due(10, LEASE) == ()
    (row,) = outbox.list_undelivered(TENANTS)
    assert (row.task_number, row.last_error) == (1, "http_410")
    assert row.gave_up_at is not None
    assert outbox.retry_given_up(["other"]) == 0
    assert outbox.retry_given_up(TENANTS) == 1
    again = claim(outbox)
    assert (again.event_id, again.attempts) == (given_up.event_id, 1)


def test_what_a_stop_cut_off_is_due_at_once_and_has_lost_no_attempt(outbox: PostgresOutbox) -> None:
    cut_off, other = outbox.claim_due(10, LEASE)
    outbox.release(cut_off)
    again = claim(outbox)
    assert (again.event_id, again.attempts) == (cut_off.event_id, 1)
    assert again.event_id != other.event_id


@pytest.mark.parametrize("late", ["record_failed", "record_given_up", "release"])
def test_a_late_result_of_a_lease_that_was_lost_changes_nothing(
    database: Database, outbox: PostgresOutbox, late: str
) -> None:
    lost = claim(outbox)
    database.rows(AN_HOUR)
    current = next(each for each in outbox.claim_due(10, LEASE) if each.event_id == lost.event_id)
    before = outbox.list_undelivered(TENANTS)
    rest = {"record_failed": ("late", timedelta()), "record_given_up": ("late",), "release": ()}[late]
    getattr(outbox, late)(lost, *rest)
    assert outbox.list_undelivered(TENANTS) == before
    outbox.record_failed(current, "timely", timedelta())
    assert outbox.list_undelivered(TENANTS) != before


def claim_and_release(outbox: PostgresOutbox) -> None:
    for current in outbox.claim_due(10, LEASE):
        outbox.release(current)


def give_up_and_claim_anew(outbox: PostgresOutbox) -> None:
    for current in outbox.claim_due(10, LEASE):
        outbox.record_given_up(current, "timeout")
    outbox.retry_given_up(TENANTS)
    outbox.claim_due(10, LEASE)


@pytest.mark.parametrize("meanwhile", [claim_and_release, give_up_and_claim_anew])
@pytest.mark.parametrize("late", ["record_failed", "record_given_up", "release"])
def test_nor_does_it_when_there_are_as_many_attempts_as_there_were(
    database: Database, outbox: PostgresOutbox, late: str, meanwhile: Callable[[PostgresOutbox], None]
) -> None:
    lost = claim(outbox)
    database.rows(AN_HOUR)
    meanwhile(outbox)
    before = outbox.list_undelivered(TENANTS)
    assert lost.attempts in {each.attempts for each in before if each.event_id == lost.event_id}
    rest = {"record_failed": ("late", timedelta()), "record_given_up": ("late",), "release": ()}[late]
    getattr(outbox, late)(lost, *rest)
    assert outbox.list_undelivered(TENANTS) == before


def test_a_late_delivery_counts_since_the_receiver_has_it(database: Database, outbox: PostgresOutbox) -> None:
    lost = claim(outbox)
    database.rows(AN_HOUR)
    current = next(each for each in outbox.claim_due(10, LEASE) if each.event_id == lost.event_id)
    outbox.record_given_up(current, "timeout")
    outbox.record_delivered(lost)
    assert lost.event_id not in {each.event_id for each in outbox.list_undelivered(TENANTS)}
    assert outbox.find_outbox_state(TENANTS).given_up == 0


# --- for people -----------------------------------------------------------------------------------------------------


def test_the_state_counts_what_waits_and_what_was_given_up(database: Database, outbox: PostgresOutbox) -> None:
    ensure_tenant(database, "other", [])
    TaskStore(database, tenant="other").upsert_task(TaskDraft("gmail:1#a", "Theirs"), actor="ann")
    outbox.announce(1)
    outbox.record_given_up(claim(outbox), "timeout")
    state = outbox.find_outbox_state(TENANTS)
    assert (state.unannounced, state.undelivered, state.given_up) == (1, 1, 1)
    (oldest,) = (each.created_at for each in outbox.list_undelivered(TENANTS) if each.gave_up_at is None)
    assert state.oldest_undelivered_at == state.oldest_unannounced_at == oldest
    assert outbox.find_outbox_state(["acme", "other"]).unannounced == 2
    nothing = outbox.find_outbox_state(["no-such"])
    assert (nothing.unannounced, nothing.oldest_unannounced_at, nothing.given_up) == (0, None, 0)


def test_the_list_has_what_was_given_up_first_and_the_limit_counts(outbox: PostgresOutbox) -> None:
    _first, second = outbox.claim_due(10, LEASE)
    outbox.record_given_up(second, "timeout")
    assert [each.task_number for each in outbox.list_undelivered(TENANTS)] == [2, 1]
    assert [each.task_number for each in outbox.list_undelivered(TENANTS, limit=1)] == [2]
