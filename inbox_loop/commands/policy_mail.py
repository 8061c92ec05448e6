"""Mail on disk, read as the loop would read it: taken apart as Gmail does, then read under the same limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from inbox_loop.errors import UnreadableMessage
from inbox_loop.gmail.wire import Answer, Download, WholeMessage, drop_content, list_large_texts
from inbox_loop.message.model import Message
from inbox_loop.simulator.mail import FoundMail, read_mail
from inbox_loop.simulator.mime import RawPart, parse_message
from inbox_loop.simulator.payload import find_attachment, full_payload

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ReadMail:
    """One mail, or why it could not be read."""

    date: datetime
    result: Message | UnreadableMessage


def list_mail(path: Path, read: Callable[[Download], Message], *, max_message_bytes: int) -> Iterator[ReadMail]:
    """Every mail under ``path``; of one that is larger than the limit, only the headers.

    Their message ids are made up. Raises ``MailUnavailable``, and what ``read`` does but ``UnreadableMessage``.
    """
    for number, found in enumerate(read_mail(path), start=1):
        try:
            result: Message | UnreadableMessage = read(_take_apart(found, f"{number:016x}", max_message_bytes))
        except UnreadableMessage as failure:
            result = failure
        yield ReadMail(found.internal_date, result)


def _take_apart(found: FoundMail, message_id: str, max_message_bytes: int) -> Download:
    root = parse_message(found.raw)
    answer = _answer(found, root, message_id)
    if len(found.raw) > max_message_bytes:
        return drop_content(answer)
    texts = {
        text.attachment_id: find_attachment(root, text.attachment_id, message_id) or b""
        for text in list_large_texts(answer)
    }
    return WholeMessage(answer, texts)


def _answer(found: FoundMail, root: RawPart, message_id: str) -> Answer:
    """What Gmail would answer of the message."""
    return {
        "id": message_id,
        "threadId": found.thread_id or message_id,
        "labelIds": list(found.labels),
        "internalDate": str((found.internal_date - _EPOCH) // timedelta(milliseconds=1)),
        "sizeEstimate": len(found.raw),
        "payload": full_payload(root, message_id),
    }
