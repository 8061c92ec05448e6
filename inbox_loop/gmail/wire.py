"""Google's dicts as our values. Pure.

Lives here: reading a message, a history page, a listing page and a profile as the API sends them (JSON,
https://developers.google.com/workspace/gmail/api/reference/rest). Not here: how they are asked for (``mailbox.py``,
``reading.py``), and how MIME parts become text (``message/read.py``).

Keys may be absent where they would be empty, and a stand-in server may send anything: what can't be used is left
out of a page, and a message that can't be one raises ``UnreadableMessage``.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from inbox_loop.cursor import parse_history_id
from inbox_loop.errors import GmailUnreachable, UnreadableMessage
from inbox_loop.loop.ports import HistoryPage, ListingPage, MessageId, Profile
from inbox_loop.message.mime import Part
from inbox_loop.message.model import Header, Message
from inbox_loop.message.read import read_headers, read_message
from inbox_loop.ref import GMAIL_ID

Answer = Mapping[str, Any]

# No mail client nests deeper; what lies below is not looked at, so that a hostile message can't exhaust the stack.
MAX_DEPTH = 100

# Text that Gmail keeps apart, as it does with attachments, is fetched up to this size and so many times a message.
MAX_TEXT_BYTES = 5 * 1024 * 1024
MAX_TEXT_READS = 4
_TEXT_TYPES = frozenset({"text/plain", "text/html"})
# Told in the text of a message even where they have a file name: invitations, and the fields of reports.
_TOLD_TYPES = frozenset(
    {
        "application/ics",
        "message/delivery-status",
        "message/disposition-notification",
        "message/feedback-report",
        "text/calendar",
    }
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_DATE = datetime(9999, 12, 31, tzinfo=UTC)
# Primary is CATEGORY_PERSONAL; Promotions, Social and Forums are the categories whose mail makes no task.
_LABELS_OF_ARRIVAL = frozenset({"INBOX", "CATEGORY_PERSONAL"})
_LABELS_OF_HIDING = frozenset({"SPAM", "TRASH", "DRAFT", "CATEGORY_PROMOTIONS", "CATEGORY_SOCIAL", "CATEGORY_FORUMS"})


@dataclass(frozen=True, slots=True)
class LargeText:
    """A text part whose content has to be asked for by itself. Its id is good for this answer only."""

    attachment_id: str
    size: int


@dataclass(frozen=True, slots=True)
class WholeMessage:
    """What was downloaded of a message: Google's dict, and its large texts by their attachment ids."""

    answer: Answer = field(repr=False)
    texts: Mapping[str, bytes] = field(repr=False)


@dataclass(frozen=True, slots=True)
class HeadersAlone:
    """Google's dict of a message that is too large, without content; see ``drop_content``."""

    answer: Answer = field(repr=False)


Download = WholeMessage | HeadersAlone


# --- pages ---------------------------------------------------------------------------------------------------------


def read_profile(answer: Answer) -> Profile:
    """Read the answer of getProfile; raises ``GmailUnreachable`` when it is none."""
    return Profile(address=_text(answer, "emailAddress"), history_id=_read_history_id(answer))


def read_history_page(answer: Answer) -> HistoryPage:
    """Read a page of history.list, which may hold nothing but a token for the next.

    ``added`` comes from messagesAdded. ``arrived`` comes from label records alone, because mail taken out of spam,
    trash, the archive or a category gets no other: INBOX or CATEGORY_PERSONAL (Primary) was put on, or SPAM, TRASH,
    DRAFT or the category of Promotions, Social or Forums was taken off.
    """
    added: dict[str, MessageId] = {}
    arrived: dict[str, MessageId] = {}
    for record in _dicts(answer, "history"):
        for change in _dicts(record, "messagesAdded"):
            _note(added, change)
        for change in _dicts(record, "labelsAdded"):
            if not _LABELS_OF_ARRIVAL.isdisjoint(_texts(change, "labelIds")):
                _note(arrived, change)
        for change in _dicts(record, "labelsRemoved"):
            if not _LABELS_OF_HIDING.isdisjoint(_texts(change, "labelIds")):
                _note(arrived, change)
    return HistoryPage(
        added=tuple(added.values()),
        arrived=tuple(arrived.values()),
        history_id=_read_history_id(answer),
        next_page=_text(answer, "nextPageToken") or None,
    )


def read_listing_page(answer: Answer) -> ListingPage:
    """Read a page of messages.list; without messages it is the empty page."""
    found: dict[str, MessageId] = {}
    for message in _dicts(answer, "messages"):
        _note(found, {"message": message})
    return ListingPage(messages=tuple(found.values()), next_page=_text(answer, "nextPageToken") or None)


def _note(found: dict[str, MessageId], change: Answer) -> None:
    message = change.get("message")
    if isinstance(message, dict) and (message_id := _text(message, "id")):
        found[message_id] = MessageId(message_id, _text(message, "threadId") or message_id)


def _read_history_id(answer: Answer) -> int:
    try:
        return parse_history_id(_text(answer, "historyId"))
    except ValueError:
        raise GmailUnreachable("Gmail's answer has no historyId in it.") from None


# --- messages ------------------------------------------------------------------------------------------------------


