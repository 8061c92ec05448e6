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


def test_a_deleted_task_comes_with_the_way_to_have_it_anew() -> None:
    row = replace(ROW, state=MessageState.SKIPPED, reason=SkipReason.TASK_DELETED, task_number=None, task_status=None)
    assert "--remint-deleted" in dict(explain(row))["what to do"]
