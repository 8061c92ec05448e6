"""A message as Gmail's JSON shows it: payload tree, snippet, raw, and what metadata leaves out.

Lives here: the shape of bodies, attachment ids, snippets. Not here: parsing (``mime.py``), ids, labels and history
(``store.py``).

Rules: the root's partId is empty and its children are "0", "1", their children "1.0", "1.1". Text without a file name
carries its bytes in ``body.data``; attachments, and text larger than ``INLINE_LIMIT`` bytes, carry an
``attachmentId`` that differs at each read and is good for its own message alone. Base64url padding comes and goes as it
does at Gmail: here it is left out in messages whose id is odd.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import secrets
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from inbox_loop.simulator.headers import HeaderLine
from inbox_loop.simulator.mime import RawPart

INLINE_LIMIT = 256 * 1024
SNIPPET_LENGTH = 200

_MARKUP = re.compile(r"<(?:style|script|head)\b.*?</(?:style|script|head)\s*>|<[^<>]*>", re.IGNORECASE | re.DOTALL)
_SNIPPET_SOURCE_LENGTH = 8192
_NONCE_BYTES = 12
_TOKEN_MARK = b"p"
_BETWEEN_IDS = "/"


def full_payload(root: RawPart, message_id: str) -> dict[str, Any]:
    """The tree for ``format=full``."""
    return _part_json(root, "", message_id)


def metadata_payload(root: RawPart, wanted_headers: Collection[str]) -> dict[str, Any]:
    """The root's headers for ``format=metadata``; only the wanted ones when any are named."""
    wanted = {name.lower() for name in wanted_headers}
    headers = [header for header in root.headers if not wanted or header.name.lower() in wanted]
    payload: dict[str, Any] = {"mimeType": root.mime_type}
    if headers:
        payload["headers"] = _headers_json(headers)
    return payload


def encode_body(data: bytes, *, padded: bool) -> str:
    """Base64url, with or without padding."""
    text = base64.urlsafe_b64encode(data).decode("ascii")
    return text if padded else text.rstrip("=")


def is_padded(message_id: str) -> bool:
    """Whether this message's bodies keep their base64 padding."""
    return int(message_id, 16) % 2 == 0


def snippet(root: RawPart) -> str:
    """The start of the text, HTML-escaped as Gmail does."""
    for mime_type in ("text/plain", "text/html"):
        part = next((p for p in walk(root) if p.mime_type == mime_type and not p.filename), None)
        if part is not None:
            text = part.data[:_SNIPPET_SOURCE_LENGTH].decode("utf-8", "replace")
            if mime_type == "text/html":
                text = html.unescape(_MARKUP.sub(" ", text))
            return html.escape(" ".join(text.split())[:SNIPPET_LENGTH], quote=True)
    return ""


def walk(root: RawPart) -> Iterator[RawPart]:
    """The part and everything below it, in order."""
    yield root
    for part in root.parts:
        yield from walk(part)


def find_attachment(root: RawPart, attachment_id: str, message_id: str) -> bytes | None:
    """The bytes behind an attachmentId of this message; None when it is another's, or names no part of this one."""
    try:
        token = base64.urlsafe_b64decode(attachment_id + "=" * (-len(attachment_id) % 4))
        mark, name = token[_NONCE_BYTES : _NONCE_BYTES + 1], token[_NONCE_BYTES + 1 :].decode("ascii")
        owner, _, part_id = name.partition(_BETWEEN_IDS)
        steps = [int(step) for step in part_id.split(".")] if part_id else []
    except (binascii.Error, ValueError):
        return None
    if mark != _TOKEN_MARK or owner != message_id:
        return None
    part = root
    for step in steps:
        if not 0 <= step < len(part.parts):
            return None
        part = part.parts[step]
    return part.data


def _part_json(part: RawPart, part_id: str, message_id: str) -> dict[str, Any]:
    answer: dict[str, Any] = {"partId": part_id, "mimeType": part.mime_type, "filename": part.filename}
    if part.headers:
        answer["headers"] = _headers_json(part.headers)
    answer["body"] = _body_json(part, part_id, message_id)
    if part.parts:
        prefix = f"{part_id}." if part_id else ""
        answer["parts"] = [_part_json(p, f"{prefix}{n}", message_id) for n, p in enumerate(part.parts)]
    return answer


def _body_json(part: RawPart, part_id: str, message_id: str) -> dict[str, Any]:
    size = len(part.data)
    if part.mime_type.startswith("multipart/") and part.parts:
        return {"size": 0}
    if not part.data:
        return {"size": 0}
    inline = part.mime_type.startswith(("text/", "multipart/")) and not part.filename and size <= INLINE_LIMIT
    if inline:
        return {"size": size, "data": encode_body(part.data, padded=is_padded(message_id))}
    name = f"{message_id}{_BETWEEN_IDS}{part_id}"
    token = base64.urlsafe_b64encode(secrets.token_bytes(_NONCE_BYTES) + _TOKEN_MARK + name.encode("ascii"))
    return {"attachmentId": token.decode("ascii").rstrip("="), "size": size}


def _headers_json(headers: Sequence[HeaderLine]) -> list[dict[str, str]]:
    return [{"name": header.name, "value": header.value} for header in headers]
