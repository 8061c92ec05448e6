"""Which message becomes a task: labels, own addresses, rules and headers, in that order."""

from __future__ import annotations

import pytest
from fixtures.message import MakeMessage

from inbox_loop.message.model import Message
from inbox_loop.policy import LABEL_REASONS, Policy, Skip, SkipReason, decide

SKIP_ALL = Policy(own_addresses=frozenset({"Bot@Example.org"}), skip_bulk=True, skip_auto_replies=True)
SKIP_NOTHING = Policy(own_addresses=frozenset(), skip_bulk=False, skip_auto_replies=False)

# What helpdesks and Exchange write alike.
MACHINE_ANSWER = (("Auto-Submitted", "auto-generated"), ("In-Reply-To", "<1@example.org>"))
RULES_LOOP = "X-MS-Exchange-Inbox-Rules-Loop"


def reason_for(message: Message, policy: Policy = SKIP_ALL) -> SkipReason | None:
    decision = decide(message, policy, mailbox="support", account="support@example.org", project="shop")
    return decision.reason if isinstance(decision, Skip) else None


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ({"INBOX", "UNREAD"}, None),
        ({"UNREAD"}, None),
        ({"INBOX", "STARRED", "IMPORTANT", "CATEGORY_PERSONAL", "Label_7"}, None),
        (set(), None),
        ({"SENT", "INBOX"}, None),
        ({"SENT"}, SkipReason.SENT),
        ({"SENT", "Label_7"}, SkipReason.SENT),
        ({"DRAFT"}, SkipReason.DRAFT),
        ({"DRAFT", "INBOX"}, SkipReason.DRAFT),
        ({"SPAM"}, SkipReason.SPAM),
        ({"TRASH", "INBOX"}, SkipReason.TRASH),
        ({"TRASH", "SENT"}, SkipReason.TRASH),
        ({"CHAT"}, SkipReason.CHAT),
        ({"CATEGORY_PROMOTIONS", "INBOX"}, SkipReason.CATEGORY),
        ({"CATEGORY_SOCIAL", "INBOX"}, SkipReason.CATEGORY),
        ({"CATEGORY_FORUMS", "INBOX"}, SkipReason.CATEGORY),
        ({"CATEGORY_UPDATES", "INBOX"}, None),
    ],
)
def test_labels_decide_first(make_message: MakeMessage, labels: set[str], reason: SkipReason | None) -> None:
    assert reason_for(make_message(labels=labels)) == reason


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        pytest.param([], None, id="ordinary"),
        pytest.param([("From", "bot@example.ORG")], SkipReason.OWN_ADDRESS, id="own address, any case"),
        pytest.param(
            [("fRoM", '"Us, really" <BOT@example.org>')], SkipReason.OWN_ADDRESS, id="own address with a name"
        ),
        pytest.param([("From", '"bot@example.org" <x@example.net>')], None, id="own address only as the name"),
        pytest.param([("Reply-To", "bot@example.org")], None, id="own address only to reply to"),
        pytest.param([("From", "")], None, id="no sender"),
        pytest.param([("Auto-Submitted", "auto-replied")], SkipReason.AUTO_REPLY, id="auto-replied"),
        pytest.param([("auto-submitted", "Auto-Replied (vacation)")], SkipReason.AUTO_REPLY, id="with a comment"),
        pytest.param(
            [("Auto-Submitted", "auto-replied; owner-email=a@example.com")],
            SkipReason.AUTO_REPLY,
            id="with a parameter",
        ),
        pytest.param([("Auto-Submitted", "auto-notified")], SkipReason.AUTO_REPLY, id="auto-notified"),
        pytest.param([("Auto-Submitted", "auto-something-new")], SkipReason.AUTO_REPLY, id="a keyword of the future"),
        pytest.param([("Auto-Submitted", "no")], None, id="Auto-Submitted: no"),
        pytest.param([("Auto-Submitted", " NO (really) ")], None, id="no, in capitals"),
        pytest.param([("Auto-Submitted", "auto-generated")], None, id="an alert nobody asked for"),
        pytest.param([*MACHINE_ANSWER], None, id="a person's answer through a helpdesk"),
        pytest.param(
            [*MACHINE_ANSWER, ("X-Auto-Response-Suppress", "All")], None, id="of a helpdesk that wants no absence notes"
        ),
        pytest.param(
            [*MACHINE_ANSWER, (RULES_LOOP, "ADA@example.com")], SkipReason.AUTO_REPLY, id="an absence note of Exchange"
        ),
        pytest.param(
            [*MACHINE_ANSWER, ("Return-Path", "<>")], SkipReason.AUTO_REPLY, id="an absence note, by its path"
        ),
        pytest.param(
            [*MACHINE_ANSWER, (RULES_LOOP, "team@example.net")], None, id="a helpdesk's answer that a rule passed on"
        ),
        pytest.param(
            [("Auto-Submitted", "auto-generated"), (RULES_LOOP, "ada@example.com")], None, id="forwarded by a rule"
        ),
        pytest.param([("X-Auto-Response-Suppress", "All")], None, id="X-Auto-Response-Suppress"),
        pytest.param([("In-Reply-To", "<1@example.org>")], None, id="a person's answer"),
        pytest.param([("X-Autoreply", "yes")], SkipReason.AUTO_REPLY, id="X-Autoreply"),
        pytest.param([("X-Autoreply", "no")], None, id="X-Autoreply: no"),
        pytest.param([("X-Autorespond", "Your order")], SkipReason.AUTO_REPLY, id="X-Autorespond"),
        pytest.param([("Precedence", "auto_reply")], SkipReason.AUTO_REPLY, id="Precedence: auto_reply"),
        pytest.param([("Return-Path", "<>")], SkipReason.BOUNCE, id="empty return path"),
        pytest.param([("Return-Path", " < > ")], SkipReason.BOUNCE, id="empty return path with blanks"),
        pytest.param([("Return-Path", "<ada@example.com>")], None, id="a return path"),
        pytest.param(
            [("Return-Path", "<>"), ("Auto-Submitted", "auto-replied")], SkipReason.AUTO_REPLY, id="a vacation note"
        ),
        pytest.param(
            [("X-Failed-Recipients", "a@example.net"), ("Auto-Submitted", "auto-replied")],
            SkipReason.BOUNCE,
            id="failed",
        ),
        pytest.param([("From", "Mail Delivery <MAILER-DAEMON@example.net>")], SkipReason.BOUNCE, id="a mailer daemon"),
        pytest.param([("From", "MAILER-DAEMON")], None, id="a name is no address"),
        pytest.param([("List-Id", "<talk.example.net>")], SkipReason.BULK, id="List-Id"),
        pytest.param([("List-Unsubscribe", "<https://example.net/u>")], SkipReason.BULK, id="List-Unsubscribe"),
        pytest.param([("Precedence", "Bulk")], SkipReason.BULK, id="bulk"),
        pytest.param([("Precedence", "list")], SkipReason.BULK, id="list"),
        pytest.param([("Precedence", "junk")], SkipReason.BULK, id="junk"),
        pytest.param([("Precedence", "first-class")], None, id="another precedence"),
        pytest.param([("Subject", "Re: task #12")], None, id="somebody's task number means nothing"),
    ],
)
def test_headers_say_how_a_mail_came_to_be(
    make_message: MakeMessage, headers: list[tuple[str, str]], reason: SkipReason | None
) -> None:
    assert reason_for(make_message(headers=headers)) == reason


