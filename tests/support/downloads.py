"""Messages as they come from Gmail, not read yet."""

from __future__ import annotations

import base64
from typing import Any

from inbox_loop.gmail.wire import Answer, WholeMessage


def leaf(content: bytes, mime_type: str = "text/plain") -> dict[str, Any]:
    """A part with its content in it."""
    data = base64.urlsafe_b64encode(content).decode()
    return {"mimeType": mime_type, "headers": [], "body": {"data": data, "size": len(content)}}


def whole(payload: Answer, message_id: str = "1a") -> WholeMessage:
    """A message of this payload."""
    return WholeMessage(
        {"id": message_id, "threadId": message_id, "internalDate": "1764504000123", "payload": payload}, {}
    )


def plain(text: str, message_id: str = "1a") -> WholeMessage:
    """A message of this text."""
    return whole(leaf(text.encode()), message_id)


def slow(parts: int = 1000) -> WholeMessage:
    """20 MB of HTML in a thousand parts: seconds of work, and most of it in libraries that do not look up."""
    part = leaf(b"<p>all <b>work</b> and no play</p>\n" * 600, "text/html")
    return whole({"mimeType": "multipart/mixed", "headers": [], "parts": [part] * parts})


def large(size: int) -> WholeMessage:
    """A message of one text of so many bytes."""
    return whole(leaf(b"all work and no play\n" * (size // 21)))
