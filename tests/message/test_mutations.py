"""Spoiled mail by the thousand: whatever comes in, a clean message and a decision come out, in bounded time.

A failure names its seed and number; ``mutate_mail`` makes the same mail of them again.
"""

from __future__ import annotations

import time
import unicodedata
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice

import pytest
from support.mutations import mutate_mail, read_seeds

from inbox_loop.errors import UnreadableMessage
from inbox_loop.message.model import Message
from inbox_loop.message.raw import parse_mail
from inbox_loop.message.read import read_message
from inbox_loop.policy import MakeTask, Policy, Skip, decide

FIRST_SEED = 20261201
RUNS = 8
MAIL_A_RUN = 2_500
MAX_CPU_SECONDS = 1.0
MAX_UNREADABLE = 0.01
MOMENT = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)
POLICY = Policy(own_addresses=frozenset({"support@example.org"}), skip_bulk=True, skip_auto_replies=True)
# Of what Unicode calls control characters and surrogates, a clean text has two.
DIRTY = {chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in ("Cc", "Cs")} - {"\n", "\t"}


def texts_of(message: Message, decision: MakeTask | Skip) -> Iterator[str]:
    yield from (message.text, message.mime_type, message.unquoted.text if message.unquoted else "")
    yield from (text for header in message.headers for text in (header.name, header.value))
    yield from (text for found in message.attachments for text in (found.name, found.mime_type))
    if isinstance(decision, MakeTask):
        yield from (decision.draft.title, decision.draft.body)


def read_and_decide(raw: bytes) -> str:
    """The outcome in a word. Everything that has to hold for any mail is asserted on the way."""
    root = parse_mail(raw)
    if root is None:
        return "unreadable"
    try:
        message = read_message(
            message_id="18c2a7b3d4e5f601",
            thread_id="18c2a7b3d4e5f600",
            labels=("INBOX",),
            internal_date=MOMENT,
            size=len(raw),
            root=root,
        )
    except UnreadableMessage:
        return "unreadable"
    decision = decide(message, POLICY, mailbox="support", account="support@example.org", project=None)
    assert all(DIRTY.isdisjoint(text) for text in texts_of(message, decision)), "a text is not clean"
    if isinstance(decision, Skip):
        return "skipped"
    assert decision.draft.title.strip(), "a task without a title"
    assert decision.draft.external_ref == "gmail:18c2a7b3d4e5f600#18c2a7b3d4e5f601"
    return "task"


@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + RUNS))
def test_no_mutated_mail_escapes(seed: int) -> None:
    outcomes: Counter[str] = Counter()
    for number, raw in enumerate(islice(mutate_mail(read_seeds(), seed), MAIL_A_RUN)):
        started = time.process_time()
        try:
            outcomes[read_and_decide(raw)] += 1
        except Exception as error:
            error.add_note(f"mail {number} of seed {seed}")
            raise
        seconds = time.process_time() - started
        assert seconds < MAX_CPU_SECONDS, f"mail {number} of seed {seed} took {seconds:.2f} s"
    assert outcomes["unreadable"] <= MAX_UNREADABLE * MAIL_A_RUN
    assert outcomes["task"] > outcomes["skipped"] > 0


def test_the_same_seed_makes_the_same_mail_and_another_seed_other_mail() -> None:
    seeds = read_seeds()
    first, again, other = (list(islice(mutate_mail(seeds, seed), 50)) for seed in (1, 1, 2))
    assert first == again != other
    assert sum(raw not in seeds for raw in first) > 40, "most mail is not as it was"