def list_large_texts(answer: Answer) -> tuple[LargeText, ...]:
    """The text parts of a message that have to be asked for by themselves, within the limits above.

    A text with a file name is one of them only where no text without one is: some mail programs name the body itself.
    """
    parts = list(_walk(_dict(answer, "payload")))
    bodies = [part for part in parts if _kind(part) in _TEXT_TYPES and not _text(part, "filename")] or [
        part for part in parts if _kind(part) in _TEXT_TYPES and not _is_marked_as_file(part)
    ]
    wanted = (
        LargeText(attachment_id, size)
        for part in [*bodies, *(part for part in parts if _kind(part) in _TOLD_TYPES)]
        if not _text(_dict(part, "body"), "data")
        and (attachment_id := _text(_dict(part, "body"), "attachmentId"))
        and (size := _number(_dict(part, "body"), "size")) <= MAX_TEXT_BYTES
    )
    return tuple(text for text, _ in zip(wanted, range(MAX_TEXT_READS), strict=False))


def read_attachment(answer: Answer) -> bytes:
    """Read the answer of messages.attachments.get."""
    return decode_base64url(_text(answer, "data"))


def find_size(answer: Answer) -> int:
    """Gmail's estimate of the whole message in bytes; 0 when there is none."""
    return _number(answer, "sizeEstimate")


def drop_content(answer: Answer) -> HeadersAlone:
    """What is read of a message that is too large, whether its content came along or not."""
    payload = answer.get("payload")
    if isinstance(payload, dict):
        payload = {key: value for key, value in payload.items() if key not in {"body", "parts"}}
    return HeadersAlone({**answer, "payload": payload})


def read_download(download: Download) -> Message:
    """Read a message, as an answer of messages.get or one message of threads.get.

    Of a large text that was not downloaded the text says that it is left out. Raises ``UnreadableMessage``.
    """
    answer = download.answer
    message_id, thread_id = _text(answer, "id"), _text(answer, "threadId")
    for name, value in (("id", message_id), ("threadId", thread_id)):
        if not re.fullmatch(GMAIL_ID, value):
            raise UnreadableMessage(f"Gmail's answer has no usable {name}.", reason=f"no_{name}")
    if not isinstance(answer.get("payload"), dict):
        raise UnreadableMessage("Gmail's answer has no payload.", reason="no_payload")
    read, texts = (read_message, download.texts) if isinstance(download, WholeMessage) else (read_headers, {})
    return read(
        message_id=message_id,
        thread_id=thread_id,
        labels=frozenset(_texts(answer, "labelIds")),
        internal_date=read_internal_date(_text(answer, "internalDate")),
        size=find_size(answer),
        root=_part(answer["payload"], texts, MAX_DEPTH),
    )


def read_internal_date(text: str) -> datetime:
    """Milliseconds since 1970 as a moment in UTC, brought in range; 1970 itself for what is no such number."""
    if not re.fullmatch(r"-?[0-9]{1,30}", text):
        return _EPOCH
    longest = (_LAST_DATE - _EPOCH) // timedelta(milliseconds=1)
    return _EPOCH + timedelta(milliseconds=max(0, min(int(text), longest)))


def decode_base64url(text: str) -> bytes:
    """Bytes from base64 of either alphabet, with or without padding; foreign characters and a stray end are dropped."""
    clean = re.sub(r"[^A-Za-z0-9_-]", "", text.replace("+", "-").replace("/", "_"))
    if len(clean) % 4 == 1:
        clean = clean[:-1]
    return base64.urlsafe_b64decode(clean + "=" * (-len(clean) % 4))


def _part(payload: Answer, texts: Mapping[str, bytes], depth: int) -> Part:
    body = _dict(payload, "body")
    encoded = body.get("data")
    data = decode_base64url(encoded) if isinstance(encoded, str) else texts.get(_text(body, "attachmentId"))
    return Part(
        mime_type=_kind(payload),
        filename=_text(payload, "filename"),
        headers=tuple(Header(_text(each, "name"), _text(each, "value")) for each in _dicts(payload, "headers")),
        data=data,
        size=_number(body, "size"),
        parts=tuple(_part(each, texts, depth - 1) for each in _dicts(payload, "parts")) if depth > 0 else (),
    )


def _kind(payload: Answer) -> str:
    return _text(payload, "mimeType").lower()


def _is_marked_as_file(payload: Answer) -> bool:
    headers = ((_text(each, "name").lower(), _text(each, "value")) for each in _dicts(payload, "headers"))
    return any(name == "content-disposition" and value.lower().startswith("attachment") for name, value in headers)


def _walk(payload: Answer) -> Iterator[Answer]:
    waiting = [payload]
    while waiting:
        part = waiting.pop()
        yield part
        waiting.extend(reversed(_dicts(part, "parts")))


# --- keys that may be absent, or of another type than Google's ----------------------------------------------------


def _text(answer: Answer, key: str) -> str:
    value = answer.get(key)
    return value if isinstance(value, str) else ""


def _number(answer: Answer, key: str) -> int:
    value = answer.get(key)
    return max(0, value) if isinstance(value, int) else 0


def _dict(answer: Answer, key: str) -> Answer:
    value = answer.get(key)
    return value if isinstance(value, dict) else {}


def _dicts(answer: Answer, key: str) -> list[dict[str, Any]]:
    value = answer.get(key)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _texts(answer: Answer, key: str) -> list[str]:
    value = answer.get(key)
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
