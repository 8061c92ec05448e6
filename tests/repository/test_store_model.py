"""Whatever is done to the task store, in whatever order: it answers as a model over a dict does, and leaves as much."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from support.store_model import StoreModel

from inbox_loop.errors import InboxLoopError, NoSuchTask, TaskConflict
from inbox_loop.repository.database import Database
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.task import NewTask, Task, TaskChange, TaskDraft, TaskFilter, TaskStatus, Upserted, UpsertOutcome

T = TypeVar("T")
U = TypeVar("U")

numbers = st.integers(1, 4)
titles = st.sampled_from(["One", "Two", "two|three"])
bodies = st.sampled_from(["", "100 % two", "_"])
projects = st.sampled_from([None, None, "inbox", "nowhere"])
labels = st.sampled_from([(), ("x",), ("x", "y")])
refs = st.sampled_from(["a", " A ", "u\u0308", "\u00dc"])
containers = st.sampled_from([None, "gmail:1", "GMAIL:1"])
sources = st.sampled_from([{}, {"mailbox": "desk"}])
keys = st.sampled_from([None, "k", "K"])
drafts = st.builds(TaskDraft, refs, titles, bodies, projects, labels, container_ref=containers, source=sources)
news = st.builds(
    NewTask, titles, bodies, projects, st.none() | numbers, labels, container_ref=containers, source=sources
)
changes = st.builds(TaskChange, st.none() | titles, st.none() | bodies, st.none() | st.sampled_from(TaskStatus))
filters = st.builds(
    TaskFilter,
    statuses=st.sampled_from([(), (TaskStatus.OPEN,), (TaskStatus.DONE, TaskStatus.BLOCKED)]),
    labels=labels,
    container_ref=containers,
    mailbox=st.sampled_from([None, "desk", "none"]),
    text=st.sampled_from([None, "o", "TWO", "%", "_", "none"]),
    include_deleted=st.booleans(),
)
_tenants = itertools.count(1)


class StoreMachine(RuleBasedStateMachine):
    """The store and its model, side by side, for a tenant of their own."""

    def __init__(self, database: Database) -> None:
        super().__init__()
        slug = f"tenant-{next(_tenants)}"
        ensure_tenant(database, slug, ["inbox"])
        self.tenant = database.for_tenant(slug)
        self.store = TaskStore(database, tenant=slug)
        self.model = StoreModel()
        self.seen: dict[int, Task] = {}
        """Each task's row as the store told it when it last changed."""

    # --- what creates

    @initialize(several=st.lists(drafts, min_size=2, max_size=2, unique_by=lambda draft: draft.external_ref))
    def begin(self, several: list[TaskDraft]) -> None:
        """Most of a walk is spent among tasks that are there."""
        self.upsert_several([replace(draft, project=None) for draft in several])

    @rule(draft=drafts)
    def upsert(self, draft: TaskDraft) -> None:
        self.agree_on_upserts(lambda: [self.store.upsert_task(draft, actor="ann")], lambda: [self.model.upsert(draft)])

    @rule(several=st.lists(drafts, max_size=4))
    def upsert_several(self, several: list[TaskDraft]) -> None:
        self.agree_on_upserts(
            lambda: list(self.store.upsert_tasks(several, actor="ann")), lambda: self.model.upsert_all(several)
        )

    @rule(new=news, key=keys)
    def create(self, new: NewTask, key: str | None) -> None:
        self.agree_on_upserts(
            lambda: [self.store.create_task(new, actor="ann", idempotency_key=key)],
            lambda: [self.model.create(new, key)],
        )

    def agree_on_upserts(self, ask: Callable[[], list[Upserted]], expect: Callable[[], list[tuple[int, bool]]]) -> None:
        answers, expected = both(ask, expect)
        if answers is None or expected is None:
            return
        assert [(one.number, one.outcome is UpsertOutcome.CREATED) for one in answers] == expected
        for number in {number for number, created in expected if created}:
            self.seen[number] = self.store.find_task(number)
            assert self.model.tasks[number].is_told_by(self.seen[number])
        for one in answers:
            assert (one.task_id, one.status) == (self.seen[one.number].task_id, self.seen[one.number].status)

    # --- the steps of a task's life

    @rule(number=numbers, change=changes)
    def update(self, number: int, change: TaskChange) -> None:
        self.agree_on_step(
            number,
            lambda: self.store.update_task(number, change, actor="ann"),
            lambda: self.model.update(number, change),
        )

    @rule(number=numbers)
    def finish(self, number: int) -> None:
        self.agree_on_step(
            number,
            lambda: self.store.finish_task(number, actor="ann"),
            lambda: self.model.update(number, TaskChange(status=TaskStatus.DONE), "finished"),
        )

    @rule(number=numbers)
    def cancel(self, number: int) -> None:
        self.agree_on_step(
            number,
            lambda: self.store.cancel_task(number, actor="ann"),
            lambda: self.model.update(number, TaskChange(status=TaskStatus.CANCELLED), "cancelled"),
        )

    @rule(number=numbers)
    def delete(self, number: int) -> None:
        self.agree_on_step(
            number, lambda: self.store.delete_task(number, actor="ann"), lambda: self.model.delete(number)
        )

    @rule(ref=refs)
    def delete_whoever_holds(self, ref: str) -> None:
        holder = self.model.find_by_ref(ref)
        if holder is not None:
            self.delete(holder)

    @rule(number=numbers)
    def restore(self, number: int) -> None:
        self.agree_on_step(
            number, lambda: self.store.restore_task(number, actor="ann"), lambda: self.model.restore(number)
        )

    def agree_on_step(self, number: int, ask: Callable[[], Task], expect: Callable[[], None]) -> None:
        before = self.model.tasks.get(number)
        answer, _ = both(ask, expect)
        if answer is None:
            return
        after, seen = self.model.tasks[number], self.seen[number]
        assert after.is_told_by(answer)
        if after == before:
            assert answer == seen
        else:
            assert (answer.task_id, answer.number, answer.created_at) == (seen.task_id, number, seen.created_at)
            assert answer.updated_at > seen.updated_at
        self.seen[number] = answer

    # --- what only reads

    @rule(number=numbers)
    def find(self, number: int) -> None:
        assert found_by(lambda: self.store.find_task(number)) == self.seen.get(number)

    @rule(ref=refs)
    def find_by_ref(self, ref: str) -> None:
        live, dead = self.model.find_by_ref(ref), self.model.find_by_ref(ref, deleted=True)
        assert found_by(lambda: self.store.find_task_by_ref(ref)) == self.seen.get(live or 0)
        assert found_by(lambda: self.store.find_task_or_tombstone(ref)) == self.seen.get(live or dead or 0)

    @rule(wanted=filters, page=st.integers(1, 4))
    def list_by_pages(self, wanted: TaskFilter, page: int) -> None:
        expected = [self.seen[number] for number in sorted(self.seen, reverse=True) if self.model.fits(number, wanted)]
        found: list[Task] = []
        while more := self.store.list_tasks(wanted, before_number=found[-1].number if found else None, limit=page):
            assert len(more) <= page
            assert not found or more[0].number < found[-1].number
            found += more
        assert found == expected
        assert self.store.count_tasks(wanted) == len(expected)

    @precondition(lambda self: self.seen)
    @rule(number=numbers)
    def list_since(self, number: int) -> None:
        since = self.seen[min(number, len(self.seen))].created_at
        wanted = TaskFilter(since=since, include_deleted=True)
        expected = [task for task in reversed(self.seen.values()) if task.created_at >= since]
        assert {task.number for task in self.store.list_tasks(wanted, limit=1000)} == {task.number for task in expected}

    # --- time

    @rule(hours=st.sampled_from([1, 71, 72]))
    def pass_time(self, hours: int) -> None:
        time = timedelta(hours=hours)
        self.tenant.rows(b"update idempotency_keys set created_at = created_at - %(time)s returning 1", {"time": time})
        self.model.pass_time(time)

    @rule()
    def purge_keys(self) -> None:
        row = self.tenant.row(b"select idempotency_key_purge() as purged", {})
        assert row == {"purged": self.model.purge_keys()}

    # --- what is left behind

    @invariant()
    def nothing_else_is_left(self) -> None:
        row = self.tenant.row(
            b"""
            select (select array_agg(number order by number) from tasks) as numbers,
                   (select next_number from task_counters) as next_number,
                   (select count(*) from task_activity) as activities,
                   (select count(*) from notifications) as notifications,
                   (select count(*) from idempotency_keys) as keys
            """,
            {},
        )
        created = len(self.model.tasks)
        assert row == {
            "numbers": list(range(1, created + 1)) or None,
            "next_number": created + 1,
            "activities": sum(len(kinds) for kinds in self.model.activity.values()),
            "notifications": created,
            "keys": len(self.model.keys),
        }

    def teardown(self) -> None:
        for number, kinds in self.model.activity.items():
            assert [one.kind for one in self.store.list_activity(self.seen[number].task_id)] == kinds
            assert self.store.find_task(number) == self.seen[number]


