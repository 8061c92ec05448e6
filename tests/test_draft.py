"""What a task says: its title, body and source."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from fixtures.message import MESSAGE_ID, THREAD_ID, MakeMessage

from inbox_loop.draft import MAX_ATTACHMENTS, MAX_RECIPIENTS, NO_SUBJECT, make_draft
from inbox_loop.message.model import Attachment, Message, Unquoted
from inbox_loop.rules import Priority, Rule, Verdict
from inbox_loop.task import MAX_BODY_BYTES, MAX_TITLE_CHARACTERS, TaskDraft


def draft_of(message: Message, rule: Rule | None = None) -> TaskDraft:
    return make_draft(message, rule, mailbox="support", account="support@example.org", project="shop")


def test_a_task_is_named_by_message_and_thread(make_message: MakeMessage) -> None:
    draft = draft_of(make_message())
    assert draft.external_ref == f"gmail:{THREAD_ID}#{MESSAGE_ID}"
    assert draft.container_ref == f"gmail:{THREAD_ID}"
    assert (draft.title, draft.body, draft.project) == ("A dented tin", "Could you send me a new tin?", "shop")


@pytest.mark.parametrize("subject", ["", "   ", "\t\n"])
def test_without_a_subject_the_title_says_so(make_message: MakeMessage, subject: str) -> None:
    assert draft_of(make_message(headers=[("Subject", subject)])).title == NO_SUBJECT


def test_a_title_is_one_line_and_ends_in_an_ellipsis_when_cut(make_message: MakeMessage) -> None:
    assert draft_of(make_message(headers=[("Subject", "  a \n b\t c ")])).title == "a b c"
    exact = "x" * MAX_TITLE_CHARACTERS
    assert draft_of(make_message(headers=[("Subject", exact)])).title == exact
    assert draft_of(make_message(headers=[("Subject", exact + "x")])).title == exact[:-1] + "…"


@pytest.mark.parametrize("character", ["x", "é", "茶", "🍵"])
def test_a_body_past_the_limit_is_cut_between_characters_and_says_so(make_message: MakeMessage, character: str) -> None:
    exact = character * (MAX_BODY_BYTES // len(character.encode()))
    body = draft_of(make_message(text=exact + character * 4)).body
    assert MAX_BODY_BYTES - 8 < len(body.encode()) <= MAX_BODY_BYTES
    text, _, last = body.rpartition("\n\n")
    assert set(text) == {character}
    assert last == "[The text is cut here. The whole message is in Gmail.]"


def test_a_body_within_the_limit_is_whole(make_message: MakeMessage) -> None:
    exact = "x" * MAX_BODY_BYTES
    assert draft_of(make_message(text=exact)).body == exact


def test_the_source_says_where_the_task_comes_from(make_message: MakeMessage) -> None:
    message = make_message(
        headers=[
            ("To", '"Shop, the" <support@example.org>, b@example.com'),
            ("Cc", "c@example.com"),
            ("Cc", "d@example.com"),
        ],
        attachments=(Attachment("a.pdf", "application/pdf", 7),),
    )
    assert draft_of(message).source == {
        "mailbox": "support",
        "account": "support@example.org",
        "message_id": MESSAGE_ID,
        "thread_id": THREAD_ID,
        "rfc_message_id": "<4117@example.com>",
        "from": "Ada Winter <ada@example.com>",
        "to": ['"Shop, the" <support@example.org>', "b@example.com"],
        "cc": ["c@example.com", "d@example.com"],
        "internal_date": "2026-11-23T08:12:11+00:00",
        "gmail_url": f"https://mail.google.com/mail/?authuser=support@example.org#all/{THREAD_ID}",
        "attachments": [{"name": "a.pdf", "mime_type": "application/pdf", "size": 7}],
        "labels": ["INBOX", "UNREAD"],
    }


def test_a_source_is_bounded_and_counts_what_it_leaves_out(make_message: MakeMessage) -> None:
    many = ", ".join(f"{'n' * 500} <r{number}@example.com>" for number in range(300))
    files = (Attachment("n" * 1000, "x" * 1000, 1),) * 1500
    source = draft_of(
        make_message(headers=[("To", many), ("Cc", many), ("Message-ID", "x" * 60_000)], attachments=files)
    ).source
    assert len(json.dumps(source)) < 200_000
    assert (source["to_left_out"], source["cc_left_out"]) == (300 - MAX_RECIPIENTS, 300 - MAX_RECIPIENTS)
    assert source["attachments_left_out"] == 1500 - MAX_ATTACHMENTS


def test_an_account_can_not_change_the_link_around_it(make_message: MakeMessage) -> None:
    draft = make_draft(make_message(), None, mailbox="m", account="a+b&c#d@example.org", project=None)
    assert str(draft.source["gmail_url"]).startswith(
        "https://mail.google.com/mail/?authuser=a%2Bb%26c%23d@example.org#all/"
    )


def test_the_body_is_the_new_text_and_the_source_says_how_long_the_quote_was(make_message: MakeMessage) -> None:
    quoted = replace(make_message(text="Yes.\n\n> Is it?"), unquoted=Unquoted("Yes.", 9))
    draft = draft_of(quoted)
    assert draft.body == "Yes."
    assert draft.source["quote_cut_characters"] == 9


def test_the_source_says_when_only_the_headers_were_read(make_message: MakeMessage) -> None:
    assert draft_of(replace(make_message(), headers_only=True)).source["headers_only"] is True


def test_the_source_counts_the_characters_that_were_cleaned(make_message: MakeMessage) -> None:
    assert draft_of(replace(make_message(), cleaned=3)).source["cleaned"] == 3


def test_the_source_says_nothing_of_what_does_not_apply(make_message: MakeMessage) -> None:
    unsaid = {"quote_cut_characters", "headers_only", "cleaned", "rule", "priority"}
    assert unsaid.isdisjoint(draft_of(make_message()).source)


def test_a_rule_gives_project_labels_and_priority(make_message: MakeMessage) -> None:
    draft = draft_of(make_message(), Rule("r", Verdict.TASK, project="b", labels=("x", "y"), priority=Priority.URGENT))
    assert (draft.project, draft.labels) == ("b", ("x", "y"))
    assert (draft.source["rule"], draft.source["priority"]) == ("r", "urgent")
    assert json.loads(json.dumps(draft.source)) == draft.source


def test_what_a_rule_does_not_give_stays_as_it_is_without_one(make_message: MakeMessage) -> None:
    draft = draft_of(make_message(), Rule("r", Verdict.TASK))
    assert (draft.project, draft.labels) == ("shop", ())
    assert draft.source["rule"] == "r"
    assert "priority" not in draft.source
