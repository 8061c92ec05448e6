"""The loop's pure decisions, one rule a test: what is discovered, who holds a ref, what a failure comes to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from inbox_loop.errors import GmailUnreachable, MessageGone, UnreadableMessage
from inbox_loop.loop.discover import Sighting, plan_discovery
from inbox_loop.loop.ledger import EVERY_DATE, DateRange, Due, FoundBy, Known, MessageState, RefHolder
from inbox_loop.loop.ports import MessageId
from inbox_loop.loop.query import listing_query
from inbox_loop.loop.retry import LONGEST_WAIT, backoff, outcome_of_failure
from inbox_loop.loop.settle import Verdict, judge
from inbox_loop.policy import SkipReason
from inbox_loop.task import TaskStatus

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
GONE_AFTER = timedelta(minutes=10)


def known(
    state: MessageState,
    reason: str | None = None,
    *,
    deleted: bool = False,
    date: datetime | None = NOON,
    wanted: DateRange = EVERY_DATE,
) -> Known:
    return Known(state, reason, task_deleted=deleted, internal_date=date, wanted=wanted)


def due(*, attempts: int = 0, age: timedelta = timedelta()) -> Due:
    return Due("18d", "18c", attempts=attempts, age=age, revision=3, remint=False, insisted=False, wanted=EVERY_DATE)


def reopened(row: Known, *, found_by: FoundBy, arrived: bool = False, remint: bool = False) -> bool:
    arrivals = frozenset({"18d"}) if arrived else frozenset()
    sighting = Sighting((MessageId("18d", "18c"),), found_by, arrivals, remint=remint)
    plan = plan_discovery(sighting, {"18d": row})
    assert plan.unknown == ()
    return plan.reopened == ("18d",)


def test_an_unknown_id_is_discovered_and_a_known_one_is_left_alone() -> None:
    ids = (MessageId("1", "1"), MessageId("2", "1"))
    plan = plan_discovery(Sighting(ids, FoundBy.POLL), {"1": known(MessageState.TASK)})
    assert plan.unknown == (MessageId("2", "1"),)
    assert plan.reopened == ()


@pytest.mark.parametrize("reason", [SkipReason.SPAM, SkipReason.TRASH])
def test_a_message_rescued_from_spam_or_trash_is_read_again(reason: SkipReason) -> None:
    row = known(MessageState.SKIPPED, reason)
    assert reopened(row, found_by=FoundBy.POLL, arrived=True)
    assert reopened(row, found_by=FoundBy.RECONCILE), "a listing leaves out spam and trash"
    assert not reopened(row, found_by=FoundBy.POLL), "history may name it again without a new label"


@pytest.mark.parametrize("reason", [SkipReason.BULK, SkipReason.CATEGORY, SkipReason.RULE])
def test_what_was_skipped_for_its_labels_is_read_again_when_they_change_and_by_no_listing(reason: SkipReason) -> None:
    row = known(MessageState.SKIPPED, reason)
    assert reopened(row, found_by=FoundBy.POLL, arrived=True)
    assert not reopened(row, found_by=FoundBy.POLL)
    assert not reopened(row, found_by=FoundBy.RECONCILE)


@pytest.mark.parametrize("reason", [SkipReason.AUTO_REPLY, SkipReason.TASK_DELETED])
def test_a_new_label_does_not_change_what_was_skipped_for_its_content(reason: SkipReason) -> None:
    assert not reopened(known(MessageState.SKIPPED, reason), found_by=FoundBy.POLL, arrived=True)


def test_a_new_label_changes_nothing_about_a_task() -> None:
    assert not reopened(known(MessageState.TASK), found_by=FoundBy.POLL, arrived=True)


def test_a_new_label_refuses_what_is_being_read_with_the_old_ones() -> None:
    assert reopened(known(MessageState.PENDING), found_by=FoundBy.POLL, arrived=True)


def test_a_message_that_was_gone_and_is_listed_is_read_again() -> None:
    assert reopened(known(MessageState.GONE, "not_found"), found_by=FoundBy.BACKFILL)


def test_a_wider_range_takes_over_a_pending_row_that_a_narrow_one_listed() -> None:
    narrow, wide = DateRange(before=NOON), DateRange(before=NOON + timedelta(days=1))
    row = known(MessageState.PENDING, date=None, wanted=narrow)
    for wanted, expected in ((wide, True), (EVERY_DATE, True), (narrow, False), (DateRange(after=NOON), False)):
        sighting = Sighting((MessageId("18d", "18c"),), FoundBy.BACKFILL, wanted=wanted)
        assert bool(plan_discovery(sighting, {"18d": row}).reopened) is expected


def test_only_a_remint_brings_a_deleted_task_back() -> None:
    for row in (known(MessageState.TASK, deleted=True), known(MessageState.SKIPPED, SkipReason.TASK_DELETED)):
        assert not reopened(row, found_by=FoundBy.BACKFILL)
        assert reopened(row, found_by=FoundBy.BACKFILL, remint=True)
    assert not reopened(known(MessageState.TASK), found_by=FoundBy.BACKFILL, remint=True)
    assert reopened(known(MessageState.PENDING), found_by=FoundBy.BACKFILL, remint=True), "its task may be deleted"


def test_a_message_outside_of_an_earlier_range_is_read_again_only_when_the_new_one_holds_it() -> None:
    row = known(MessageState.SKIPPED, SkipReason.OUTSIDE_RANGE, date=NOON)
    ids = (MessageId("18d", "18c"),)
    for wanted, expected in (
        (DateRange(after=NOON), ("18d",)),
        (DateRange(before=NOON), ()),
        (EVERY_DATE, ("18d",)),
    ):
        assert plan_discovery(Sighting(ids, FoundBy.BACKFILL, wanted=wanted), {"18d": row}).reopened == expected


def holder(*, mailbox: str | None, account: str | None, deleted: bool = False) -> RefHolder:
    return RefHolder(
        "gmail:18c#18d",
        uuid4(),
        1,
        TaskStatus.DONE,
        deleted=deleted,
        source_mailbox=mailbox,
        source_account=account,
    )


@pytest.mark.parametrize(
    ("who", "remint", "verdict"),
    [
        (None, False, Verdict.CREATE),
        (holder(mailbox="support", account="support@example.org"), False, Verdict.OURS),
        (holder(mailbox="renamed", account="Support@example.org"), False, Verdict.OURS),
        (holder(mailbox="support", account="earlier-owner-of-the-name@example.org"), False, Verdict.ANOTHER_MAILBOX),
        (holder(mailbox="support", account=None), False, Verdict.OURS),
        (holder(mailbox="sales", account=None), False, Verdict.ANOTHER_MAILBOX),
        (holder(mailbox=None, account=None), False, Verdict.OURS),
        (holder(mailbox="sales", account="sales@example.org"), False, Verdict.ANOTHER_MAILBOX),
        (holder(mailbox="sales", account="sales@example.org"), True, Verdict.ANOTHER_MAILBOX),
        (holder(mailbox="sales", account="sales@example.org", deleted=True), False, Verdict.CREATE),
        (holder(mailbox="support", account="support@example.org", deleted=True), False, Verdict.DELETED),
        (holder(mailbox="support", account="support@example.org", deleted=True), True, Verdict.CREATE),
    ],
)
def test_the_holder_of_a_ref_decides(who: RefHolder | None, *, remint: bool, verdict: Verdict) -> None:
    assert judge(who, mailbox="support", account="support@example.org", remint=remint) is verdict


def test_a_404_is_tried_again_at_once_then_later_then_gone() -> None:
    error = MessageGone("404")
    first = outcome_of_failure(due(), error, gone_after=GONE_AFTER)
    assert (first.state, first.retry_in) == (MessageState.PENDING, timedelta())
    later = outcome_of_failure(due(attempts=1, age=timedelta(minutes=1)), error, gone_after=GONE_AFTER)
    assert later.state is MessageState.PENDING
    assert later.retry_in == backoff(1)
    last = outcome_of_failure(due(attempts=9, age=GONE_AFTER), error, gone_after=GONE_AFTER)
    assert (last.state, last.reason) == (MessageState.GONE, "not_found")


def test_the_last_try_before_gone_is_not_put_off_past_it() -> None:
    age = GONE_AFTER - timedelta(seconds=2)
    assert outcome_of_failure(due(attempts=5, age=age), MessageGone("404"), gone_after=GONE_AFTER).retry_in == (
        timedelta(seconds=2)
    )


def test_what_cannot_be_read_is_quarantined_with_its_reason() -> None:
    outcome = outcome_of_failure(due(), UnreadableMessage("no payload", reason="no_payload"), gone_after=GONE_AFTER)
    assert (outcome.state, outcome.reason, outcome.retry_in) == (MessageState.QUARANTINED, "no_payload", None)


@pytest.mark.parametrize("attempts", [0, 1, 7, 500])
def test_passing_trouble_is_tried_again_however_long_it_lasts(attempts: int) -> None:
    outcome = outcome_of_failure(due(attempts=attempts), GmailUnreachable("500"), gone_after=GONE_AFTER)
    assert (outcome.revision, outcome.state, outcome.reason) == (3, MessageState.PENDING, "gmail.unreachable")
    assert outcome.retry_in == backoff(attempts)


def test_waits_grow_up_to_an_hour() -> None:
    waits = [backoff(n) for n in range(40)]
    assert waits == sorted(waits)
    assert waits[0] == timedelta(seconds=15)
    assert waits[-1] == LONGEST_WAIT


def test_a_listing_asks_in_epoch_seconds_and_a_little_wider_than_wanted() -> None:
    precise = DateRange(after=NOON + timedelta(milliseconds=500), before=NOON + timedelta(seconds=9, milliseconds=1))
    noon = int(NOON.timestamp())
    assert listing_query(precise, " from:a@example.org ") == f"after:{noon - 1} before:{noon + 10} from:a@example.org"
    assert listing_query(EVERY_DATE) == ""


def test_a_range_covers_what_lies_within_it() -> None:
    day = DateRange(after=NOON, before=NOON + timedelta(days=1))
    assert EVERY_DATE.covers(day)
    assert day.covers(day)
    assert not day.covers(EVERY_DATE)
    assert DateRange(after=NOON).covers(day)
    assert not DateRange(after=NOON + timedelta(hours=1)).covers(day)


def test_a_range_includes_its_start_and_not_its_end() -> None:
    day = DateRange(after=NOON, before=NOON + timedelta(days=1))
    assert day.holds(NOON)
    assert not day.holds(NOON + timedelta(days=1))
    assert not day.holds(NOON - timedelta(milliseconds=1))
    assert EVERY_DATE.holds(NOON)
