"""A tree of parts to a ``Message``: the one way in.

Lives here: what is read, within which limits, and the promise that every text comes out clean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from inbox_loop.errors import UnreadableMessage
from inbox_loop.message.addresses import read_header
from inbox_loop.message.body import BodyReader, list_attachments
from inbox_loop.message.clean import Cleaned, clean_line, clean_text
from inbox_loop.message.mime import Part, walk
from inbox_loop.message.model import Attachment, Header, Message

UNNAMED = "(no name)"

# Beyond these, a message is unreadable: no mail that a person wrote comes near them.
MAX_PARTS = 2000
MAX_DEPTH = 60
# Beyond these, the rest is left out.
MAX_HEADERS = 1000
MAX_HEADER_CHARACTERS = 64 * 1024
MAX_NAME_CHARACTERS = 1000


def read_message(
    *, message_id: str, thread_id: str, labels: Iterable[str], internal_date: datetime, size: int, root: Part
) -> Message:
    """Read the message whose body is ``root``. ``internal_date`` in UTC, ``size`` in bytes, both as Gmail says.

    Whatever the parts hold, a ``Message`` comes out. Raises ``UnreadableMessage`` only for a tree past the limits
    above, with the reason ``too_many_parts`` or ``too_deep``.
    """
    _check_limits(root)
    text = clean_text(BodyReader().read(root))
    headers = [(clean_line(header.name), _read_value(header)) for header in root.headers[:MAX_HEADERS]]
    attachments = [
        (clean_line(found.name), clean_line(found.mime_type), found.size) for found in list_attachments(root)
    ]
    kind = clean_line(root.kind)
    cleaned = (text, kind, *_flatten(headers), *_flatten((name, mime_type) for name, mime_type, _ in attachments))
    return Message(
        message_id=message_id,
        thread_id=thread_id,
        labels=frozenset(labels),
        internal_date=internal_date,
        size=size,
        headers=tuple(Header(name.text, value.text) for name, value in headers),
        text=text.text.strip("\n") if text.text.strip() else "",
        mime_type=kind.text,
        attachments=tuple(
            Attachment(name.text[:MAX_NAME_CHARACTERS] or UNNAMED, mime_type.text, max(size, 0))
            for name, mime_type, size in attachments
        ),
        cleaned=sum(each.changes for each in cleaned),
    )


def _check_limits(root: Part) -> None:
    for count, (depth, _) in enumerate(walk(root), start=1):
        if count > MAX_PARTS:
            raise UnreadableMessage(f"the message has more than {MAX_PARTS} parts", reason="too_many_parts")
        if depth > MAX_DEPTH:
            raise UnreadableMessage(f"the message is nested more than {MAX_DEPTH} parts deep", reason="too_deep")


def _read_value(header: Header) -> Cleaned:
    return clean_line(read_header(header.name, header.value[:MAX_HEADER_CHARACTERS]))


def _flatten(pairs: Iterable[tuple[Cleaned, Cleaned]]) -> Iterator[Cleaned]:
    for first, second in pairs:
        yield first
        yield second
