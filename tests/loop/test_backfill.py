"""Backfill and reconcile, end to end: the past is read once, in the range asked for, and nothing deleted comes back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from support.desk import Desk, many_parts

import inbox_loop.gmail.mailbox
import inbox_loop.loop.ingest
from inbox_loop import policy as policy_module
from inbox_loop.loop.backfill import BackfillProgress, BackfillRequest, backfill_once, preview_backfill
from inbox_loop.loop.ledger import EVERY_DATE, MessageState
from inbox_loop.loop.settle import REFUSED_BY_STORE
from inbox_loop.message.model import Message
from inbox_loop.message.read import MAX_PARTS
from inbox_loop.policy import MakeTask, Policy, Skip, SkipReason
from inbox_loop.simulator.faults import Fault

NOW = datetime.now(UTC)
NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)


def empty_ledger(desk: Desk) -> None:
    """What a restore without the ledger looks like."""
    with desk.database.connection() as connection:
        connection.execute("delete from messages")


def test_a_backfill_reads_the_past_and_leaves_the_cursor_to_the_poll(open_desk: Callable[..., Desk]) -> None:
    desk = open_desk()
    for number in range(3):
        desk.deliver(f"Old {number}", internal_date=NOON + timedelta(hours=number))
    before = desk.account.history_id
    report = desk.backfill()
    assert (report.listed, report.discovered, report.created, report.complete) == (3, 3, 3, True)
    assert desk.methods()[0] == "getProfile", "the cursor comes before anything else"
    assert desk.row().cursor == before
    desk.deliver("New")
    assert desk.poll().created == 1
    assert desk.titles() == ["Old 0", "Old 1", "Old 2", "New"]


def test_a_message_listed_on_two_pages_or_polled_meanwhile_is_one_task(open_desk: Callable[..., Desk]) -> None:
    desk = open_desk()
    desk.poll()
    desk.deliver("Both")
    desk.backfill()
    desk.poll()
    assert desk.titles() == ["Both"]
    assert desk.methods().count("messages.get") == 1


def test_dates_bound_a_backfill_by_internal_date_to_the_millisecond(open_desk: Callable[..., Desk]) -> None:
    desk = open_desk()
    almost = desk.deliver("Half a second early", internal_date=NOON - timedelta(milliseconds=500))
    desk.deliver("First", internal_date=NOON)
    desk.deliver("Last", internal_date=NOON + timedelta(hours=1) - timedelta(milliseconds=1))
    desk.deliver("Too late", internal_date=NOON + timedelta(hours=1))
    desk.backfill(after=NOON, before=NOON + timedelta(hours=1))
    assert desk.titles() == ["First", "Last"]
    row = desk.ledger().get(almost.message_id)
    assert row is None or (row.state, row.reason) == (MessageState.SKIPPED, SkipReason.OUTSIDE_RANGE)


def test_a_wider_backfill_takes_what_a_narrow_one_left_out(open_desk: Callable[..., Desk]) -> None:
    desk = open_desk()
    for milliseconds in (-500, 0, 3_600_000):
        desk.deliver(f"At {milliseconds}", internal_date=NOON + timedelta(milliseconds=milliseconds))
    desk.backfill(after=NOON, before=NOON + timedelta(hours=1))
    desk.backfill(after=NOON, before=NOON + timedelta(hours=1))
    assert desk.titles() == ["At 0"]
    desk.backfill()
    assert sorted(desk.titles()) == ["At -500", "At 0", "At 3600000"]


def test_a_query_of_the_operators_own_narrows_a_backfill(open_desk: Callable[..., Desk]) -> None:
    desk = open_desk()
    desk.deliver("Bill for tea")
    desk.deliver("Order for tea")
    desk.backfill(query="subject:bill", after=NOON)
    assert desk.titles() == ["Bill for tea"]


def test_a_dry_run_counts_and_changes_nothing(open_desk: Callable[..., Desk]) -> None:
    desk = open_desk()
    desk.deliver("Old")
    preview = preview_backfill(desk.mailbox, BackfillRequest(EVERY_DATE))
    assert (preview.listed, preview.known, preview.unknown) == (1, 0, 1)
    assert desk.mailbox.store.find_mailbox() is None
    desk.backfill()
    desk.deliver("New")
    preview = preview_backfill(desk.mailbox, BackfillRequest(EVERY_DATE))
    assert (preview.listed, preview.known, preview.unknown) == (2, 1, 1)
    assert len(desk.ledger()) == 1


def test_a_stopped_backfill_says_so_and_goes_on_where_it_was(
    open_desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch, stop: threading.Event
) -> None:
    monkeypatch.setattr(inbox_loop.loop.ingest, "BATCH", 4)
    desk = open_desk()
    for number in range(10):
        desk.deliver(f"Old {number}")

    def stop_after_the_first_batch(progress: BackfillProgress) -> None:
        if progress.tally.created:
            stop.set()

    report = backfill_once(desk.mailbox, BackfillRequest(EVERY_DATE), stop_after_the_first_batch)
    assert (report.created, report.pending, report.complete) == (4, 6, False)
    stop.clear()
    report = desk.backfill()
    assert (report.created, report.pending, report.complete) == (6, 0, True)
    assert len(set(desk.titles())) == 10


def test_progress_tells_what_is_left(open_desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox_loop.loop.ingest, "BATCH", 4)
    desk = open_desk()
    for number in range(6):
        desk.deliver(f"Old {number}")
    seen: list[tuple[int, int, int]] = []
    backfill_once(
        desk.mailbox,
        BackfillRequest(EVERY_DATE),
        lambda progress: seen.append((progress.found.listed, progress.tally.created, progress.remaining)),
    )
    assert seen == [(6, 0, 0), (6, 4, 2), (6, 6, 0)]


def test_a_long_thread_is_read_by_one_call(open_desk: Callable[..., Desk]) -> None:
    desk = open_desk()
    first = desk.deliver("Long thread")
    for number in range(9):
        desk.deliver(f"Re: Long thread {number}", thread_id=first.thread_id)
    report = desk.backfill()
    assert report.created == 10
    assert desk.methods().count("threads.get") == 1
    assert desk.methods().count("messages.get") == 0
    assert report.quota_units == 1 + 5 + 5 + 40


def test_a_deleted_task_stays_deleted_whatever_re_reads_the_mail(desk: Desk) -> None:
    delivered = desk.deliver("Deleted by someone")
    desk.poll()
    desk.tasks.delete_task(1, actor="test")
    desk.account.relabel(delivered.message_id, remove=["INBOX"])
    desk.account.relabel(delivered.message_id, add=["INBOX"])
    desk.poll()
    desk.backfill()
    desk.reconcile(datetime.now(UTC))
    desk.account.expire_history()
    desk.poll()
    assert desk.titles() == []


def test_a_deleted_task_stays_deleted_with_the_ledger_lost(desk: Desk) -> None:
    delivered = desk.deliver("Deleted by someone")
    desk.poll()
    desk.tasks.delete_task(1, actor="test")
    empty_ledger(desk)
    report = desk.backfill()
    assert (report.created, report.skipped) == (0, 1)
    assert desk.ledger()[delivered.message_id].reason == SkipReason.TASK_DELETED
    assert desk.titles() == []


def test_with_the_ledger_lost_a_full_run_creates_no_second_task(desk: Desk) -> None:
    for number in range(5):
        desk.deliver(f"Ask {number}")
    desk.poll()
    desk.tasks.finish_task(2, actor="test", summary="Done.")
    empty_ledger(desk)
    report = desk.backfill()
    assert (report.created, report.found) == (0, 5)
    assert len(desk.all_tasks()) == 5


@pytest.mark.parametrize("ledger_lost", [False, True])
def test_only_a_remint_creates_a_deleted_task_anew_and_only_once(desk: Desk, *, ledger_lost: bool) -> None:
    desk.deliver("Deleted by someone")
    desk.deliver("Kept")
    desk.poll()
    number = next(task.number for task in desk.all_tasks() if task.title == "Deleted by someone")
    desk.tasks.delete_task(number, actor="test")
    if ledger_lost:
        empty_ledger(desk)
    report = desk.backfill(remint=True)
    assert report.created == 1
    assert sorted(desk.titles()) == ["Deleted by someone", "Kept"]
    assert max(task.number for task in desk.all_tasks()) == 3
    assert desk.backfill(remint=True).created == 0


def test_a_reconcile_finds_what_history_missed(desk: Desk) -> None:
    desk.deliver("Known")
    desk.poll()
    missed = desk.deliver("Missed")
    desk.mailbox.store.in_transaction(lambda tx: tx.advance_cursor(desk.account.history_id))
    assert desk.poll().idle
    report = desk.reconcile(datetime.now(UTC))
    assert (report.listed, report.known, report.discovered, report.created) == (2, 1, 1, 1)
    assert desk.ledger()[missed.message_id].state is MessageState.TASK
    assert desk.reconcile(datetime.now(UTC)).idle


def test_a_reconcile_looks_no_further_back_than_the_first_touch(open_desk: Callable[..., Desk]) -> None:
    desk = open_desk()
    desk.deliver("From before", internal_date=NOW - timedelta(days=3))
    desk.poll()
    assert desk.reconcile(datetime.now(UTC)).listed == 0
    assert desk.titles() == []


def test_after_a_complete_backfill_a_reconcile_looks_back_further(open_desk: Callable[..., Desk]) -> None:
    desk = open_desk()
    desk.deliver("Two days old", internal_date=NOW - timedelta(days=2))
    desk.backfill(query="subject:two")
    assert desk.reconcile(datetime.now(UTC)).listed == 0, "a query of one's own covers nothing"
    desk.backfill(before=NOW - timedelta(days=1))
    assert desk.reconcile(datetime.now(UTC)).listed == 0, "a gap before the first touch covers nothing"
    desk.backfill()
    assert desk.reconcile(datetime.now(UTC)).listed == 1


def test_a_message_that_cannot_be_read_is_quarantined_and_the_rest_goes_on(open_desk: Callable[..., Desk]) -> None:
    desk = open_desk()
    bomb = desk.account.deliver(many_parts("Too many", MAX_PARTS + 1))
    desk.deliver("Ordinary")
    report = desk.backfill()
    assert (report.created, report.quarantined, report.pending) == (1, 1, 0)
    row = desk.ledger()[bomb.message_id]
    assert (row.state, row.reason) == (MessageState.QUARANTINED, "too_many_parts")
    assert report.needs_a_look


def test_a_fault_of_the_policy_quarantines_one_message_only(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def decide(message: Message, policy: Policy, *, mailbox: str, account: str, project: str | None) -> MakeTask | Skip:
        if message.header("Subject") == "Trap":
            raise RecursionError
        return policy_module.decide(message, policy, mailbox=mailbox, account=account, project=project)

    monkeypatch.setattr(inbox_loop.loop.ingest, "decide", decide)
    desk.deliver("Trap")
    desk.deliver("Ordinary")
    report = desk.poll()
    assert (report.created, report.quarantined) == (1, 1)
    assert desk.titles() == ["Ordinary"]


def test_a_draft_that_the_store_refuses_is_quarantined_and_the_batch_goes_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def decide(message: Message, policy: Policy, *, mailbox: str, account: str, project: str | None) -> MakeTask | Skip:
        decision = policy_module.decide(message, policy, mailbox=mailbox, account=account, project=project)
        if isinstance(decision, MakeTask) and decision.draft.title == "Refused":
            return MakeTask(replace(decision.draft, title="too long" * 1000))
        return decision

    monkeypatch.setattr(inbox_loop.loop.ingest, "decide", decide)
    refused = desk.deliver("Refused")
    desk.deliver("Ordinary")
    desk.deliver("Sent", labels=("SENT",))
    report = desk.poll()
    assert (report.created, report.skipped, report.quarantined) == (1, 1, 1)
    assert desk.ledger()[refused.message_id].reason == REFUSED_BY_STORE
    assert [(task.number, task.title) for task in desk.all_tasks()] == [(1, "Ordinary")]


def test_passing_trouble_is_waited_out(open_desk: Callable[..., Desk]) -> None:
    desk = open_desk()
    for number in range(8):
        desk.deliver(f"Old {number}")
    desk.simulator.faults.add(Fault("messages.list", status=503, times=2))
    report = desk.backfill()
    assert (report.created, report.complete) == (8, True)
