"""Reread, end to end: what a person says of a message is done at once, or by the next poll, and to it alone."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from support.desk import NAME, TENANT, Desk, plain_mail
from support.ledger import reopen
from support.waiting import wait_until

import inbox_loop.loop.ingest
from inbox_loop.loop.ledger import MessageState
from inbox_loop.loop.reread import RereadRequest, reread_once
from inbox_loop.loop.settle import REF_OF_ANOTHER_MAILBOX
from inbox_loop.policy import Policy
from inbox_loop.repository.loop_store import PostgresLoopStore
from inbox_loop.simulator.faults import Fault
from inbox_loop.task import TaskDraft

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
LIST_MAIL = plain_mail("Weekly news").replace(b"Subject:", b"List-Id: <news.example.org>\nSubject:", 1)


def state_of(desk: Desk, message_id: str) -> tuple[MessageState, str | None]:
    row = desk.ledger()[message_id]
    return row.state, row.reason


def test_a_message_that_is_back_from_being_gone_becomes_a_task(open_desk: Callable[..., Desk]) -> None:
    desk = open_desk(gone_after=timedelta())
    desk.poll()
    delivered = desk.deliver("Back again")
    desk.simulator.faults.add(Fault("messages.get", status=404, times=None, message_id=delivered.message_id))
    assert desk.poll().gone == 1
    desk.simulator.faults.clear()
    report = reread_once(desk.mailbox, RereadRequest((delivered.message_id,)))
    assert (report.discovered, report.created, report.complete) == (1, 1, True)


def test_only_the_named_messages_are_read_however_many_others_are_due(desk: Desk) -> None:
    skipped = desk.account.deliver(LIST_MAIL)
    desk.poll()
    desk.simulator.faults.add(Fault("messages.get", status=500, times=None))
    waiting = [desk.deliver(f"Waits {number}") for number in range(3)]
    desk.poll()
    desk.simulator.faults.clear()
    calls = len(desk.methods())
    report = reread_once(desk.mailbox, RereadRequest((skipped.message_id,), insisted=True))
    assert (report.created, report.pending) == (1, len(waiting))
    assert desk.methods()[calls:].count("messages.get") == 1
    assert desk.titles() == ["Weekly news"]


def test_more_than_a_batch_is_read_to_the_end(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox_loop.loop.ingest, "BATCH", 2)
    skipped = [desk.account.deliver(LIST_MAIL) for _ in range(5)]
    desk.poll()
    report = reread_once(desk.mailbox, RereadRequest(tuple(each.message_id for each in skipped), insisted=True))
    assert (report.created, report.complete) == (5, True)


def test_an_id_that_the_ledger_does_not_know_is_left_out(desk: Desk) -> None:
    report = reread_once(desk.mailbox, RereadRequest(("18c9",)))
    assert (report.discovered, report.created, report.complete) == (0, 0, True)
    assert desk.ledger() == {}


def test_while_another_process_reads_the_mailbox_what_is_wanted_stays_on_the_row(desk: Desk) -> None:
    skipped = desk.account.deliver(LIST_MAIL)
    desk.poll()
    hurried = PostgresLoopStore(desk.database, tenant=TENANT, mailbox=NAME, project="mail", ingest_wait_seconds=0.1)
    with desk.mailbox.store.ingesting():
        report = reread_once(replace(desk.mailbox, store=hurried), RereadRequest((skipped.message_id,), insisted=True))
    assert (report.created, report.pending, report.complete) == (0, 1, False)
    desk.poll()
    assert desk.titles() == ["Weekly news"]


def test_a_message_that_is_reopened_while_it_is_read_is_read_again(desk: Desk) -> None:
    skipped = desk.account.deliver(LIST_MAIL)
    desk.poll()
    request = RereadRequest((skipped.message_id,), insisted=True)
    desk.simulator.faults.add(Fault("messages.get", kind="delay", seconds=1.0))
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(reread_once, desk.mailbox, request)
        wait_until(lambda: not desk.simulator.faults.waiting)
        assert reopen(desk.mailbox.store, [skipped.message_id]) == 1
        assert first.result(timeout=20).created == 1
    assert desk.methods().count("messages.get") == 3


def test_a_person_who_insists_does_not_get_a_stranger_s_task(desk: Desk) -> None:
    delivered = desk.account.deliver(LIST_MAIL)
    desk.poll()
    ref = f"gmail:{delivered.thread_id}#{delivered.message_id}"
    stranger = {"mailbox": "sales", "account": "sales@example.com"}
    desk.tasks.upsert_task(TaskDraft(ref, "Theirs", source=stranger), actor="test")
    reread_once(desk.mailbox, RereadRequest((delivered.message_id,), insisted=True))
    assert state_of(desk, delivered.message_id) == (MessageState.QUARANTINED, REF_OF_ANOTHER_MAILBOX)


def test_a_message_outside_of_the_dates_of_a_backfill_can_be_taken_all_the_same(
    open_desk: Callable[..., Desk],
) -> None:
    desk = open_desk()
    early = desk.deliver("Half a second early", internal_date=NOON - timedelta(milliseconds=500))
    desk.backfill(after=NOON)
    assert state_of(desk, early.message_id) == (MessageState.SKIPPED, "outside_range")
    assert reread_once(desk.mailbox, RereadRequest((early.message_id,), insisted=True)).created == 1


def test_a_message_that_is_retried_is_decided_upon_by_the_policy_of_now(desk: Desk) -> None:
    own = desk.account.deliver(plain_mail("From me", sender="me@example.org"))
    desk.simulator.faults.add(Fault("messages.get", status=400, reason="badRequest", message_id=own.message_id))
    desk.poll()
    assert state_of(desk, own.message_id)[0] is MessageState.QUARANTINED
    policy = Policy(frozenset({"me@example.org"}), skip_bulk=True, skip_auto_replies=True)
    reread_once(replace(desk.mailbox, policy=policy), RereadRequest((own.message_id,)))
    assert state_of(desk, own.message_id) == (MessageState.SKIPPED, "own_address")
