"""The corpus itself: whole, harmless, and shown in ``docs/odd-mail.md`` as it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from support.corpus import CORPUS, OWN_ADDRESS, CorpusMail, describe, list_corpus
from support.odd_mail_page import PAGE, render_odd_mail_page

from inbox_loop.message.model import Message
from inbox_loop.policy import Policy, Skip, decide
from inbox_loop.simulator.marks import read_marks

MAIL = list_corpus()
SKIPPED = [mail for mail in MAIL if mail.expected.startswith("outcome: skipped")]
POLICY = Policy(own_addresses=frozenset({OWN_ADDRESS}), skip_bulk=True, skip_auto_replies=True)
DOMAIN = re.compile(rb"[\w.+-]+@((?:[\w-]+\.)+[\w-]+)")
EXAMPLE_DOMAINS = {b"example.org", b"example.com", b"example.net"}


def test_the_page_of_odd_mail_is_what_is_rendered() -> None:
    assert PAGE.read_text(encoding="utf-8") == render_odd_mail_page()


def test_the_corpus_has_mail_of_each_kind() -> None:
    counts = {folder: len(list_corpus(folder)) for folder in ("odd", "bulk", "quotes")}
    assert counts["odd"] >= 75
    assert counts["bulk"] >= 30
    assert counts["quotes"] >= 35


def test_beside_each_mail_stands_what_is_expected_and_nothing_else() -> None:
    names = {path.relative_to(CORPUS).as_posix() for path in CORPUS.rglob("*") if path.is_file()}
    assert names == {f"{mail.name}{ending}" for mail in MAIL for ending in (".eml", ".expected.txt")}


@pytest.mark.parametrize("mail", MAIL, ids=lambda mail: mail.name)
def test_each_mail_is_small_says_what_is_odd_about_it_and_names_nobody_real(mail: CorpusMail) -> None:
    raw = mail.path.read_bytes()
    assert len(raw) < 32_000
    assert raw.startswith(b"X-Corpus: ")
    assert len(mail.oddity) > len("odd")
    domains = {b".".join(domain.lower().split(b".")[-2:]) for domain in DOMAIN.findall(raw)}
    assert domains <= EXAMPLE_DOMAINS


@pytest.mark.parametrize("mail", SKIPPED, ids=lambda mail: mail.name)
def test_a_skipped_mail_is_read_as_well_as_one_that_becomes_a_task(
    mail: CorpusMail, read_raw: Callable[[bytes], Message]
) -> None:
    raw = mail.path.read_bytes()
    message = replace(read_raw(raw), labels=frozenset(read_marks(raw).labels or ("INBOX",)))
    decision = decide(message, POLICY, mailbox="support", account=OWN_ADDRESS, project=None)
    assert isinstance(decision, Skip)
    read = describe(
        outcome=f"skipped, {decision.reason}",
        title=message.header("Subject"),
        sender=message.header("From"),
        attachments=[f"{each.name}, {each.mime_type}, {each.size} bytes" for each in message.attachments],
        body=message.text,
    )
    assert read == mail.expected
