"""The corpus, end to end: through simulator, Google's client, loop and Postgres, as it would come in one night."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from email.policy import default
from pathlib import Path

import pytest
from fixtures.desk import make_mailbox
from support.corpus import OWN_ADDRESS, CorpusMail, describe, list_corpus, list_mail_of_python
from support.desk import ADDRESS, NAME, TENANT

from inbox_loop.draft import NO_SUBJECT
from inbox_loop.gmail.auth import Credentials
from inbox_loop.gmail.mailbox import GoogleMailbox
from inbox_loop.gmail.reading import read_in_place
from inbox_loop.loop.ledger import MessageState
from inbox_loop.loop.poll import poll_once
from inbox_loop.policy import Policy
from inbox_loop.repository.database import Database
from inbox_loop.repository.messages import LedgerRow, MessageReader
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.settings import GmailSettings
from inbox_loop.simulator.marks import read_marks
from inbox_loop.simulator.server import Simulator
from inbox_loop.task import Task

MAIL = list_corpus()
MAIL_OF_PYTHON = list_mail_of_python()
# A message a minute: what one sender may send in an hour is no part of this.
FIRST_ARRIVAL = datetime(2026, 11, 23, 8, tzinfo=UTC)
POLICY = Policy(own_addresses=frozenset({OWN_ADDRESS}), skip_bulk=True, skip_auto_replies=True)


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of all that was delivered."""

    ids: dict[Path, str]
    rows: list[LedgerRow]
    tasks: dict[int, Task]

    def row(self, path: Path) -> LedgerRow:
        """The one row of the message that came of this file."""
        (row,) = [row for row in self.rows if row.message_id == self.ids[path]]
        return row


@pytest.fixture(scope="module")
def settled(
    make_module_database: Callable[[str], str], template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Settled]:
    """The whole corpus and the mail of Python's own tests, delivered and polled for."""
    with Simulator() as simulator, Database(make_module_database(template)) as database:
        token_file = simulator.token_file(ADDRESS, tmp_path_factory.mktemp("corpus") / "token.json")
        settings = GmailSettings(api_endpoint=simulator.url, units_per_minute=10_000_000)
        credentials = Credentials(token_file, timeout_seconds=settings.timeout_seconds, mailbox=NAME)
        with closing(
            GoogleMailbox(NAME, credentials, settings, threading.Event(), read_download=read_in_place)
        ) as gmail:
            mailbox = replace(make_mailbox(database, gmail, deadline_seconds=120.0), policy=POLICY)
            poll_once(mailbox)
            ids = deliver(simulator)
            report = poll_once(mailbox)
        assert (report.discovered, report.pending) == (len(ids), 0)
        rows = MessageReader(database, tenant=TENANT).list_messages(mailbox=NAME, limit=10_000)
        tasks = TaskStore(database, tenant=TENANT).list_tasks(limit=10_000)
        yield Settled(ids, list(rows), {task.number: task for task in tasks})


def deliver(simulator: Simulator) -> dict[Path, str]:
    """Deliver every file; path -> message id."""
    ids: dict[Path, str] = {}
    for path in [*(mail.path for mail in MAIL), *MAIL_OF_PYTHON]:
        raw = path.read_bytes()
        labels = read_marks(raw).labels or ("INBOX", "UNREAD")
        arrival = FIRST_ARRIVAL + timedelta(minutes=len(ids))
        ids[path] = simulator.account(ADDRESS).deliver(raw, labels=labels, internal_date=arrival).message_id
    return ids


def outcome_of(row: LedgerRow) -> str:
    return row.state.value if row.reason is None else f"{row.state.value}, {row.reason}"


def describe_task(task: Task) -> str:
    attachments = task.source["attachments"]
    assert isinstance(attachments, list)
    return describe(
        outcome="task",
        title=task.title,
        sender=str(task.source["from"]),
        attachments=[f"{each['name']}, {each['mime_type']}, {each['size']} bytes" for each in attachments],
        body=task.body,
    )


def test_each_message_has_one_outcome_and_none_is_stuck(settled: Settled) -> None:
    assert sorted(row.message_id for row in settled.rows) == sorted(settled.ids.values())
    assert {row.state for row in settled.rows} == {MessageState.TASK, MessageState.SKIPPED}
    numbers = [row.task_number for row in settled.rows if row.state is MessageState.TASK]
    assert sorted(filter(None, numbers)) == sorted(settled.tasks)
    assert all(row.reason for row in settled.rows if row.state is MessageState.SKIPPED)


@pytest.mark.parametrize("mail", MAIL, ids=lambda mail: mail.name)
def test_each_message_becomes_what_is_expected(settled: Settled, mail: CorpusMail) -> None:
    row = settled.row(mail.path)
    outcome = mail.expected.partition("\n")[0].removeprefix("outcome: ")
    assert outcome_of(row) == outcome
    if row.task_number is not None:
        assert describe_task(settled.tasks[row.task_number]) == mail.expected


@pytest.mark.skipif(not MAIL_OF_PYTHON, reason="this Python came without its own tests")
def test_the_mail_of_pythons_own_tests_gets_the_titles_that_python_reads(settled: Settled) -> None:
    rows = {path: settled.row(path) for path in MAIL_OF_PYTHON}
    assert {row.state for row in rows.values()} == {MessageState.TASK, MessageState.SKIPPED}
    titles = {path: settled.tasks[row.task_number].title for path, row in rows.items() if row.task_number is not None}
    assert titles == {path: subject_as_python_reads_it(path) or NO_SUBJECT for path in titles}


def subject_as_python_reads_it(path: Path) -> str:
    subject = message_from_bytes(path.read_bytes(), policy=default)["Subject"]
    return " ".join(str(subject or "").split())
