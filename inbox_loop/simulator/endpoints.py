"""What each method of the API answers, as JSON values.

Lives here: one function a method, each handed the mailbox, the ids in the path and the parameters.
Not here: paths and parameter names (``routes.py``), listing (``listing.py``), payload trees (``payload.py``).
"""

from __future__ import annotations

import re
from typing import Any

from inbox_loop.simulator.history import KEYS_BY_TYPE
from inbox_loop.simulator.listing import decode_token, encode_token
from inbox_loop.simulator.mime import parse_message
from inbox_loop.simulator.parameters import Parameters
from inbox_loop.simulator.payload import (
    encode_body,
    find_attachment,
    full_payload,
    is_padded,
    metadata_payload,
    snippet,
)
from inbox_loop.simulator.problems import invalid_argument, not_found
from inbox_loop.simulator.store import Account, StoredMessage

Json = dict[str, Any]
_ID = re.compile(r"[0-9a-f]{1,16}", re.IGNORECASE)
_FORMATS = ("full", "metadata", "minimal", "raw")


def get_profile(account: Account, _ids: tuple[str, ...], _parameters: Parameters) -> Json:
    """users.getProfile."""
    with account.reading():
        return {
            "emailAddress": account.address,
            "messagesTotal": account.message_count,
            "threadsTotal": account.thread_count,
            "historyId": str(account.history_id),
        }


def list_labels(account: Account, _ids: tuple[str, ...], _parameters: Parameters) -> Json:
    """users.labels.list."""
    with account.reading():
        return {"labels": [label.as_json() for label in account.labels.all()]}


def get_label(account: Account, ids: tuple[str, ...], _parameters: Parameters) -> Json:
    """users.labels.get: the label with its counts."""
    with account.reading():
        label = account.labels.find(ids[0])
        if label is None:
            raise not_found()
        carrying = [m for m in account.newest_first(None) if label.label_id in m.labels]
        unread = [m for m in carrying if "UNREAD" in m.labels]
        return label.as_json() | {
            "messagesTotal": len(carrying),
            "messagesUnread": len(unread),
            "threadsTotal": len({m.thread_id for m in carrying}),
            "threadsUnread": len({m.thread_id for m in unread}),
        }


def get_message(account: Account, ids: tuple[str, ...], parameters: Parameters) -> Json:
    """users.messages.get."""
    _check_id(ids[0])
    wanted_format = parameters.choice("format", _FORMATS, "full")
    return _message_json(account.find(ids[0].lower()), wanted_format, parameters.texts("metadataHeaders"))


def get_thread(account: Account, ids: tuple[str, ...], parameters: Parameters) -> Json:
    """users.threads.get."""
    _check_id(ids[0])
    wanted_format = parameters.choice("format", _FORMATS[:3], "full")
    messages = account.find_thread(ids[0].lower())
    headers = parameters.texts("metadataHeaders")
    return {
        "id": messages[0].thread_id,
        "historyId": str(max(message.history_id for message in messages)),
        "messages": [_message_json(message, wanted_format, headers) for message in messages],
    }


def get_attachment(account: Account, ids: tuple[str, ...], _parameters: Parameters) -> Json:
    """users.messages.attachments.get."""
    _check_id(ids[0])
    message = account.find(ids[0].lower())
    data = find_attachment(message.parse(), ids[1], message.message_id)
    if data is None:
        raise invalid_argument("Invalid attachment token")
    return {"size": len(data), "data": encode_body(data, padded=is_padded(message.message_id))}


def list_history(account: Account, _ids: tuple[str, ...], parameters: Parameters) -> Json:
    """users.history.list."""
    start = parameters.number("startHistoryId")
    types = parameters.texts("historyTypes") or tuple(KEYS_BY_TYPE)
    for name in types:
        if name not in KEYS_BY_TYPE:
            raise invalid_argument(f"Invalid value for parameter historyTypes: {name!r}")
    token = parameters.text("pageToken")
    after = decode_token(token)[0] if token else start
    with account.reading():
        if not account.history.is_known_start(start):
            raise not_found()
        page = account.history.page(
            after,
            keys={KEYS_BY_TYPE[name] for name in types},
            label_id=parameters.text("labelId") or None,
            limit=parameters.page_size(),
        )
        answer: Json = {"history": page.records} if page.records else {}
        if page.next_after is not None:
            answer["nextPageToken"] = encode_token(page.next_after, "")
        return answer | {"historyId": str(account.history_id)}


def _check_id(text: str) -> None:
    if not _ID.fullmatch(text):
        raise invalid_argument("Invalid id value")


def _message_json(message: StoredMessage, wanted_format: str, wanted_headers: tuple[str, ...]) -> Json:
    raw = message.raw
    answer: Json = {"id": message.message_id, "threadId": message.thread_id}
    if message.labels:
        answer["labelIds"] = list(message.labels)
    root = parse_message(raw)
    answer["snippet"] = snippet(root)
    match wanted_format:
        case "full":
            answer["payload"] = full_payload(root, message.message_id)
        case "metadata":
            answer["payload"] = metadata_payload(root, wanted_headers)
        case "raw":
            answer["raw"] = encode_body(raw, padded=is_padded(message.message_id))
    return answer | {
        "sizeEstimate": len(raw),
        "historyId": str(message.history_id),
        "internalDate": str(message.internal_ms),
    }
