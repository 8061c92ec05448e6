"""Two at once: loops that overlap, and mail that changes while it is being read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from support.desk import Desk

from inbox_loop.loop.discover import discover_history
from inbox_loop.loop.ports import Fetched, GmailMailbox, HistoryPage, ListingPage, MessageId, Profile, Usage
from inbox_loop.simulator.faults import Fault
from inbox_loop.task import TaskDraft


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A Gmail side that lets something happen between the reading of a batch and its outcome, the first time."""

    gmail: GmailMailbox
    meanwhile: Callable[[], None]
    happened: threading.Event

    def within(self, seconds: float) -> AbstractContextManager[None]:
        return self.gmail.within(seconds)

    def find_sign_in(self) -> str:
        return self.gmail.find_sign_in()

    def find_profile(self) -> Profile:
        return self.gmail.find_profile()

    def list_history(self, start: int, page: str | None) -> HistoryPage:
        return self.gmail.list_history(start, page)

    def list_messages(self, query: str, page: str | None) -> ListingPage:
        return self.gmail.list_messages(query, page)

    def fetch_messages(self, wanted: Sequence[MessageId]) -> Iterator[Fetched]:
        fetched = list(self.gmail.fetch_messages(wanted))
        if not self.happened.is_set():
            self.happened.set()
            self.meanwhile()
        return iter(fetched)

    def usage(self) -> Usage:
        return self.gmail.usage()


def test_a_rescue_while_the_message_is_being_read_is_not_lost(desk: Desk) -> None:
    delivered = desk.deliver("Rescued meanwhile", labels=("SPAM",))

    def rescue_and_let_another_loop_see_it() -> None:
        desk.account.relabel(delivered.message_id, add=["INBOX"], remove=["SPAM"])
        discover_history(desk.mailbox, desk.row())

    gmail = Interrupted(desk.gmail, rescue_and_let_another_loop_see_it, threading.Event())
    report = replace(desk, mailbox=replace(desk.mailbox, gmail=gmail)).poll()
    assert (report.created, report.skipped, report.pending) == (1, 0, 0)
    assert desk.titles() == ["Rescued meanwhile"]


def test_a_task_made_meanwhile_by_someone_else_is_found(desk: Desk) -> None:
    delivered = desk.deliver("Contended")
    ref = f"gmail:{delivered.thread_id}#{delivered.message_id}"

    def make_it_by_hand() -> None:
        desk.tasks.upsert_task(TaskDraft(ref, "By hand"), actor="test")

    gmail = Interrupted(desk.gmail, make_it_by_hand, threading.Event())
    report = replace(desk, mailbox=replace(desk.mailbox, gmail=gmail)).poll()
    assert (report.created, report.found) == (0, 1)
    assert desk.titles() == ["By hand"]


def test_what_was_read_before_a_reopening_makes_no_task(desk: Desk) -> None:
    delivered = desk.deliver("Trashed meanwhile")

    def relabel_and_let_another_loop_see_it() -> None:
        desk.account.relabel(delivered.message_id, remove=["INBOX"])
        desk.account.relabel(delivered.message_id, add=["INBOX"])
        discover_history(desk.mailbox, desk.row())
        desk.account.relabel(delivered.message_id, add=["TRASH"], remove=["INBOX"])

    gmail = Interrupted(desk.gmail, relabel_and_let_another_loop_see_it, threading.Event())
    report = replace(desk, mailbox=replace(desk.mailbox, gmail=gmail)).poll()
    assert (report.created, report.skipped) == (0, 1)
    assert desk.titles() == []


def test_polls_and_backfills_at_once_make_one_task_of_each_message_and_read_it_once(
    open_desk: Callable[..., Desk],
) -> None:
    desks = [open_desk() for _ in range(4)]
    desks[0].poll()
    for number in range(30):
        desks[0].deliver(f"Ask {number}")
    desks[0].simulator.faults.add(Fault("messages.get", kind="delay", seconds=0.01, times=None))
    passes = [desks[0].poll, desks[1].poll, desks[2].backfill, desks[3].backfill]
    with ThreadPoolExecutor(len(passes)) as pool:
        reports = list(pool.map(lambda one_pass: one_pass(), passes))
    assert sum(report.created for report in reports) == 30
    tasks = desks[0].all_tasks()
    assert sorted(task.title for task in tasks) == sorted(f"Ask {number}" for number in range(30))
    assert [task.number for task in tasks] == list(range(1, 31))
    assert desks[0].methods().count("messages.get") == 30
