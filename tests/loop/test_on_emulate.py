"""The whole loop on a Gmail stand-in that nobody here wrote: the same promises hold there."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pytest
from fixtures.desk import make_mailbox
from fixtures.emulate import Emulate
from fixtures.simulator import build_client
from support.desk import NAME, TENANT, plain_mail

from inbox_loop.gmail.auth import Credentials
from inbox_loop.gmail.mailbox import GoogleMailbox
from inbox_loop.gmail.reading import read_in_place
from inbox_loop.loop.backfill import BackfillRequest, backfill_once
from inbox_loop.loop.ledger import EVERY_DATE
from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.loop.poll import poll_once
from inbox_loop.loop.report import PassReport
from inbox_loop.repository.database import Database
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.settings import GmailSettings


@dataclass(frozen=True, slots=True)
class Stand:
    """The stand-in's mailbox from both sides: its own API to write with, and the loop's to read."""

    messages: Any
    mailbox: Mailbox
    tasks: TaskStore

    def insert(self, subject: str, *, labels: tuple[str, ...] = ("INBOX", "UNREAD"), thread_id: str = "") -> Any:  # noqa: ANN401 - Google's client is made at run time
        body: dict[str, Any] = {
            "raw": base64.urlsafe_b64encode(plain_mail(subject)).decode("ascii"),
            "labelIds": list(labels),
        }
        if thread_id:
            body["threadId"] = thread_id
        return self.messages.insert(userId="me", body=body).execute()

    def backfill(self) -> PassReport:
        return backfill_once(self.mailbox, BackfillRequest(EVERY_DATE), lambda _progress: None)

    def titles(self) -> list[str]:
        return sorted(task.title for task in self.tasks.list_tasks(limit=100))


@pytest.fixture
def stand(emulate: Emulate, database: Database) -> Iterator[Stand]:
    """The loop on the stand-in, untouched."""
    settings = GmailSettings(api_endpoint=emulate.url, units_per_minute=10_000_000)
    credentials = Credentials(emulate.token_file, timeout_seconds=10, mailbox=NAME)
    with (
        closing(GoogleMailbox(NAME, credentials, settings, threading.Event(), read_download=read_in_place)) as gmail,
        closing(build_client(emulate.url, emulate.token_file)) as client,
    ):
        tasks = TaskStore(database, tenant=TENANT)
        yield Stand(client.users().messages(), make_mailbox(database, gmail), tasks)


def test_the_past_and_the_present_become_tasks_once_each(stand: Stand) -> None:
    stand.insert("From before")
    first = stand.backfill()
    assert first.created == len(stand.titles())
    assert "From before" in stand.titles()
    stand.insert("New")
    stand.insert("Prize", labels=("SPAM",))
    assert poll_once(stand.mailbox).created == 1
    again, poll = stand.backfill(), poll_once(stand.mailbox)
    assert (again.created, again.found, poll.created) == (0, 0, 0)
    assert stand.titles().count("New") == 1


def test_a_second_ask_on_a_thread_and_a_rescue_get_their_own_tasks(stand: Stand) -> None:
    poll_once(stand.mailbox)
    first = stand.insert("Order 7")
    prize = stand.insert("Rescued", labels=("SPAM",))
    poll_once(stand.mailbox)
    (task,) = [task for task in stand.tasks.list_tasks(limit=100) if task.title == "Order 7"]
    stand.tasks.finish_task(task.number, actor="test", summary="Sent.")
    stand.insert("Re: Order 7", thread_id=first["threadId"])
    rescue = {"addLabelIds": ["INBOX"], "removeLabelIds": ["SPAM"]}
    stand.messages.modify(userId="me", id=prize["id"], body=rescue).execute()
    assert poll_once(stand.mailbox).created == 2
    assert {"Order 7", "Re: Order 7", "Rescued"} <= set(stand.titles())
    refs = {task.container_ref for task in stand.tasks.list_tasks(limit=100) if "Order 7" in task.title}
    assert len(refs) == 1
