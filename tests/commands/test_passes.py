"""``poll``, ``backfill`` and ``reconcile`` as a user runs them: reports, exit codes, and two at once."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.desk import ADDRESS, many_parts, plain_mail

from inbox_loop.errors import EXIT_FINE, EXIT_LOOK, EXIT_PERSON, EXIT_UNREACHABLE, EXIT_USAGE
from inbox_loop.message.read import MAX_PARTS
from inbox_loop.simulator.faults import Fault
from inbox_loop.simulator.server import Simulator

RunCommand = Callable[..., subprocess.CompletedProcess[str]]

REPORT = ["mailbox", "discovered", "created", "found", "skipped", "quarantined", "gone", "pending", "api_calls"]
REPORT += ["quota_units", "duration_ms", "cursor"]


@pytest.fixture
def run(run_inside: RunCommand, variables: dict[str, str]) -> RunCommand:
    """Runs a command with the settings of ``variables``."""

    def with_settings(*arguments: str, **changed: str) -> subprocess.CompletedProcess[str]:
        return run_inside(*arguments, **(variables | changed))

    return with_settings


def reports_of(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def deliver(simulator: Simulator, *subjects: str) -> None:
    for subject in subjects:
        simulator.account(ADDRESS).deliver(plain_mail(subject))


def test_a_poll_prints_a_report_with_the_documented_fields(run: RunCommand, simulator: Simulator) -> None:
    assert run("poll").returncode == EXIT_FINE
    deliver(simulator, "One", "Two")
    done = run("poll", "--json")
    (report,) = reports_of(done)
    assert done.returncode == EXIT_FINE
    assert list(report)[: len(REPORT)] == REPORT
    assert (report["mailbox"], report["discovered"], report["created"], report["pending"]) == ("desk", 2, 2, 0)
    events = [json.loads(line)["event"] for line in done.stderr.splitlines()]
    assert events == ["task.created", "task.created", "poll.finished"]


def test_two_polls_at_once_make_one_task_of_each_message(
    run_command: RunCommand, variables: dict[str, str], simulator: Simulator
) -> None:
    run_command("poll", **variables)
    deliver(simulator, *(f"Ask {number}" for number in range(20)))
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: run_command("poll", "--json", **variables), range(2)))
    assert [done.returncode for done in both] == [EXIT_FINE, EXIT_FINE]
    assert sum(int(str(reports_of(done)[0]["created"])) for done in both) == 20
    listed = reports_of(run_command("tasks", "list", "--limit", "100", "--json", **variables))
    assert sorted(int(str(task["number"])) for task in listed) == list(range(1, 21))
    assert len({task["external_ref"] for task in listed}) == 20


def test_a_backfill_can_be_tried_dry_run_and_repeated(run: RunCommand, simulator: Simulator) -> None:
    deliver(simulator, "One", "Two", "Three")
    (preview,) = reports_of(run("backfill", "--dry-run", "--json"))
    assert preview == {"mailbox": "desk", "listed": 3, "known": 0, "unknown": 3}
    assert reports_of(run("tasks", "list", "--json")) == []
    (first,) = reports_of(run("backfill", "--json"))
    (second,) = reports_of(run("backfill", "--json"))
    assert (first["created"], first["complete"]) == (3, True)
    assert (second["created"], second["discovered"], second["quota_units"]) == (0, 0, 5)


def test_a_backfill_takes_dates_in_utc_whatever_the_time_zone(run: RunCommand, simulator: Simulator) -> None:
    raw = plain_mail("Midnight").replace(b"Subject", b"X-Was: 1\nSubject")
    simulator.account(ADDRESS).deliver(raw)
    for zone in ("UTC", "America/Los_Angeles", "Asia/Tokyo"):
        (preview,) = reports_of(run("backfill", "--dry-run", "--json", "--after", "2026-01-01", TZ=zone))
        assert preview["listed"] == 1
    done = run("backfill", "--after", "yesterday")
    assert done.returncode == EXIT_USAGE
    assert "--after: 'yesterday' is no date" in done.stderr


@pytest.mark.parametrize(
    ("dates", "words"),
    [
        (["--after", "0001-01-01T00:00+14:00"], "--after: '0001-01-01T00:00+14:00' is not in the years 1970 to 9998"),
        (["--after", "1970-01-01T00:00+01:00"], "--after: '1970-01-01T00:00+01:00' is not in the years"),
        (["--before", "9999-12-31T23:59-14:00"], "--before: '9999-12-31T23:59-14:00' is not in the years"),
        (["--before", "9999-01-01"], "--before: '9999-01-01' is not in the years"),
        (["--after", "2026-11-30", "--before", "2026-11-29"], "--after is later than --before"),
        (["--after", "2026-11-30T00:00+01:00", "--before", "2026-11-29T22:59Z"], "--after is later than --before"),
    ],
)
def test_dates_that_name_no_time_at_all_are_a_usage_error(run: RunCommand, dates: list[str], words: str) -> None:
    done = run("backfill", *dates)
    assert (done.returncode, done.stdout) == (EXIT_USAGE, "")
    assert done.stderr.startswith(f"inbox-loop: {words}")


@pytest.mark.parametrize("dates", [["--after", "1970-01-01"], ["--before", "9998-12-31T23:59:59.5"]])
def test_the_first_and_the_last_moment_there_are_hold_everything(
    run: RunCommand, simulator: Simulator, dates: list[str]
) -> None:
    deliver(simulator, "One")
    for zone in ("America/Los_Angeles", "Asia/Tokyo"):
        done = run("backfill", "--json", *dates, PGTZ=zone)
        assert done.returncode == EXIT_FINE, done.stderr
    assert len(reports_of(run("tasks", "list", "--json"))) == 1


def test_a_reconcile_prints_what_it_compared(run: RunCommand, simulator: Simulator) -> None:
    run("poll")
    deliver(simulator, "One")
    run("poll")
    (report,) = reports_of(run("reconcile", "--json"))
    assert (report["listed"], report["known"], report["discovered"]) == (1, 1, 0)


def test_on_a_terminal_or_not_a_report_is_a_table(run: RunCommand, simulator: Simulator) -> None:
    run("poll")
    deliver(simulator, "One")
    table = run("poll").stdout.splitlines()
    assert table[0].split()[:3] == ["MAILBOX", "DISCOVERED", "CREATED"]
    assert table[1].split()[:3] == ["desk", "1", "1"]


def test_a_missing_sign_in_needs_a_person_and_says_which_command(run: RunCommand, token_file: Path) -> None:
    token_file.unlink()
    done = run("poll")
    assert done.returncode == EXIT_PERSON
    assert "inbox-loop auth login --mailbox desk" in done.stderr


def test_a_sign_in_readable_by_others_is_refused(run: RunCommand, token_file: Path) -> None:
    token_file.chmod(0o644)
    done = run("poll")
    assert done.returncode == EXIT_PERSON
    assert "chmod 600" in done.stderr


def test_a_revoked_sign_in_needs_a_person(run: RunCommand, simulator: Simulator) -> None:
    simulator.revoke(ADDRESS)
    done = run("poll", "--json")
    assert done.returncode == EXIT_PERSON
    (failure,) = reports_of(done)
    assert (failure["mailbox"], failure["error"]) == ("desk", "mailbox.needs_auth")


def test_gmail_unreachable_is_told_in_one_line(run: RunCommand, simulator: Simulator) -> None:
    deliver(simulator, "One")
    simulator.faults.add(Fault("token", status=503, times=None))
    done = run("poll", INBOX_LOOP_POLL__DEADLINE_SECONDS="1")
    assert done.returncode == EXIT_UNREACHABLE
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("inbox-loop: ")]
    assert line.startswith("inbox-loop: mailbox desk: ")


def test_one_mailboxs_trouble_leaves_the_others_their_poll(
    run: RunCommand, variables: dict[str, str], simulator: Simulator, tmp_path: Path
) -> None:
    (desk,) = json.loads(variables["INBOX_LOOP_MAILBOXES"])
    both = [{"name": "broken", "token_file": str(tmp_path / "none.json")}, desk]
    deliver(simulator, "One")
    done = run("backfill", "--json", INBOX_LOOP_MAILBOXES=json.dumps(both))
    broken, good = reports_of(done)
    assert (broken["mailbox"], broken["error"]) == ("broken", "mailbox.needs_auth")
    assert (good["mailbox"], good["created"]) == ("desk", 1)
    assert done.returncode == EXIT_PERSON


def test_a_quarantined_message_asks_for_a_look(run: RunCommand, simulator: Simulator) -> None:
    simulator.account(ADDRESS).deliver(many_parts("Too many", MAX_PARTS + 1))
    deliver(simulator, "Ordinary")
    done = run("backfill", "--json")
    (report,) = reports_of(done)
    assert (report["created"], report["quarantined"]) == (1, 1)
    assert done.returncode == EXIT_LOOK


@pytest.mark.parametrize("command", ["poll", "backfill", "reconcile"])
def test_an_unknown_mailbox_is_a_usage_error(run: RunCommand, command: str) -> None:
    done = run(command, "--mailbox", "dest")
    assert done.returncode == EXIT_USAGE
    assert "Did you mean desk?" in done.stderr


def test_no_mailbox_at_all_is_a_usage_error(run: RunCommand) -> None:
    done = run("poll", INBOX_LOOP_MAILBOXES="[]")
    assert done.returncode == EXIT_USAGE
    assert "[[mailboxes]]" in done.stderr
