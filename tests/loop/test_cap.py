"""The cap on a sender's tasks: who is held back, decided and end to end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from support.desk import Desk, plain_mail

from inbox_loop.loop.ask import Ask
from inbox_loop.loop.cap import count_tasks, keep_within_cap, list_sender_hours
from inbox_loop.loop.ledger import EVERY_DATE, Due, MessageState, Outcome, SenderHour
from inbox_loop.policy import SkipReason
from inbox_loop.task import TaskDraft

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
ANN = "ann@example.org"
ANN_AT_NOON = SenderHour(ANN, NOON)


def ask(message_id: str, *, sender: str | None = ANN, at: datetime = NOON, insisted: bool = False) -> Ask:
    due = Due(message_id, "1", 0, timedelta(), 1, remint=False, insisted=insisted, wanted=EVERY_DATE)
    return Ask(due, "1", at, TaskDraft(f"gmail:1#{message_id}", "A title"), sender=sender)


def ids(asks: tuple[Ask, ...]) -> list[str]:
    return [one.message_id for one in asks]


def test_the_first_that_came_have_their_task_and_the_rest_is_over() -> None:
    capped = keep_within_cap([ask("a"), ask("b"), ask("c")], {ANN_AT_NOON: 1}, limit=3)
    assert (ids(capped.within), ids(capped.over)) == (["a", "b"], ["c"])


def test_each_sender_and_each_hour_is_counted_apart() -> None:
    asks = [ask("a"), ask("b", sender="bob@example.org"), ask("c", at=NOON + timedelta(hours=1)), ask("d")]
    assert ids(keep_within_cap(asks, {}, limit=1).over) == ["d"]


def test_a_message_without_a_sender_is_never_over() -> None:
    asks = [ask("a", sender=None), ask("b", sender=None)]
    assert keep_within_cap(asks, {}, limit=1).over == ()
    assert list_sender_hours(asks) == ()


def test_what_a_person_insists_on_is_never_over_but_counts() -> None:
    asks = [ask("a", insisted=True), ask("b", insisted=True), ask("c")]
    assert ids(keep_within_cap(asks, {}, limit=1).over) == ["c"]
    assert list_sender_hours(asks) == (ANN_AT_NOON,)


def test_an_hour_is_one_of_utc_whatever_the_zone_a_moment_is_in() -> None:
    kathmandu = timezone(timedelta(hours=5, minutes=45))
    assert SenderHour.of(ANN, (NOON + timedelta(minutes=59)).astimezone(kathmandu)) == ANN_AT_NOON


def test_only_tasks_of_a_known_sender_and_date_are_counted() -> None:
    task = Outcome("a", 1, MessageState.TASK, internal_date=NOON, sender=ANN)
    others = [replace(task, state=MessageState.SKIPPED), replace(task, sender=None), replace(task, internal_date=None)]
    assert count_tasks([task, task, *others]) == {ANN_AT_NOON: 2}


def capped_desk(open_desk: Callable[..., Desk], limit: int) -> Desk:
    """A desk, touched once, that makes ``limit`` tasks a sender and hour."""
    desk = open_desk()
    policy = replace(desk.mailbox.policy, max_per_sender_per_hour=limit)
    desk = replace(desk, mailbox=replace(desk.mailbox, policy=policy))
    desk.poll()
    return desk


def states(desk: Desk) -> list[tuple[str, str | None]]:
    rows = sorted(desk.ledger().values(), key=lambda row: (row.internal_date or NOON, row.message_id))
    return [(row.state.value, row.reason) for row in rows]


OVER = ("skipped", SkipReason.SENDER_CAP.value)
MADE = ("task", None)


@pytest.mark.parametrize("at_once", [True, False], ids=["in one poll", "in a poll each"])
def test_the_mail_of_a_machine_gone_wild_makes_so_many_tasks_and_none_is_lost(
    open_desk: Callable[..., Desk], *, at_once: bool
) -> None:
    desk = capped_desk(open_desk, 2)
    for minute in range(4):
        desk.deliver(f"At {minute}", internal_date=NOON + timedelta(minutes=minute))
        if not at_once:
            desk.poll()
    desk.account.deliver(plain_mail("Someone else", sender="bob@example.org"), internal_date=NOON)
    desk.deliver("An hour later", internal_date=NOON + timedelta(hours=1))
    desk.poll()
    assert sorted(desk.titles()) == ["An hour later", "At 0", "At 1", "Someone else"]
    assert sorted(states(desk)) == sorted([MADE, MADE, MADE, MADE, OVER, OVER])


def test_a_sender_is_the_same_in_any_case(open_desk: Callable[..., Desk]) -> None:
    desk = capped_desk(open_desk, 1)
    for sender in ("Ann@Example.org", "ANN LEE <ann@example.org>"):
        desk.account.deliver(plain_mail("Ask", sender=sender), internal_date=NOON)
    assert (desk.poll().created, len(desk.titles())) == (1, 1)


def test_a_task_that_is_there_already_is_found_however_many_there_are(open_desk: Callable[..., Desk]) -> None:
    desk = capped_desk(open_desk, 1)
    first = desk.deliver("First", internal_date=NOON)
    second = desk.deliver("Second", internal_date=NOON)
    for delivered in (first, second):
        desk.tasks.upsert_task(TaskDraft(f"gmail:{delivered.thread_id}#{delivered.message_id}", "By hand"), actor="ann")
    desk.deliver("Third", internal_date=NOON)
    report = desk.poll()
    assert (report.found, report.created, report.skipped) == (2, 0, 1)


def test_with_the_ledger_lost_no_second_task_is_made(open_desk: Callable[..., Desk]) -> None:
    desk = capped_desk(open_desk, 2)
    for minute in range(4):
        desk.deliver(f"At {minute}", internal_date=NOON + timedelta(minutes=minute))
    desk.poll()
    with desk.database.connection() as connection:
        connection.execute("delete from messages")
    report = desk.backfill()
    assert (report.found, report.created, report.skipped) == (2, 0, 2)
    assert desk.titles() == ["At 0", "At 1"]
