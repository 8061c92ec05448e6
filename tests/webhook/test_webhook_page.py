"""The page for those who write a receiver: the receiver on it is run, and takes what is posted and nothing else."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from support.receiver import SECRET
from support.waiting import wait_until

from inbox_loop.commands.outbox_status import LATE_AFTER
from inbox_loop.loop.outbox import FIRST_WAIT, LONGEST_WAIT, SIDE_BY_SIDE
from inbox_loop.loop.outbox_ports import Answer, Delivery, TaskInBrief, Trouble
from inbox_loop.repository.outbox import CHANNEL
from inbox_loop.settings import OutboxSettings
from inbox_loop.task import TaskStatus
from inbox_loop.webhook.payload import render_payload
from inbox_loop.webhook.sender import Sender

PAGE = (Path(__file__).parents[2] / "docs" / "webhook.md").read_text(encoding="utf-8")
WORDS = {6: "six", 8: "eight"}
DELIVERY = Delivery(
    tenant_id=UUID(int=1),
    notification_id=1,
    event_id=UUID(int=2),
    topic="task.created",
    created_at=datetime(2026, 11, 30, tzinfo=UTC),
    tenant="default",
    attempts=1,
    claimed_until=datetime(2026, 11, 30, 14, tzinfo=UTC),
    task=TaskInBrief(
        UUID(int=3), 12, None, "Grüße", TaskStatus.OPEN, (), None, None, datetime(2026, 11, 30, tzinfo=UTC)
    ),
)


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def program(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The receiver of the page as a process, and its URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    file = tmp_path / "receiver.py"
    file.write_text(block("python"), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, str(file)],
        env={"PATH": os.environ["PATH"], "WEBHOOK_SECRET": SECRET, "PORT": str(port), "PYTHONIOENCODING": "utf-8"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )

    def listens() -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
        return False

    try:
        wait_until(listens)
        yield process, f"http://127.0.0.1:{port}/"
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def sender_to(url: str, secret: str = SECRET) -> Sender:
    return Sender(url, secret, timeout_seconds=5, stop=threading.Event())


def test_the_receiver_on_the_page_takes_each_post_once_and_no_forged_or_old_one(
    program: tuple[subprocess.Popen[str], str],
) -> None:
    process, url = program
    now = datetime.now(UTC)
    forger = sender_to(url, "whsec_" + "A" * 32)
    assert forger.send(DELIVERY, now) == Answer(400)
    assert sender_to(url).send(DELIVERY, now - timedelta(hours=1)) == Answer(400)
    for _ in range(2):
        assert sender_to(url).send(DELIVERY, now) == Answer(204)
    another = replace(DELIVERY, event_id=UUID(int=4), task=replace(DELIVERY.task, title="Another"))
    assert sender_to(url).send(another, now) == Answer(204)
    process.kill()
    assert process.stdout is not None
    assert process.stdout.read().splitlines() == ["new task: Grüße", "new task: Another"]


def test_the_document_on_the_page_has_the_fields_that_are_posted_in_their_order() -> None:
    shown, posted = json.loads(block("json")), json.loads(render_payload(DELIVERY))
    assert list(shown) == list(posted)
    assert list(shown["task"]) == list(posted["task"])
    assert len(posted["task"]) == len(fields(TaskInBrief))


def test_the_page_names_every_error_and_the_numbers_are_those_of_the_code() -> None:
    for trouble in Trouble:
        assert f"`{trouble.value}`" in PAGE
    defaults = OutboxSettings()
    assert f"`outbox.webhook_timeout_seconds` ({defaults.webhook_timeout_seconds:.0f})" in PAGE
    assert f"`outbox.webhook_attempts` ({defaults.webhook_attempts}, " in PAGE
    assert f"after {FIRST_WAIT.seconds} seconds" in PAGE
    assert f"{WORDS[LONGEST_WAIT // timedelta(hours=1)]} hours" in PAGE
    assert f"{WORDS[SIDE_BY_SIDE].capitalize()} posts" in PAGE
    assert f"more than {LATE_AFTER // timedelta(minutes=1)} minutes" in PAGE
    assert f"`{CHANNEL}`" in PAGE