def outcome_of(call: Callable[[], T]) -> tuple[T | None, type[InboxLoopError] | None, int | None]:
    """What it answers; or which error it raises, and the number of the task it names as the one in the way."""
    try:
        return call(), None, None
    except TaskConflict as conflict:
        return None, type(conflict), conflict.task_number
    except InboxLoopError as error:
        return None, type(error), None


def both(ask: Callable[[], T], expect: Callable[[], U]) -> tuple[T | None, U | None]:
    """What the store answers, and the model. Where one refuses, the other one does so in the same way."""
    (answer, *refusal), (expected, *expected_refusal) = outcome_of(ask), outcome_of(expect)
    assert refusal == expected_refusal
    return answer, expected


def found_by(call: Callable[[], Task]) -> Task | None:
    answer, refusal, _ = outcome_of(call)
    assert refusal in {None, NoSuchTask}
    return answer


@pytest.mark.timeout(400)  # of which a failure takes up to 300 to be made short
def test_the_store_agrees_with_its_model(database: Database) -> None:
    """The same walks in every run: a new one is found by asking for more of them."""

    class Machine(StoreMachine):
        """In this test's database."""

        def __init__(self) -> None:
            super().__init__(database)

    bounds = settings(max_examples=50, stateful_step_count=40, derandomize=True, deadline=None, database=None)
    run_state_machine_as_test(Machine, settings=bounds)
