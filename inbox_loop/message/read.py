"""A tree of parts to a ``Message``: the one way in.

Lives here: what is read, within which limits, and the promise that every text comes out clean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import islice

from inbox_loop.errors import UnreadableMessage
from inbox_loop.message.addresses import read_header
from inbox_loop.message.body import BodyReader, describe_size, list_attachments
from inbox_loop.message.clean import Cleaned, clean_line, clean_text
from inbox_loop.message.mime import Part, walk
from inbox_loop.message.model import Attachment, Header, Message, Unquoted
from inbox_loop.message.quote_signs import is_programs_signature
from inbox_loop.message.readable import Readable
from inbox_loop.message.standing import Standing, find_standing

UNNAMED = "(no name)"
TOO_LARGE = "[This message, {size}, is too large to be read here. All of it is in Gmail.]"

# Beyond these, a message is unreadable: no mail that a person wrote comes near them.
MAX_PARTS = 2000
MAX_DEPTH = 60
# Beyond these, the rest is left out.
MAX_HEADERS = 1000
MAX_HEADER_CHARACTERS = 64 * 1024
# Of all headers together: lists of addresses are read more than once.
MAX_HEADERS_CHARACTERS = 512 * 1024
MAX_NAME_CHARACTERS = 1000


def read_message(
    *, message_id: str, thread_id: str, labels: Iterable[str], internal_date: datetime, size: int, root: Part
) -> Message:
    """Read the message whose body is ``root``. ``internal_date`` in UTC, ``size`` in bytes, both as Gmail says.

    Whatever the parts hold, a ``Message`` comes out. Raises ``UnreadableMessage`` only for a tree past the limits
    above, with the reason ``too_many_parts`` or ``too_deep``.
    """
    _check_limits(root)
    headers = [(clean_line(header.name), _read_value(header)) for header in _bound_headers(root.headers)]
    body = BodyReader(_find_standing(root)).read(root)
    text = clean_text(body.full)
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
        text=_trim(text.text),
        mime_type=kind.text,
        attachments=tuple(
            Attachment(name.text[:MAX_NAME_CHARACTERS] or UNNAMED, mime_type.text, max(size, 0))
            for name, mime_type, size in attachments
        ),
        cleaned=body.changes + sum(each.changes for each in cleaned),
        unquoted=_find_unquoted(body),
    )


def read_headers(
    *, message_id: str, thread_id: str, labels: Iterable[str], internal_date: datetime, size: int, root: Part
) -> Message:
    """Read of a message only its headers, because ``size`` is over the limit; its text says so.

    Content of ``root``, if it has any, is not looked at, so that no ``UnreadableMessage`` is raised.
    """
    message = read_message(
        message_id=message_id,
        thread_id=thread_id,
        labels=labels,
        internal_date=internal_date,
        size=size,
        root=Part(root.mime_type, "", root.headers, b"", 0),
    )
    return replace(message, text=TOO_LARGE.format(size=describe_size(size)), attachments=(), headers_only=True)


def _find_standing(root: Part) -> Standing:
    subject = read_header("Subject", root.find_header("Subject")[:MAX_HEADER_CHARACTERS])
    return find_standing(subject, root.find_header("In-Reply-To") or root.find_header("References"))


def _find_unquoted(body: Readable) -> Unquoted | None:
    """None if nothing was cut, and if nothing would be left: then the quote is all that was sent."""
    text = _trim(clean_text(body.new).text)
    return Unquoted(text, body.cut_characters) if body.cut_characters and _says_more_than_signature(text) else None


def _says_more_than_signature(text: str) -> bool:
    own, _, _ = f"\n{text}\n".partition("\n-- \n")
    return any(line.strip() and not is_programs_signature(line) for line in own.splitlines())


def _trim(text: str) -> str:
    return text.strip("\n") if text.strip() else ""


def _check_limits(root: Part) -> None:
    for count, (depth, _) in enumerate(walk(root), start=1):
        if count > MAX_PARTS:
            raise UnreadableMessage(f"the message has more than {MAX_PARTS} parts", reason="too_many_parts")
        if depth > MAX_DEPTH:
            raise UnreadableMessage(f"the message is nested more than {MAX_DEPTH} parts deep", reason="too_deep")


def _bound_headers(headers: Iterable[Header]) -> Iterator[Header]:
    left = MAX_HEADERS_CHARACTERS
    for header in islice(headers, MAX_HEADERS):
        name = header.name[:MAX_NAME_CHARACTERS]
        value = header.value[: min(left, MAX_HEADER_CHARACTERS)]
        left -= len(value)
        yield Header(name, value)


def _read_value(header: Header) -> Cleaned:
    return clean_line(read_header(header.name, header.value))


def _flatten(pairs: Iterable[tuple[Cleaned, Cleaned]]) -> Iterator[Cleaned]:
    for first, second in pairs:
        yield first
        yield second
