"""The demo's mail: what becomes of each, held against the files in ``expected/``."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from inbox_loop import simulator
from inbox_loop.message.mime import Part
from inbox_loop.message.model import Header, Message
from inbox_loop.policy import MakeTask, Policy, decide
from inbox_loop.simulator.mail import FoundMail, read_mail
from inbox_loop.simulator.mime import RawPart, parse_message

SAMPLE = Path(simulator.__file__).with_name("sample")
EXPECTED = Path(__file__).with_name("expected")
FIRST_ACT = sorted(SAMPLE.glob("*.eml"))
MAIL = [*FIRST_ACT, *sorted(SAMPLE.glob("later/*.eml"))]
POLICY = Policy(own_addresses=frozenset(), skip_bulk=True, skip_auto_replies=True)


def describe(message: Message) -> str:
    """Everything a reader should check, in one text."""
    decision = decide(message, POLICY, mailbox="support", account="support@example.org", project=None)
    lines = [
        f"outcome: {'task' if isinstance(decision, MakeTask) else f'skipped, {decision.reason}'}",
        f"title: {decision.draft.title if isinstance(decision, MakeTask) else message.header('Subject')}",
        f"from: {message.header('From')}",
        *(f"attachment: {each.name}, {each.mime_type}, {each.size} bytes" for each in message.attachments),
        "",
        decision.draft.body if isinstance(decision, MakeTask) else message.text,
    ]
    return "\n".join(lines).rstrip() + "\n"


def found(path: Path) -> FoundMail:
    (mail,) = read_mail(path)
    return mail


def as_gmail_shows(part: RawPart) -> Part:
    """The same tree with its headers decoded already, as Gmail's answers have them."""
    headers = tuple(Header(header.name, header.value) for header in part.headers)
    data = None if part.parts else part.data
    return Part(part.mime_type, part.filename, headers, data, len(part.data), tuple(map(as_gmail_shows, part.parts)))


@pytest.mark.parametrize("path", MAIL, ids=lambda path: path.stem)
def test_each_sample_mail_reads_as_expected(path: Path, read_raw: Callable[[bytes], Message]) -> None:
    mail = found(path)
    message = read_raw(mail.raw)
    labelled = Message(
        message_id=message.message_id,
        thread_id=message.thread_id,
        labels=frozenset(mail.labels),
        internal_date=mail.internal_date,
        size=len(mail.raw),
        headers=message.headers,
        text=message.text,
        mime_type=message.mime_type,
        attachments=message.attachments,
    )
    assert describe(labelled) == (EXPECTED / f"{path.stem}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", MAIL, ids=lambda path: path.stem)
def test_a_message_reads_the_same_with_headers_raw_or_decoded_by_gmail(
    path: Path, read_raw: Callable[[bytes], Message], read_part: Callable[[Part], Message]
) -> None:
    raw = path.read_bytes()
    ours, gmails = read_raw(raw), read_part(as_gmail_shows(parse_message(raw)))
    assert (gmails.text, gmails.attachments, gmails.mime_type) == (ours.text, ours.attachments, ours.mime_type)
    for name in ("From", "To", "Subject", "Content-Type"):
        assert gmails.header(name) == ours.header(name)


def test_the_sample_is_about_thirty_messages_and_each_is_expected() -> None:
    assert 28 <= len(FIRST_ACT) <= 36
    assert {path.stem for path in MAIL} == {path.stem for path in EXPECTED.glob("*.txt")}


def test_the_sample_arrives_in_the_order_of_its_numbers() -> None:
    moments = [found(path).internal_date for path in MAIL]
    assert moments == sorted(set(moments))


def test_the_sample_is_kept_byte_for_byte() -> None:
    for path in MAIL:
        assert b"\n" not in path.read_bytes().replace(b"\r\n", b""), f"{path} has bare line ends"


def test_the_sample_names_nobody_outside_of_the_example_domains() -> None:
    address = re.compile(rb"[\w.+-]+@([\w-]+(?:\.[\w-]+)+)")
    domains = {domain.lower() for path in MAIL for domain in address.findall(path.read_bytes())}
    assert domains == {b"example.org", b"example.com", b"example.net"}
