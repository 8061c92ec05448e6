"""Which rule wins over what, and what it says of the task."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime

import pytest
from fixtures.message import MESSAGE_ID, THREAD_ID, MakeMessage
from hypothesis import given
from hypothesis import strategies as st

from inbox_loop.globs import compile_address_glob, compile_glob
from inbox_loop.message.clean import clean_line
from inbox_loop.message.model import Header, Message
from inbox_loop.policy import MakeTask, Policy, Skip, SkipReason, decide, decide_insisted
from inbox_loop.rules import Conditions, Priority, Rule, Verdict
from inbox_loop.task import MAX_TITLE_CHARACTERS

SKIP_ALL = Policy(own_addresses=frozenset({"Bot@Example.org"}), skip_bulk=True, skip_auto_replies=True)


def reason_for(message: Message, policy: Policy = SKIP_ALL) -> SkipReason | None:
    decision = decide(message, policy, mailbox="support", account="support@example.org", project="shop")
    return decision.reason if isinstance(decision, Skip) else None


SKIP_IT = Rule("not-for-us", Verdict.SKIP)
TAKE_IT = Rule("for-us", Verdict.TASK, project="sales", labels=("vip",), priority=Priority.HIGH)


def with_rules(*rules: Rule) -> Policy:
    return replace(SKIP_ALL, rules=rules)


@pytest.mark.parametrize("label", ["DRAFT", "SPAM", "TRASH", "CHAT", "SENT"])
def test_no_rule_makes_a_task_of_what_gmail_keeps_out_of_the_inbox(make_message: MakeMessage, label: str) -> None:
    assert reason_for(make_message(labels={label}), with_rules(TAKE_IT)) == SkipReason(label.lower())


def test_no_rule_makes_a_task_of_mail_from_oneself(make_message: MakeMessage) -> None:
    message = make_message(headers=[("From", "bot@example.org")])
    assert reason_for(message, with_rules(TAKE_IT)) == SkipReason.OWN_ADDRESS


@pytest.mark.parametrize(
    ("own", "sender", "reason"),
    [
        ("bot+shop@example.org", "bot+shop@example.org", SkipReason.OWN_ADDRESS),
        ("bot@example.org", "bot+shop@example.org", None),
        ("bot+shop@example.org", "bot@example.org", None),
        ("b.ot@example.org", "bot@example.org", None),
    ],
)
def test_own_addresses_are_taken_as_they_are_written(
    make_message: MakeMessage, own: str, sender: str, reason: SkipReason | None
) -> None:
    """What stands behind a plus or between dots is told apart by some providers and not by others."""
    policy = replace(SKIP_ALL, own_addresses=frozenset({own}))
    assert reason_for(make_message(headers=[("From", sender)]), policy) == reason


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param([("Auto-Submitted", "auto-replied")], id="an auto-reply"),
        pytest.param([("Return-Path", "<>")], id="a bounce"),
        pytest.param([("List-Id", "<talk.example.net>")], id="bulk"),
    ],
)
def test_a_rule_wins_over_what_the_headers_say(make_message: MakeMessage, headers: list[tuple[str, str]]) -> None:
    message = make_message(headers=headers)
    assert reason_for(message) is not None
    assert reason_for(message, with_rules(TAKE_IT)) is None


def test_a_rule_wins_over_a_category(make_message: MakeMessage) -> None:
    message = make_message(labels=("INBOX", "CATEGORY_PROMOTIONS"))
    assert reason_for(message, with_rules(TAKE_IT)) is None


def test_a_rule_that_skips_is_named(make_message: MakeMessage) -> None:
    decision = decide(
        make_message(), with_rules(SKIP_IT, TAKE_IT), mailbox="support", account="support@example.org", project=None
    )
    assert decision == Skip(SkipReason.RULE, "not-for-us")


def test_a_rule_that_takes_is_named_and_says_where_the_task_goes(make_message: MakeMessage) -> None:
    decision = decide(
        make_message(), with_rules(TAKE_IT, SKIP_IT), mailbox="support", account="support@example.org", project="shop"
    )
    assert isinstance(decision, MakeTask)
    assert decision.rule == "for-us"
    assert (decision.draft.project, decision.draft.labels) == ("sales", ("vip",))


def test_a_person_who_insists_gets_a_task_by_the_first_rule_that_takes_the_message(make_message: MakeMessage) -> None:
    message = make_message(labels={"SPAM"}, headers=[("From", "bot@example.org")])
    insisted = decide_insisted(
        message, with_rules(SKIP_IT, TAKE_IT), mailbox="support", account="support@example.org", project="shop"
    )
    assert (insisted.rule, insisted.draft.project, insisted.draft.labels) == ("for-us", "sales", ("vip",))


def test_a_person_who_insists_gets_a_task_without_a_rule_as_well(make_message: MakeMessage) -> None:
    insisted = decide_insisted(
        make_message(), with_rules(SKIP_IT), mailbox="support", account="support@example.org", project="shop"
    )
    assert (insisted.rule, insisted.draft.project, insisted.draft.labels) == (None, "shop", ())


CLEAN = st.text(max_size=60).map(lambda text: clean_line(text).text)
NAMES = st.sampled_from(
    ["From", "To", "Cc", "Subject", "Content-Type", "Auto-Submitted", "Precedence", "Return-Path", "List-Id"]
)


CONDITIONS = st.sampled_from(
    [
        Conditions(senders=(compile_address_glob("@*"),)),
        Conditions(recipients=(compile_address_glob("*a*b*"),)),
        Conditions(subjects=(compile_glob("*?*"),)),
        Conditions(lists=(compile_glob("*"),)),
        Conditions(labels=(compile_glob("x"),), has_attachment=False, smaller_than=1),
    ]
)
RULES = st.lists(st.builds(Rule, st.just("r"), st.sampled_from(Verdict), CONDITIONS), max_size=3).map(tuple)


@given(
    headers=st.lists(st.tuples(NAMES, CLEAN), max_size=6),
    labels=st.frozensets(st.sampled_from(["INBOX", "SENT", "SPAM", "x"])),
    rules=RULES,
)
def test_any_message_is_decided_and_a_task_can_be_stored(
    headers: list[tuple[str, str]], labels: frozenset[str], rules: tuple[Rule, ...]
) -> None:
    message = Message(
        message_id=MESSAGE_ID,
        thread_id=THREAD_ID,
        labels=labels,
        internal_date=datetime.fromisoformat("2026-11-23T09:12:11+01:00"),
        size=0,
        headers=tuple(Header(name, value) for name, value in headers),
        text="",
        mime_type="multipart/report",
        attachments=(),
    )
    decision = decide(message, with_rules(*rules), mailbox="support", account="support@example.org", project=None)
    if isinstance(decision, MakeTask):
        assert 0 < len(decision.draft.title) <= MAX_TITLE_CHARACTERS
        assert json.loads(json.dumps(decision.draft.source)) == decision.draft.source
        assert decision.draft.source["internal_date"] == "2026-11-23T08:12:11+00:00"
