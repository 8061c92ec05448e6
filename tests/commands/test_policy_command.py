"""``policy test`` as a user runs it: what it shows, what it leaves alone, and what it can't read."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support.desk import ADDRESS, many_parts, plain_mail

from inbox_loop.errors import EXIT_FINE, EXIT_LOOK, EXIT_USAGE
from inbox_loop.message.read import MAX_PARTS
from inbox_loop.repository.database import Database
from inbox_loop.simulator.server import Simulator

RunCommand = Callable[..., subprocess.CompletedProcess[str]]

RULES = """
[[policy.rules]]
name = "shop"
from = "@shop.example.org"
then = "task"
project = "orders"
labels = ["shop", "new"]
priority = "high"

[[policy.rules]]
name = "not-ours"
subject = "*lottery*"
then = "skip"
"""
KEYS = ["date", "message_id", "decision", "reason", "rule", "project", "labels", "priority", "title", "gmail_labels"]


@pytest.fixture
def config(tmp_path: Path) -> str:
    """A configuration file with two rules."""
    file = tmp_path / "rules.toml"
    file.write_text(RULES, encoding="utf-8")
    return str(file)


@pytest.fixture
def mail(tmp_path: Path) -> Path:
    """A folder of mail: one for each rule, and one that no rule fits."""
    folder = tmp_path / "mail"
    folder.mkdir()
    (folder / "1.eml").write_bytes(plain_mail("An order", sender="web@shop.example.org"))
    (folder / "2.eml").write_bytes(plain_mail("You won the Lottery"))
    (folder / "3.eml").write_bytes(plain_mail("An \x1b[31mask\u202e"))
    (folder / "4.eml").write_bytes(b"Auto-Submitted: auto-replied\n" + plain_mail("Away"))
    return folder


def records_of(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_mail_on_disk_is_tried_without_a_database_or_a_mailbox(run_inside: RunCommand, config: str, mail: Path) -> None:
    done = run_inside("policy", "test", "--mail", str(mail), "--config", config, "--json")
    assert done.returncode == EXIT_FINE
    records = records_of(done)
    assert all(list(record) == KEYS for record in records)
    shop, lottery, ask, away = records
    assert {key: shop[key] for key in KEYS[2:]} == {
        "decision": "task",
        "reason": None,
        "rule": "shop",
        "project": "orders",
        "labels": ["shop", "new"],
        "priority": "high",
        "title": "An order",
        "gmail_labels": ["INBOX", "UNREAD"],
    }
    assert (lottery["decision"], lottery["reason"], lottery["rule"]) == ("skip", "rule", "not-ours")
    assert (ask["decision"], ask["reason"], ask["rule"], ask["project"]) == ("task", None, None, None)
    assert (away["decision"], away["reason"], away["rule"]) == ("skip", "auto_reply", None)


def test_the_table_names_the_rule_or_the_reason_and_no_title_acts_on_the_terminal(
    run_inside: RunCommand, config: str, mail: Path
) -> None:
    done = run_inside("policy", "test", "--mail", str(mail), "--config", config)
    head, shop, lottery, ask, away = done.stdout.splitlines()
    assert head.split() == ["DATE", "DECISION", "WHY", "PROJECT", "LABELS", "PRIORITY", "TITLE"]
    assert shop.split()[2:] == ["task", "rule", "shop", "orders", "shop,", "new", "high", "An", "order"]
    assert "rule not-ours" in lottery
    assert "auto_reply" in away
    assert ask.isprintable()


def test_without_a_choice_the_only_mailbox_gives_the_project(run_inside: RunCommand, config: str, mail: Path) -> None:
    boxes = [{"name": "desk", "token_file": "/none.json", "project": "inbox"}]
    one = {"INBOX_LOOP_MAILBOXES": json.dumps(boxes)}
    arguments = ("policy", "test", "--mail", str(mail), "--config", config, "--json")
    assert [record["project"] for record in records_of(run_inside(*arguments, **one))] == [
        "orders",
        None,
        "inbox",
        None,
    ]
    boxes.append({"name": "other", "token_file": "/other.json", "project": "elsewhere"})
    two = {"INBOX_LOOP_MAILBOXES": json.dumps(boxes)}
    assert [record["project"] for record in records_of(run_inside(*arguments, **two))][2] is None
    named = records_of(run_inside(*arguments, "--mailbox", "other", **two))
    assert [record["project"] for record in named] == ["orders", None, "elsewhere", None]


def test_an_mbox_says_itself_which_labels_its_mail_has(run_inside: RunCommand, config: str, tmp_path: Path) -> None:
    mbox = tmp_path / "takeout.mbox"
    head = b"From x@example.org Mon Nov 23 08:00:00 +0000 2026\nX-Gmail-Labels: Spam\n"
    mbox.write_bytes(head + plain_mail("An order", sender="web@shop.example.org"))
    (record,) = records_of(run_inside("policy", "test", "--mail", str(mbox), "--config", config, "--json"))
    assert (record["decision"], record["reason"], record["rule"]) == ("skip", "spam", None)


def test_of_a_large_mail_only_the_headers_are_read(run_inside: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "big.eml").write_bytes(plain_mail("A large one", "x" * 70 + "\n") + b"y" * 1024 * 1024)
    config = tmp_path / "large.toml"
    config.write_text(
        "gmail.max_message_bytes = 1048576\n"
        '[[policy.rules]]\nname = "large"\nhas_attachment = true\nlarger_than = "1M"\nthen = "task"\n',
        encoding="utf-8",
    )
    done = run_inside("policy", "test", "--mail", str(tmp_path / "big.eml"), "--config", str(config), "--json")
    (record,) = records_of(done)
    assert (record["rule"], record["title"]) == ("large", "A large one")


def test_a_mail_that_can_not_be_read_is_a_line_and_not_the_end(run_inside: RunCommand, config: str, mail: Path) -> None:
    (mail / "0.eml").write_bytes(many_parts("Too many", MAX_PARTS + 1))
    done = run_inside("policy", "test", "--mail", str(mail), "--config", config, "--json")
    first, *others = records_of(done)
    assert done.returncode == EXIT_LOOK
    assert (first["decision"], first["reason"], first["title"]) == ("unreadable", "too_many_parts", None)
    assert first["date"] is not None
    assert len(others) == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "say which messages"),
        (("--mail", "x", "--last", "3"), "say which messages"),
        (("--last", "3"), "which mailbox is left open"),
        (("--last", "3", "--mailbox", "desk"), "no mailbox"),
        (("--last", "0"), "--last"),
        (("--last", "501"), "--last"),
        (("--mail", "nowhere"), "There is no nowhere"),
    ],
)
def test_what_is_asked_wrongly_is_said(run_inside: RunCommand, arguments: tuple[str, ...], words: str) -> None:
    done = run_inside("policy", "test", *arguments)
    assert done.returncode == EXIT_USAGE
    assert words in done.stderr
    assert done.stdout == ""


# --- from Gmail -----------------------------------------------------------------------------------------------------


def test_the_newest_messages_are_read_from_gmail_and_nothing_is_written(
    run_inside: RunCommand, config: str, simulator: Simulator, variables: dict[str, str], database: Database
) -> None:
    account = simulator.account(ADDRESS)
    for subject in ("Oldest", "Lottery", "An ask"):
        account.deliver(plain_mail(subject))
    newest = account.deliver(plain_mail("An order", sender="web@shop.example.org"))
    done = run_inside("policy", "test", "--last", "3", "--config", config, "--json", **variables)
    assert done.returncode == EXIT_FINE
    records = records_of(done)
    assert [(record["title"], record["decision"], record["rule"]) for record in records] == [
        ("An order", "task", "shop"),
        ("An ask", "task", None),
        ("Lottery", "skip", "not-ours"),
    ]
    assert records[0]["message_id"] == newest.message_id
    assert database.row(b"select count(*) as count from messages") == {"count": 0}
    assert database.row(b"select count(*) as count from projects") == {"count": 0}


def test_a_message_of_gmail_that_can_not_be_read_is_a_line_and_not_the_end(
    run_inside: RunCommand, simulator: Simulator, variables: dict[str, str]
) -> None:
    account = simulator.account(ADDRESS)
    account.deliver(plain_mail("An ask"))
    bad = account.deliver(many_parts("Too many", MAX_PARTS + 1))
    done = run_inside("policy", "test", "--last", "5", "--json", **variables)
    first, second = records_of(done)
    assert done.returncode == EXIT_LOOK
    assert (first["message_id"], first["decision"], first["reason"]) == (bad.message_id, "unreadable", "too_many_parts")
    assert (second["title"], second["decision"]) == ("An ask", "task")


def test_what_is_shown_is_what_a_poll_then_does(
    run_inside: RunCommand, config: str, simulator: Simulator, variables: dict[str, str]
) -> None:
    """The projects that rules name are made before the first message comes."""
    settings = variables | {"INBOX_LOOP_CONFIG": config}
    assert run_inside("poll", **settings).returncode == EXIT_FINE
    account = simulator.account(ADDRESS)
    account.deliver(plain_mail("An order", sender="web@shop.example.org"))
    account.deliver(plain_mail("Lottery"))
    tried = records_of(run_inside("policy", "test", "--last", "2", "--json", **settings))
    assert run_inside("poll", **settings).returncode == EXIT_FINE
    (task,) = records_of(run_inside("tasks", "list", "--json", **settings))
    assert (task["title"], task["project"], sorted(task["labels"])) == ("An order", "orders", ["new", "shop"])  # type: ignore[call-overload]
    source = task["source"]
    assert isinstance(source, dict)
    assert (source["rule"], source["priority"]) == ("shop", "high")
    rows = {row["message_id"]: row for row in records_of(run_inside("messages", "list", "--json", **settings))}
    for record in tried:
        row = rows[record["message_id"]]
        assert (row["rule"], row["reason"]) == (record["rule"], record["reason"])
