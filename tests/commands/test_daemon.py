"""``inbox-loop run``: it polls until told to stop, ends within seconds, and heals by itself."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.desk import ADDRESS, plain_mail
from support.running import Running
from support.waiting import wait_until

from inbox_loop.repository.database import Database
from inbox_loop.repository.health import list_mailbox_health
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.simulator.faults import Fault
from inbox_loop.simulator.server import Simulator

StartCommand = Callable[..., Running]

QUICK = {"INBOX_LOOP_POLL__INTERVAL_SECONDS": "1", "INBOX_LOOP_POLL__JITTER_SECONDS": "0"}
# "Within seconds", with room for a busy machine.
END_WITHIN_SECONDS = 10


def test_mail_becomes_tasks_while_it_runs_and_sigterm_ends_it_with_0(
    start_command: StartCommand, variables: dict[str, str], simulator: Simulator, database_url: str
) -> None:
    daemon = start_command("run", **variables, **QUICK)
    daemon.wait_for("poll.finished")
    simulator.account(ADDRESS).deliver(plain_mail("While it runs"))
    daemon.wait_for("task.created")
    daemon.process.send_signal(signal.SIGTERM)
    assert daemon.end() == 0
    names = [event["event"] for event in daemon.events]
    assert names[:2] == ["daemon.started", "daemon.ready"]
    assert "daemon.stopping" in names
    assert names[-1] == "daemon.stopped"
    with Database(database_url) as database:
        (task,) = TaskStore(database, tenant="default").list_tasks()
    assert task.title == "While it runs"


def test_it_tells_the_database_how_its_mailboxes_are(
    start_command: StartCommand, variables: dict[str, str], database_url: str
) -> None:
    daemon = start_command("run", **variables, **QUICK)
    daemon.wait_for("poll.finished")
    daemon.process.send_signal(signal.SIGINT)
    assert daemon.end() == 0
    with Database(database_url) as database:
        (health,) = list_mailbox_health(database, "default")
    assert (health.name, health.last_error) == ("desk", None)
    assert health.beat_at is not None
    assert health.last_good_poll_at is not None


def test_a_gmail_that_hangs_does_not_hold_up_the_end(
    start_command: StartCommand, variables: dict[str, str], simulator: Simulator
) -> None:
    daemon = start_command("run", **variables, **QUICK)
    daemon.wait_for("poll.finished")
    calls = len(simulator.calls)
    simulator.faults.add(Fault("history.list", kind="hang", times=None))
    wait_until(lambda: len(simulator.calls) > calls)
    asked = time.monotonic()
    daemon.process.send_signal(signal.SIGTERM)
    assert daemon.end() == 0
    assert time.monotonic() - asked < END_WITHIN_SECONDS


def test_a_sign_in_that_comes_later_is_picked_up_without_a_restart(
    start_command: StartCommand, variables: dict[str, str], simulator: Simulator, token_file: Path
) -> None:
    token_file.rename(token_file.with_suffix(".away"))
    daemon = start_command("run", **variables, **QUICK)
    told = daemon.wait_for("mailbox.needs_auth")
    assert told["mailbox"] == "desk"
    assert "auth login" in str(told["hint"])
    token_file.with_suffix(".away").rename(token_file)
    daemon.wait_for("mailbox.recovered")
    simulator.account(ADDRESS).deliver(plain_mail("Afterwards"))
    daemon.wait_for("task.created")
    assert [event["event"] for event in daemon.events].count("mailbox.needs_auth") == 1


def test_sighup_reads_the_configuration_again_and_keeps_the_old_one_when_the_new_has_mistakes(
    start_command: StartCommand, variables: dict[str, str], tmp_path: Path
) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[poll]\ninterval_seconds = 1\n\n[log]\nlevel = "info"\n', encoding="utf-8")
    daemon = start_command("run", "--config", str(config), **variables)
    daemon.wait_for("poll.finished")
    config.write_text("[poll]\ninterval_seconds = 0\nintervall = 3\n", encoding="utf-8")
    daemon.process.send_signal(signal.SIGHUP)
    problems = str(daemon.wait_for("config.invalid")["problems"])
    assert "poll.interval_seconds" in problems
    assert "poll.intervall" in problems
    config.write_text("[poll]\ninterval_seconds = 2\n", encoding="utf-8")
    daemon.process.send_signal(signal.SIGHUP)
    daemon.wait_for("daemon.ready", count=2)
    daemon.wait_for("poll.finished", count=2)
    daemon.process.send_signal(signal.SIGTERM)
    assert daemon.end() == 0


@pytest.fixture
def useless_urls(empty_database_url: str) -> dict[str, str]:
    """Databases that a daemon can't run with: one that nobody serves, and one without a schema."""
    return {"unreachable": "postgresql://user@127.0.0.1:1/inbox", "outdated": empty_database_url}


@pytest.mark.parametrize("kind", ["unreachable", "outdated"])
def test_a_database_that_can_not_be_used_is_found_out_before_the_old_one_is_given_up(
    *,
    start_command: StartCommand,
    variables: dict[str, str],
    simulator: Simulator,
    tmp_path: Path,
    useless_urls: dict[str, str],
    kind: str,
) -> None:
    config = tmp_path / "config.toml"
    good_url = json.dumps(variables.pop("INBOX_LOOP_DATABASE__URL"))
    config.write_text(f"[database]\nurl = {good_url}\n", encoding="utf-8")
    daemon = start_command("run", "--config", str(config), **variables, **QUICK)
    daemon.wait_for("poll.finished")
    config.write_text(f'[database]\nurl = {json.dumps(useless_urls[kind])}\n[log]\nlevel = "error"\n', encoding="utf-8")
    daemon.process.send_signal(signal.SIGHUP)
    assert daemon.wait_for("config.invalid")["hint"]
    simulator.account(ADDRESS).deliver(plain_mail("On the earlier database"))
    daemon.wait_for("task.created")  # an info line: the log is as it was as well
    config.write_text(f"[database]\nurl = {good_url}\n", encoding="utf-8")
    daemon.process.send_signal(signal.SIGHUP)
    daemon.wait_for("daemon.reloaded")
    daemon.process.send_signal(signal.SIGTERM)
    assert daemon.end() == 0


def test_one_mailboxs_trouble_does_not_delay_another(
    start_command: StartCommand, variables: dict[str, str], simulator: Simulator, tmp_path: Path
) -> None:
    stuck = simulator.token_file("stuck@example.com", tmp_path / "stuck.json")
    simulator.faults.add(Fault("*", kind="hang", times=None, address="stuck@example.com"))
    mailboxes = [*json.loads(variables["INBOX_LOOP_MAILBOXES"]), {"name": "stuck", "token_file": str(stuck)}]
    daemon = start_command("run", **(variables | QUICK | {"INBOX_LOOP_MAILBOXES": json.dumps(mailboxes)}))
    daemon.wait_for("poll.finished")
    simulator.account(ADDRESS).deliver(plain_mail("Not delayed"))
    assert daemon.wait_for("task.created")["mailbox"] == "desk"