UNSUBSCRIBE = ("List-Unsubscribe", "<https://example.net/u>")
LIST_ID = ("List-Id", "<talk.example.net>")


@pytest.mark.parametrize(
    ("label", "headers", "reason"),
    [
        ("CATEGORY_UPDATES", [UNSUBSCRIBE], None),
        ("CATEGORY_PERSONAL", [UNSUBSCRIBE], None),
        ("CATEGORY_UPDATES", [UNSUBSCRIBE, LIST_ID], SkipReason.BULK),
        ("CATEGORY_PERSONAL", [UNSUBSCRIBE, ("Precedence", "bulk")], SkipReason.BULK),
        ("UNREAD", [UNSUBSCRIBE], SkipReason.BULK),
        ("CATEGORY_PROMOTIONS", [UNSUBSCRIBE], SkipReason.CATEGORY),
        ("CATEGORY_PROMOTIONS", [LIST_ID], SkipReason.BULK),
    ],
)
def test_orders_that_can_be_unsubscribed_from_are_told_from_lists(
    make_message: MakeMessage, label: str, headers: list[tuple[str, str]], reason: SkipReason | None
) -> None:
    message = make_message(labels=("INBOX", label), headers=headers)
    assert reason_for(message) == reason
    assert reason_for(message, SKIP_NOTHING) is None


@pytest.mark.parametrize("category", ["CATEGORY_PROMOTIONS", "CATEGORY_SOCIAL", "CATEGORY_FORUMS"])
def test_mail_moved_to_primary_becomes_a_task(make_message: MakeMessage, category: str) -> None:
    skipped = reason_for(make_message(labels=("INBOX", category), headers=[UNSUBSCRIBE]))
    assert skipped in LABEL_REASONS
    assert reason_for(make_message(labels=("INBOX", "CATEGORY_PERSONAL"), headers=[UNSUBSCRIBE])) is None


@pytest.mark.parametrize(
    ("content_type", "reason"),
    [
        ('multipart/report; report-type="delivery-status"; boundary=x', SkipReason.BOUNCE),
        ("Multipart/Report; Report-Type=Delivery-Status", SkipReason.BOUNCE),
        ("multipart/report; report-type=disposition-notification", SkipReason.AUTO_REPLY),
        ("multipart/report; report-type=feedback-report", None),
        ("multipart/report", None),
    ],
)
def test_reports_are_told_apart_by_their_type(
    make_message: MakeMessage, content_type: str, reason: SkipReason | None
) -> None:
    assert reason_for(make_message(headers=[("Content-Type", content_type)], mime_type="multipart/report")) == reason
    assert reason_for(make_message(headers=[("Content-Type", content_type)], mime_type="multipart/mixed")) is None


@pytest.mark.parametrize(
    "headers",
    [
        [("Auto-Submitted", "auto-replied")],
        [("X-Failed-Recipients", "a@example.net")],
        [("Return-Path", "<>")],
        [("List-Id", "<talk.example.net>")],
        [("From", "bot@example.org")],
    ],
)
def test_nothing_is_skipped_that_the_policy_does_not_name(
    make_message: MakeMessage, headers: list[tuple[str, str]]
) -> None:
    assert reason_for(make_message(headers=headers), SKIP_NOTHING) is None


def test_only_labels_a_person_can_change_are_looked_at_again() -> None:
    assert {"draft", "sent", "spam", "trash", "bulk", "category", "rule"} == LABEL_REASONS
