"""The words for what became of a message: a reason has words, and what is told fits the row."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from inbox_loop.commands.explanation import REASONS, explain
from inbox_loop.loop.ingest import DECISION_FAILED
from inbox_loop.loop.ledger import FoundBy, MessageState
from inbox_loop.loop.retry import NOT_FOUND
from inbox_loop.loop.settle import REF_OF_ANOTHER_MAILBOX
from inbox_loop.policy import SkipReason
from inbox_loop.repository.messages import LedgerRow
from inbox_loop.task import TaskStatus

SEEN = datetime(2026, 11, 30, 8, 30, tzinfo=UTC)
ROW = LedgerRow(
    mailbox="support",
    message_id="a1",
    thread_id="f0",
    ref="gmail:f0#a1",
    state=MessageState.TASK,
    reason=None,
    attempts=0,
    next_attempt_at=SEEN,
    seen_at=SEEN,
    found_by=FoundBy.RECONCILE,
    settled_at=SEEN,
    internal_date=SEEN,
    task_number=7,
    task_status=TaskStatus.IN_PROGRESS,
    task_deleted_at=None,
)


@pytest.mark.parametrize("reason", [*SkipReason, DECISION_FAILED, REF_OF_ANOTHER_MAILBOX, NOT_FOUND])
def test_every_reason_has_words(reason: str) -> None:
    assert reason in REASONS


@pytest.mark.parametrize("state", list(MessageState))
@pytest.mark.parametrize("found_by", list(FoundBy))
def test_every_state_and_every_finder_is_told(state: MessageState, found_by: FoundBy) -> None:
    story = dict(explain(replace(ROW, state=state, found_by=found_by)))
    assert list(story) == ["seen", "received", "outcome", "settled", "ref", "what to do"]
    assert str(found_by) in story["seen"]
    assert all(story.values())


def test_a_task_is_told_with_its_status() -> None:
    assert dict(explain(ROW))["outcome"] == "task 7, which is in progress"


def test_a_task_that_was_removed_is_told_as_such() -> None:
    assert "removed" in dict(explain(replace(ROW, task_number=None, task_status=None)))["outcome"]


def test_a_reason_without_words_is_told_by_its_code() -> None:
    assert dict(explain(replace(ROW, state=MessageState.QUARANTINED, reason="no_labels")))["reason"] == "no_labels"


def test_the_rule_that_decided_is_named_after_the_reason() -> None:
    row = replace(ROW, state=MessageState.SKIPPED, reason=SkipReason.RULE, rule="newsletters", task_number=None)
    story = dict(explain(row))
    assert (story["reason"], story["rule"]) == ("a rule of the configuration says so", "newsletters")


def test_that_a_person_asked_for_the_task_is_told() -> None:
    assert "asked for" not in dict(explain(ROW))
    assert dict(explain(replace(ROW, insisted=True)))["asked for"].startswith("a person wants a task of it")


def test_what_a_task_leaves_out_is_told_with_the_way_to_see_it() -> None:
    story = dict(explain(replace(ROW, quote_cut_characters=120, headers_only=True)))
    assert story["left out"] == "a quote of 120 characters; to see it: inbox-loop messages explain --full a1"
    assert "gmail.max_message_bytes" in story["read"]


@pytest.mark.parametrize("reason", [reason for reason in SkipReason if reason is not SkipReason.TASK_DELETED])
def test_whatever_a_message_was_skipped_for_comes_with_the_way_to_make_a_task_of_it(reason: SkipReason) -> None:
    row = replace(ROW, state=MessageState.SKIPPED, reason=reason, task_number=None, task_status=None)
    assert dict(explain(row))["what to do"].endswith("inbox-loop messages make-task a1")


@pytest.mark.parametrize("state", [MessageState.QUARANTINED, MessageState.GONE, MessageState.PENDING])
def test_what_was_not_read_comes_with_the_way_to_try_again(state: MessageState) -> None:
    assert dict(explain(replace(ROW, state=state, task_number=None)))["what to do"].endswith("messages retry a1")


def test_a_deleted_task_comes_with_the_way_to_have_it_anew() -> None:
    row = replace(ROW, state=MessageState.SKIPPED, reason=SkipReason.TASK_DELETED, task_number=None, task_status=None)
    assert "--remint-deleted" in dict(explain(row))["what to do"]
