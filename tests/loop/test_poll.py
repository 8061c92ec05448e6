"""Poll, end to end: what arrives after the first touch becomes tasks, once each, whatever happens on the way."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from support.desk import ADDRESS, NAME, TENANT, Desk, plain_mail

import inbox_loop.gmail.mailbox
import inbox_loop.loop.ingest
from inbox_loop.errors import AnotherAccount, GmailUnreachable
from inbox_loop.loop.ledger import MessageState
from inbox_loop.loop.settle import REF_OF_ANOTHER_MAILBOX
from inbox_loop.policy import SkipReason
from inbox_loop.simulator.faults import Fault
from inbox_loop.task import TaskDraft, TaskStatus


def test_the_first_touch_takes_the_cursor_and_reads_nothing(open_desk: Callable[..., Desk]) -> None:
    desk = open_desk()
    desk.deliver("From before")
    report = desk.poll()
    assert (report.discovered, report.created, report.pending) == (0, 0, 0)
    assert desk.row().cursor == desk.account.history_id
    assert desk.row().address == ADDRESS
    assert desk.methods() == ["getProfile", "history.list"]


def test_a_message_becomes_one_task_that_says_where_it_came_from(desk: Desk) -> None:
    arrived = datetime(2026, 11, 23, 8, 30, tzinfo=UTC)
    delivered = desk.account.deliver(
        b"From: Ann Lee <ann@example.org>\r\nTo: desk@example.com\r\nCc: bob@example.org\r\n"
        b"Subject: =?utf-8?q?Caf=C3=A9_bill?=\r\nMessage-ID: <1@example.org>\r\n\r\nPlease send it.\r\n",
        internal_date=arrived,
    )
    report = desk.poll()
    assert (report.discovered, report.created, report.pending) == (1, 1, 0)
    (task,) = desk.all_tasks()
    assert (task.number, task.title, task.body.strip()) == (1, "Café bill", "Please send it.")
    assert task.external_ref == f"gmail:{delivered.thread_id}#{delivered.message_id}"
    assert task.container_ref == f"gmail:{delivered.thread_id}"
    assert task.project == "mail"
    source = task.source
    assert (source["mailbox"], source["account"]) == (NAME, ADDRESS)
    assert (source["message_id"], source["thread_id"]) == (delivered.message_id, delivered.thread_id)
    assert source["rfc_message_id"] == "<1@example.org>"
    assert datetime.fromisoformat(str(source["internal_date"])) == arrived
    row = desk.ledger()[delivered.message_id]
    assert (row.state, row.task_number, row.internal_date) == (MessageState.TASK, 1, arrived)


def test_a_known_message_that_history_names_again_is_not_read_again(desk: Desk) -> None:
    delivered = desk.deliver("Once")
    desk.poll()
    desk.account.relabel(delivered.message_id, add=["STARRED"])
    desk.account.relabel(delivered.message_id, remove=["UNREAD"])
    desk.account.relabel(delivered.message_id, remove=["INBOX"])
    desk.account.relabel(delivered.message_id, add=["INBOX"])
    report = desk.poll()
    assert (report.discovered, report.created, report.found) == (0, 0, 0)
    assert desk.methods().count("messages.get") == 1


def test_a_second_ask_on_a_thread_whose_task_is_done_gets_its_own_task(desk: Desk) -> None:
    first = desk.deliver("Order 7")
    desk.poll()
    desk.tasks.finish_task(1, actor="test", summary="Sent.")
    desk.deliver("Re: Order 7", thread_id=first.thread_id)
    assert desk.poll().created == 1
    done, fresh = desk.all_tasks()
    assert (done.status, fresh.status) == (TaskStatus.DONE, TaskStatus.OPEN)
    assert done.container_ref == fresh.container_ref
    assert done.external_ref != fresh.external_ref


def test_task_numbers_follow_the_order_of_arrival_without_gaps(desk: Desk) -> None:
    noon = datetime(2026, 11, 23, 12, tzinfo=UTC)
    for minute in (3, 1, 2):
        desk.deliver(f"At {minute}", internal_date=noon + timedelta(minutes=minute))
    desk.poll()
    assert [(task.number, task.title) for task in desk.all_tasks()] == [(1, "At 1"), (2, "At 2"), (3, "At 3")]


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        (("DRAFT",), SkipReason.DRAFT),
        (("SENT",), SkipReason.SENT),
        (("SPAM",), SkipReason.SPAM),
        (("TRASH",), SkipReason.TRASH),
    ],
)
def test_drafts_sent_spam_and_trash_are_no_tasks_and_the_ledger_says_why(
    desk: Desk, labels: tuple[str, ...], reason: SkipReason
) -> None:
    delivered = desk.deliver("No task", labels=labels)
    report = desk.poll()
    assert (report.created, report.skipped) == (0, 1)
    row = desk.ledger()[delivered.message_id]
    assert (row.state, row.reason, row.task_number) == (MessageState.SKIPPED, reason, None)


@pytest.mark.parametrize("place", ["SPAM", "TRASH"])
def test_mail_rescued_later_becomes_a_task_then(desk: Desk, place: str) -> None:
    delivered = desk.deliver("Rescued", labels=(place,))
    desk.poll()
    desk.account.relabel(delivered.message_id, add=["INBOX"], remove=[place])
    report = desk.poll()
    assert (report.discovered, report.created) == (1, 1)
    assert desk.titles() == ["Rescued"]


def test_mail_rescued_to_the_archive_becomes_a_task_too(desk: Desk) -> None:
    delivered = desk.deliver("Rescued", labels=("SPAM",))
    desk.poll()
    desk.account.relabel(delivered.message_id, remove=["SPAM"])
    assert desk.poll().created == 1


def test_mail_moved_from_promotions_to_primary_becomes_a_task(desk: Desk) -> None:
    delivered = desk.deliver("Misfiled", labels=("INBOX", "CATEGORY_PROMOTIONS"))
    assert desk.poll().skipped == 1
    desk.account.relabel(delivered.message_id, add=["CATEGORY_PERSONAL"], remove=["CATEGORY_PROMOTIONS"])
    assert desk.poll().created == 1
    assert desk.titles() == ["Misfiled"]


def test_old_mail_moved_to_the_inbox_becomes_a_task(open_desk: Callable[..., Desk]) -> None:
    desk = open_desk()
    delivered = desk.deliver("Old", labels=())
    desk.poll()
    desk.account.relabel(delivered.message_id, add=["INBOX"])
    assert desk.poll().created == 1


def test_mail_that_a_filter_archived_at_once_becomes_a_task(desk: Desk) -> None:
    desk.deliver("Archived", labels=("Label of mine",))
    assert desk.poll().created == 1


def test_a_message_to_oneself_is_one_task(desk: Desk) -> None:
    desk.deliver("Note to self", labels=("SENT", "INBOX"))
    assert desk.poll().created == 1
    assert desk.titles() == ["Note to self"]


def test_the_same_message_id_header_twice_is_two_tasks(desk: Desk) -> None:
    raw = b"From: a@example.org\r\nSubject: Same\r\nMessage-ID: <same@example.org>\r\n\r\nHi\r\n"
    desk.account.deliver(raw)
    desk.account.deliver(raw)
    assert desk.poll().created == 2


def test_many_pages_of_history_are_read_to_the_end(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox_loop.gmail.mailbox, "PAGE_SIZE", 7)
    for number in range(40):
        desk.deliver(f"Ask {number}")
    report = desk.poll()
    assert (report.discovered, report.created) == (40, 40)
    assert desk.methods().count("history.list") >= 6
    assert desk.poll().discovered == 0


def test_trouble_in_the_middle_of_the_pages_loses_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox_loop.gmail.mailbox, "PAGE_SIZE", 5)
    before = desk.row().cursor
    for number in range(20):
        desk.deliver(f"Ask {number}")
    desk.simulator.faults.add(Fault("history.list", status=500, times=None, skip=2))
    with pytest.raises(GmailUnreachable):
        desk.poll()
    assert desk.row().cursor == before, "the cursor stays where every id is recorded"
    desk.simulator.faults.clear()
    desk.poll()
    assert sorted(desk.titles()) == sorted(f"Ask {number}" for number in range(20))


def test_a_message_that_fails_does_not_hold_the_others(desk: Desk) -> None:
    bad = desk.deliver("Bad")
    desk.deliver("Good")
    desk.simulator.faults.add(Fault("messages.get", status=500, times=None, message_id=bad.message_id))
    report = desk.poll()
    assert (report.created, report.pending) == (1, 1)
    row = desk.ledger()[bad.message_id]
    assert (row.state, row.reason, row.attempts) == (MessageState.PENDING, "gmail.unreachable", 1)
    assert desk.titles() == ["Good"]


def test_a_404_that_passes_makes_the_task_in_the_same_poll(desk: Desk) -> None:
    late = desk.deliver("Visible late")
    desk.simulator.faults.add(Fault("messages.get", status=404, reason="notFound", message_id=late.message_id))
    report = desk.poll()
    assert (report.created, report.pending) == (1, 0)


def test_a_404_that_stays_is_gone_after_its_time(open_desk: Callable[..., Desk]) -> None:
    desk = open_desk(gone_after=timedelta())
    desk.poll()
    deleted = desk.deliver("Deleted")
    desk.account.delete(deleted.message_id)
    report = desk.poll()
    assert (report.gone, report.pending) == (1, 0)
    assert desk.ledger()[deleted.message_id].state is MessageState.GONE


def test_a_404_is_waited_for_before_it_is_gone(desk: Desk) -> None:
    deleted = desk.deliver("Deleted")
    desk.account.delete(deleted.message_id)
    report = desk.poll()
    assert (report.gone, report.pending) == (0, 1)
    assert desk.ledger()[deleted.message_id].attempts == 2


def test_expired_history_loses_nothing_and_the_next_poll_is_incremental(desk: Desk) -> None:
    desk.deliver("Known")
    desk.poll()
    desk.deliver("In the gap")
    rescued = desk.deliver("Rescued in the gap", labels=("SPAM",))
    desk.account.relabel(rescued.message_id, add=["INBOX"], remove=["SPAM"])
    desk.account.expire_history()
    report = desk.poll()
    assert (report.listed, report.known, report.created) == (3, 1, 2)
    assert desk.row().cursor == desk.account.history_id
    assert desk.poll().api_calls == 1
    assert len(desk.titles()) == 3


def test_expired_history_does_not_read_mail_from_before_the_first_touch(open_desk: Callable[..., Desk]) -> None:
    desk = open_desk()
    desk.deliver("From before", internal_date=datetime.now(UTC) - timedelta(days=2))
    desk.poll()
    desk.deliver("In the gap")
    desk.account.expire_history()
    desk.poll()
    assert desk.titles() == ["In the gap"]


def test_a_thread_id_that_changes_makes_no_second_task(desk: Desk) -> None:
    delivered = desk.deliver("Moved")
    desk.poll()
    desk.account.rethread(delivered.message_id, "1900000000000abc")
    desk.account.relabel(delivered.message_id, remove=["INBOX"])
    desk.account.relabel(delivered.message_id, add=["INBOX"])
    desk.poll()
    desk.backfill()
    assert desk.titles() == ["Moved"]


def test_a_task_that_someone_else_made_under_the_ref_is_found(desk: Desk) -> None:
    delivered = desk.deliver("By hand")
    ref = f"gmail:{delivered.thread_id}#{delivered.message_id}"
    desk.tasks.upsert_task(TaskDraft(ref.upper().replace("GMAIL", "gmail"), "Made by hand"), actor="test")
    report = desk.poll()
    assert (report.created, report.found) == (0, 1)
    assert desk.titles() == ["Made by hand"]


def test_a_task_of_another_mailbox_is_not_taken_for_this_message(desk: Desk) -> None:
    delivered = desk.deliver("Ours")
    ref = f"gmail:{delivered.thread_id}#{delivered.message_id}"
    stranger = {"mailbox": "sales", "account": "sales@example.com"}
    desk.tasks.upsert_task(TaskDraft(ref, "Theirs", source=stranger), actor="test")
    report = desk.poll()
    assert (report.created, report.found, report.quarantined) == (0, 0, 1)
    row = desk.ledger()[delivered.message_id]
    assert (row.state, row.reason) == (MessageState.QUARANTINED, REF_OF_ANOTHER_MAILBOX)


def test_a_sign_in_of_another_account_is_refused(open_desk: Callable[..., Desk]) -> None:
    desk = open_desk()
    desk.mailbox.store.create_mailbox("someone-else@example.com", desk.account.history_id, "an earlier sign-in")
    with pytest.raises(AnotherAccount):
        desk.poll()


def test_a_new_sign_in_to_the_wrong_account_reads_nothing_and_the_right_one_goes_on(desk: Desk) -> None:
    cursor = desk.row().cursor
    right = desk.token_file.read_bytes()
    for number in range(5):
        desk.simulator.account("other@example.com").deliver(plain_mail(f"Private {number}"))
    desk.simulator.token_file("other@example.com", desk.token_file)
    for _ in range(2):
        with pytest.raises(AnotherAccount):
            desk.poll()
    assert desk.row().cursor == cursor
    desk.token_file.write_bytes(right)
    desk.deliver("Ours")
    assert desk.poll().created == 1
    assert desk.titles() == ["Ours"]


def test_a_new_sign_in_to_the_same_account_is_asked_whose_it_is_once(desk: Desk) -> None:
    desk.simulator.token_file(ADDRESS, desk.token_file)
    calls = len(desk.methods())
    desk.poll()
    desk.poll()
    assert desk.methods()[calls:] == ["getProfile", "history.list", "history.list"]


def test_a_pass_that_runs_out_of_time_says_so_and_the_next_one_goes_on(
    open_desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_loop.loop.ingest, "BATCH", 4)
    desk = open_desk(deadline_seconds=1.5)
    desk.poll()
    for number in range(40):
        desk.deliver(f"Ask {number}")
    desk.simulator.faults.add(Fault("messages.get", kind="delay", seconds=0.3, times=None))
    report = desk.poll()
    assert 0 < report.created < 40
    assert (report.complete, report.created + report.pending) == (False, 40)
    desk.simulator.faults.clear()
    assert (desk.poll().complete, len(desk.titles())) == (True, 40)


def test_messages_whose_reading_hangs_do_not_hold_the_others(open_desk: Callable[..., Desk]) -> None:
    desk = open_desk(deadline_seconds=12.0)
    desk.poll()
    hanging = [desk.deliver(f"Hangs {number}") for number in range(4)]
    for number in range(3):
        desk.deliver(f"Good {number}")
    for each in hanging:
        desk.simulator.faults.add(Fault("messages.get", kind="hang", times=None, message_id=each.message_id))
    report = desk.poll()
    assert sorted(desk.titles()) == ["Good 0", "Good 1", "Good 2"]
    assert [desk.ledger()[each.message_id].attempts for each in hanging] == [1] * 4
    assert report.pending == 4


def test_mail_is_read_once_however_often_it_is_polled(desk: Desk) -> None:
    for number in range(5):
        desk.account.deliver(plain_mail(f"Ask {number}"))
        desk.poll()
    assert desk.methods().count("messages.get") == 5
    assert desk.tasks.list_tasks(limit=10)[0].tenant == TENANT
