"""What a task says: title, body and source, made of its message. Pure.

Lives here: the draft, and how much of a message it keeps. Not here: whether there is a task (``policy.py``).
"""

from __future__ import annotations

from datetime import UTC

from inbox_loop.message.addresses import parse_addresses
from inbox_loop.message.clean import clean_line, cut_to_bytes
from inbox_loop.message.link import gmail_url
from inbox_loop.message.model import Message
from inbox_loop.ref import Ref
from inbox_loop.rules import Rule
from inbox_loop.task import MAX_BODY_BYTES, MAX_TITLE_CHARACTERS, TaskDraft

NO_SUBJECT = "(no subject)"
# Of what a task keeps of its message. The rest is counted; the mail itself has all of it.
MAX_RECIPIENTS = 100
MAX_ATTACHMENTS = 100
MAX_ADDRESS_CHARACTERS = 320
MAX_NAME_CHARACTERS = 255

_ELLIPSIS = "…"
_CUT = "\n\n[The text is cut here. The whole message is in Gmail.]"


def make_draft(message: Message, rule: Rule | None, *, mailbox: str, account: str, project: str | None) -> TaskDraft:
    """The task of ``message``, found in ``mailbox`` (its name), which is ``account`` (its address) at Gmail.

    Project, labels and priority are those of ``rule``, if it names any. Raises ``InvalidRef`` if Gmail's ids are not
    what they are known to be.
    """
    ref = Ref(message.thread_id, message.message_id)
    return TaskDraft(
        external_ref=str(ref),
        title=make_title(message),
        body=_body(message),
        project=(rule.project if rule else None) or project,
        labels=rule.labels if rule else (),
        container_ref=ref.container,
        source=_source(message, mailbox, account) | _marks_of_reading(message) | _marks_of(rule),
    )


def make_title(message: Message) -> str:
    """The subject on one line, or words that say there is none; at most ``MAX_TITLE_CHARACTERS``."""
    return _cut(clean_line(message.header("Subject")).text, MAX_TITLE_CHARACTERS) or NO_SUBJECT


def _body(message: Message) -> str:
    """What the sender wrote anew; all of the text where no quote was told apart."""
    text = message.text if message.unquoted is None else message.unquoted.text
    if len(text.encode()) <= MAX_BODY_BYTES:
        return text
    return cut_to_bytes(text, MAX_BODY_BYTES - len(_CUT.encode())).rstrip() + _CUT


def _source(message: Message, mailbox: str, account: str) -> dict[str, object]:
    """Where the task comes from: JSON values only, and bounded, whatever the mail holds."""
    recipients, more_recipients = _addresses(message, "To")
    copied, more_copied = _addresses(message, "Cc")
    source: dict[str, object] = {
        "mailbox": mailbox,
        "account": account,
        "message_id": message.message_id,
        "thread_id": message.thread_id,
        "rfc_message_id": _cut(message.header("Message-ID"), MAX_NAME_CHARACTERS),
        "from": ", ".join(_addresses(message, "From")[0]),
        "to": recipients,
        "cc": copied,
        "internal_date": message.internal_date.astimezone(UTC).isoformat(),
        "gmail_url": gmail_url(account, message.thread_id),
        "attachments": [
            {
                "name": _cut(found.name, MAX_NAME_CHARACTERS),
                "mime_type": _cut(found.mime_type, MAX_NAME_CHARACTERS),
                "size": found.size,
            }
            for found in message.attachments[:MAX_ATTACHMENTS]
        ],
        "labels": sorted(message.labels),
    }
    left_out = {
        "to_left_out": more_recipients,
        "cc_left_out": more_copied,
        "attachments_left_out": max(0, len(message.attachments) - MAX_ATTACHMENTS),
    }
    return source | {key: count for key, count in left_out.items() if count}


def _marks_of_reading(message: Message) -> dict[str, object]:
    """How the text differs from the mail; nothing is said of what does not apply."""
    marks: dict[str, object] = {
        "quote_cut_characters": message.unquoted.cut_characters if message.unquoted else 0,
        "headers_only": message.headers_only,
        "cleaned": message.cleaned,
    }
    return {name: mark for name, mark in marks.items() if mark}


def _marks_of(rule: Rule | None) -> dict[str, object]:
    if rule is None:
        return {}
    marks: dict[str, object] = {"rule": rule.name}
    return marks if rule.priority is None else marks | {"priority": rule.priority.value}


def _addresses(message: Message, header: str) -> tuple[list[str], int]:
    """The addresses of all headers of this name, as text, and how many more there are."""
    found = [str(address) for value in message.header_values(header) for address in parse_addresses(value)]
    shown = [_cut(address, MAX_ADDRESS_CHARACTERS) for address in found[:MAX_RECIPIENTS]]
    return shown, len(found) - len(shown)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + _ELLIPSIS
