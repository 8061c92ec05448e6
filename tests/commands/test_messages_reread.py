"""``messages retry``, ``make-task`` and ``explain --full`` as a user runs them, against simulator and Postgres."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.desk import ADDRESS, plain_mail
from support.records import RunCommand, record_of, records_of

from inbox_loop.errors import EXIT_FINE, EXIT_LOOK, EXIT_PERSON, EXIT_USAGE
from inbox_loop.simulator.faults import Fault
from inbox_loop.simulator.server import Simulator
from inbox_loop.simulator.store import Delivered

LIST_MAIL = plain_mail("Weekly news").replace(b"Subject:", b"List-Id: <news.example.org>\nSubject:", 1)
ANSWER = "Yes, send two.\n\nOn Mon, 23 Nov 2026 at 08:30, Ann Lee <ann@example.org> wrote:\n> How many do you need?\n"


@pytest.fixture
def run(run_inside: RunCommand, variables: dict[str, str]) -> RunCommand:
    """Runs a command with the settings of ``variables``; the mailbox is touched once."""

    def with_settings(*arguments: str, **changed: str) -> subprocess.CompletedProcess[str]:
        return run_inside(*arguments, **(variables | changed))

    assert with_settings("poll").returncode == EXIT_FINE
    return with_settings


def deliver(simulator: Simulator, run: RunCommand, raw: bytes, **how: object) -> Delivered:
    """A message that has arrived and was polled."""
    delivered = simulator.account(ADDRESS).deliver(raw, **how)  # type: ignore[arg-type]  # passed on as they came
    run("poll")
    return delivered


def spoil(simulator: Simulator, *delivered: Delivered, status: int = 400) -> None:
    """From now on Gmail refuses to give these messages out."""
    for each in delivered:
        fault = Fault("messages.get", status=status, reason="badRequest", times=None, message_id=each.message_id)
        simulator.faults.add(fault)


def quarantine(simulator: Simulator, run: RunCommand, *subjects: str) -> list[Delivered]:
    """Messages that could not be read, and that nothing speaks against any more."""
    arrived = [simulator.account(ADDRESS).deliver(plain_mail(subject)) for subject in subjects]
    spoil(simulator, *arrived)
    run("poll")
    simulator.faults.clear()
    return arrived


def ref_of(delivered: Delivered) -> str:
    return f"gmail:{delivered.thread_id}#{delivered.message_id}"


# --- make-task -------------------------------------------------------------------------------------------------------


def test_a_skipped_message_becomes_a_task_and_asking_again_finds_it(run: RunCommand, simulator: Simulator) -> None:
    skipped = deliver(simulator, run, LIST_MAIL)
    made = run("messages", "make-task", ref_of(skipped), "--json")
    assert made.returncode == EXIT_FINE, made.stderr
    task = record_of(made)
    assert (task["outcome"], task["number"], task["title"]) == ("created", 1, "Weekly news")
    assert task["external_ref"] == ref_of(skipped)
    again = run("messages", "make-task", skipped.message_id)
    assert (again.returncode, again.stdout) == (EXIT_FINE, "Task 1 is found. It is open.\n")
    (row,) = records_of(run("messages", "list", "--json"))
    assert (row["state"], row["reason"], row["task_number"]) == ("task", None, 1)


def test_the_words_say_which_task_was_made(run: RunCommand, simulator: Simulator) -> None:
    skipped = deliver(simulator, run, LIST_MAIL)
    assert run("messages", "make-task", skipped.message_id).stdout == "Task 1 is created.\n"


def test_what_was_over_its_senders_cap_can_be_made_a_task(run: RunCommand, simulator: Simulator) -> None:
    capped = {"INBOX_LOOP_POLICY__MAX_PER_SENDER_PER_HOUR": "1"}
    for subject in ("One", "Two"):
        simulator.account(ADDRESS).deliver(plain_mail(subject))
    run("poll", **capped)
    (over,) = records_of(run("messages", "list", "--state", "skipped", "--json"))
    assert over["reason"] == "sender_cap"
    told = run("messages", "explain", str(over["message_id"])).stdout
    assert "its sender had enough tasks in that hour" in told
    assert f"inbox-loop messages make-task {over['message_id']}" in told
    assert record_of(run("messages", "make-task", str(over["message_id"]), "--json", **capped))["outcome"] == "created"


def test_a_task_made_by_a_person_stays_when_the_mail_is_read_again(run: RunCommand, simulator: Simulator) -> None:
    skipped = deliver(simulator, run, LIST_MAIL)
    run("messages", "make-task", skipped.message_id)
    simulator.account(ADDRESS).relabel(skipped.message_id, remove=["INBOX"])
    simulator.account(ADDRESS).relabel(skipped.message_id, add=["INBOX"])
    for command in ("poll", "backfill", "reconcile"):
        run(command)
    assert [task["number"] for task in records_of(run("tasks", "list", "--json"))] == [1]
    assert [row["state"] for row in records_of(run("messages", "list", "--json"))] == ["task"]


def test_two_who_ask_at_once_are_told_of_the_same_task(
    run: RunCommand, run_command: RunCommand, variables: dict[str, str], simulator: Simulator
) -> None:
    skipped = deliver(simulator, run, LIST_MAIL)
    with ThreadPoolExecutor(2) as pool:
        words = ("messages", "make-task", skipped.message_id, "--json")
        both = list(pool.map(lambda _: run_command(*words, **variables), range(2)))
    assert [done.returncode for done in both] == [EXIT_FINE, EXIT_FINE], [done.stderr for done in both]
    assert [record_of(done)["number"] for done in both] == [1, 1]
    assert len(records_of(run("tasks", "list", "--json"))) == 1


def test_a_deleted_task_comes_back_only_when_it_is_said(run: RunCommand, simulator: Simulator) -> None:
    delivered = deliver(simulator, run, plain_mail("Once"))
    run("tasks", "delete", "1")
    refused = run("messages", "make-task", delivered.message_id)
    assert (refused.returncode, refused.stdout) == (EXIT_USAGE, "")
    assert f"inbox-loop messages make-task --remint-deleted {delivered.message_id}" in refused.stderr
    assert records_of(run("tasks", "list", "--json")) == []
    made = record_of(run("messages", "make-task", "--remint-deleted", delivered.message_id, "--json"))
    assert (made["outcome"], made["number"]) == ("created", 2)


def test_a_task_deleted_while_the_ledger_knows_nothing_of_it_does_not_come_back_either(
    run: RunCommand, simulator: Simulator
) -> None:
    skipped = deliver(simulator, run, LIST_MAIL)
    run("tasks", "upsert", "--ref", ref_of(skipped), "--title", "By hand")
    run("tasks", "delete", "1")
    refused = run("messages", "make-task", skipped.message_id)
    assert refused.returncode == EXIT_USAGE
    assert "--remint-deleted" in refused.stderr
    assert records_of(run("tasks", "list", "--json")) == []


def test_a_message_that_can_not_be_read_makes_no_task_and_says_why(run: RunCommand, simulator: Simulator) -> None:
    skipped = deliver(simulator, run, LIST_MAIL)
    spoil(simulator, skipped)
    refused = run("messages", "make-task", skipped.message_id, "--json")
    assert refused.returncode == EXIT_LOOK
    failure = record_of(refused)
    assert failure["error"] == "message.no_task"
    assert "Gmail calls the request for it a bad one" in failure["message"]
    assert f"inbox-loop messages retry {skipped.message_id}" in failure["hint"]


def test_what_a_person_wants_holds_when_the_message_is_read_later(run: RunCommand, simulator: Simulator) -> None:
    skipped = deliver(simulator, run, LIST_MAIL)
    spoil(simulator, skipped, status=404)
    waiting = run("messages", "make-task", skipped.message_id)
    assert waiting.returncode == EXIT_LOOK
    assert "could not be read yet" in waiting.stderr
    simulator.faults.clear()
    run("poll")
    assert [task["title"] for task in records_of(run("tasks", "list", "--json"))] == ["Weekly news"]


def test_a_wish_that_met_an_unreadable_message_is_kept_for_the_retry(run: RunCommand, simulator: Simulator) -> None:
    skipped = deliver(simulator, run, LIST_MAIL)
    spoil(simulator, skipped)
    run("messages", "make-task", skipped.message_id)
    simulator.faults.clear()
    assert record_of(run("messages", "retry", skipped.message_id, "--json"))["state"] == "task"
    assert "a person wants a task of it" in run("messages", "explain", skipped.message_id).stdout


# --- retry -----------------------------------------------------------------------------------------------------------


def test_a_message_in_quarantine_that_can_be_read_now_becomes_a_task(run: RunCommand, simulator: Simulator) -> None:
    (delivered,) = quarantine(simulator, run, "Mended")
    done = run("messages", "retry", ref_of(delivered), "--json")
    assert done.returncode == EXIT_FINE, done.stderr
    row = record_of(done)
    assert (row["message_id"], row["state"], row["task_number"]) == (delivered.message_id, "task", 1)


def test_all_that_is_in_quarantine_is_retried_and_nothing_else(run: RunCommand, simulator: Simulator) -> None:
    deliver(simulator, run, LIST_MAIL)
    arrived = quarantine(simulator, run, "One", "Two", "Three")
    calls = len(simulator.calls)
    done = run("messages", "retry", "--all-quarantined", "--json")
    assert {row["message_id"] for row in records_of(done)} == {each.message_id for each in arrived}
    assert {row["state"] for row in records_of(done)} == {"task"}
    assert [call.method for call in simulator.calls[calls:]].count("messages.get") == 3
    empty = run("messages", "retry", "--all-quarantined", "--json")
    assert (empty.returncode, empty.stdout) == (EXIT_FINE, "")


def test_what_fails_again_is_in_quarantine_again_and_asks_for_a_look(run: RunCommand, simulator: Simulator) -> None:
    bad, good = quarantine(simulator, run, "Bad", "Good")
    spoil(simulator, bad)
    done = run("messages", "retry", bad.message_id, good.message_id)
    assert done.returncode == EXIT_LOOK
    lines = {line.split()[3]: line.split()[4:6] for line in done.stdout.splitlines()[1:]}
    assert lines == {bad.message_id: ["quarantined", "bad_request"], good.message_id: ["task", "-"]}


def test_a_message_that_waits_for_another_try_is_tried_now(run: RunCommand, simulator: Simulator) -> None:
    waits = simulator.account(ADDRESS).deliver(plain_mail("Waits"))
    spoil(simulator, waits, status=404)
    run("poll")
    (row,) = records_of(run("messages", "list", "--json"))
    assert (row["state"], row["reason"]) == ("pending", "not_found")
    simulator.faults.clear()
    assert record_of(run("messages", "retry", waits.message_id, "--json"))["state"] == "task"


@pytest.mark.parametrize(
    ("raw", "hint"), [(LIST_MAIL, "inbox-loop messages make-task"), (plain_mail("Ask"), "inbox-loop messages explain")]
)
def test_what_was_read_is_not_retried_and_the_hint_says_what_to_do(
    run: RunCommand, simulator: Simulator, raw: bytes, hint: str
) -> None:
    settled = deliver(simulator, run, raw)
    (bad,) = quarantine(simulator, run, "Bad")
    done = run("messages", "retry", bad.message_id, settled.message_id)
    assert (done.returncode, done.stdout) == (EXIT_USAGE, "")
    assert f"{hint} {settled.message_id}" in done.stderr
    states = {row["message_id"]: row["state"] for row in records_of(run("messages", "list", "--json"))}
    assert states[bad.message_id] == "quarantined", "refused as a whole"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["retry"], "no message is named"),
        (["retry", "18c9", "--all-quarantined"], "messages and --all-quarantined are both given"),
        (["retry", "18c9"], "no mailbox has seen a message 18c9"),
        (["make-task", "18c9"], "no mailbox has seen a message 18c9"),
        (["make-task", "gmail:18c9"], "is not of the form gmail:<threadId>#<messageId>"),
        (["retry", "18c9", "--mailbox", "dest"], "Did you mean desk?"),
    ],
)
def test_what_names_no_message_is_a_usage_error(run: RunCommand, arguments: list[str], words: str) -> None:
    done = run("messages", *arguments)
    assert (done.returncode, done.stdout) == (EXIT_USAGE, "")
    assert words in done.stderr


def test_a_sign_in_that_is_revoked_needs_a_person_and_the_message_stays_where_it_is(
    run: RunCommand, simulator: Simulator
) -> None:
    (bad,) = quarantine(simulator, run, "Bad")
    simulator.revoke(ADDRESS)
    done = run("messages", "retry", bad.message_id, "--json")
    row, failure = records_of(done)
    assert (done.returncode, failure["error"]) == (EXIT_PERSON, "mailbox.needs_auth")
    assert row["state"] in {"quarantined", "pending"}


def test_a_message_of_a_mailbox_that_is_no_longer_configured_is_left_alone(
    run: RunCommand, simulator: Simulator, variables: dict[str, str]
) -> None:
    (bad,) = quarantine(simulator, run, "Bad")
    (desk,) = json.loads(variables["INBOX_LOOP_MAILBOXES"])
    renamed = json.dumps([desk | {"name": "sales"}])
    done = run("messages", "retry", bad.message_id, INBOX_LOOP_MAILBOXES=renamed)
    assert done.returncode == EXIT_USAGE
    assert "no mailbox is called 'desk'" in done.stderr


def test_what_a_disabled_mailbox_has_in_quarantine_is_left_there(
    run: RunCommand, simulator: Simulator, variables: dict[str, str], tmp_path: Path
) -> None:
    quarantine(simulator, run, "Bad")
    (desk,) = json.loads(variables["INBOX_LOOP_MAILBOXES"])
    sales = {"name": "sales", "token_file": str(tmp_path / "none.json")}
    disabled = json.dumps([desk | {"enabled": False}, sales])
    done = run("messages", "retry", "--all-quarantined", "--json", INBOX_LOOP_MAILBOXES=disabled)
    assert (done.returncode, done.stdout) == (EXIT_FINE, "")
    named = run("messages", "retry", "--all-quarantined", "--mailbox", "desk", "--json", INBOX_LOOP_MAILBOXES=disabled)
    assert record_of(named)["state"] == "task"


# --- explain --full --------------------------------------------------------------------------------------------------


def test_all_of_the_text_is_shown_and_what_the_task_leaves_out_is_marked(run: RunCommand, simulator: Simulator) -> None:
    delivered = deliver(simulator, run, plain_mail("Re: Order 7", ANSWER))
    told = run("messages", "explain", delivered.message_id).stdout
    assert "a quote of" in told
    assert "How many" not in told, "the text is read only when it is asked for"
    lines = run("messages", "explain", "--full", delivered.message_id).stdout.splitlines()
    assert "  Yes, send two." in lines
    assert "| > How many do you need?" in lines
    full = record_of(run("messages", "explain", "--full", delivered.message_id, "--json"))["full"]
    assert full["unquoted"].strip() == "Yes, send two."
    assert "How many do you need?" in full["text"]
    assert full["subject"] == "Re: Order 7"


def test_a_text_can_not_act_on_the_terminal(run: RunCommand, simulator: Simulator) -> None:
    delivered = deliver(simulator, run, plain_mail("Ask", "Look\u202e here\n\n| > no quote\n"))
    shown = run("messages", "explain", "--full", delivered.message_id).stdout
    assert "\u202e" not in shown
    assert "  | > no quote" in shown.splitlines()


def test_a_message_that_gmail_no_longer_has_is_told(run: RunCommand, simulator: Simulator) -> None:
    delivered = deliver(simulator, run, plain_mail("Deleted"))
    simulator.account(ADDRESS).delete(delivered.message_id)
    done = run("messages", "explain", "--full", delivered.message_id)
    assert done.returncode == EXIT_LOOK
    assert "Traceback" not in done.stderr
