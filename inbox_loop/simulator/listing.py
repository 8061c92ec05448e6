"""Listings of messages and threads, newest first, page by page.

Lives here: which messages a listing shows, and its page tokens. Not here: the search language (``search.py``).

A page token holds the position of the last message shown, so that mail that arrives meanwhile moves nothing. The
estimate of results is as rough as Gmail's: exact on a listing of one page, a round number otherwise.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from inbox_loop.simulator.parameters import Parameters
from inbox_loop.simulator.payload import snippet
from inbox_loop.simulator.problems import invalid_argument
from inbox_loop.simulator.search import parse_query
from inbox_loop.simulator.store import Account, StoredMessage

ROUGH_ESTIMATE = 201
_HIDDEN = frozenset({"SPAM", "TRASH"})

Condition = Callable[[StoredMessage], bool]


def list_messages(account: Account, _ids: tuple[str, ...], parameters: Parameters) -> dict[str, Any]:
    """users.messages.list."""
    with account.reading():
        matching = filter(_condition(account, parameters), account.newest_first(_start(parameters)))
        page, token = _cut(matching, parameters)
        return _page_json("messages", [{"id": m.message_id, "threadId": m.thread_id} for m in page], token, parameters)


def list_threads(account: Account, _ids: tuple[str, ...], parameters: Parameters) -> dict[str, Any]:
    """users.threads.list: each thread once, at the place of its newest matching message."""
    with account.reading():
        matches = _condition(account, parameters)

        def is_newest(message: StoredMessage) -> bool:
            others = account.find_thread(message.thread_id)
            return not any(_position(other) > _position(message) and matches(other) for other in others)

        newest = (m for m in account.newest_first(_start(parameters)) if matches(m) and is_newest(m))
        page, token = _cut(newest, parameters)
        return _page_json("threads", [_thread_json(account, message) for message in page], token, parameters)


def encode_token(number: int, text: str) -> str:
    """An opaque page token."""
    return base64.urlsafe_b64encode(f"{number}:{text}".encode()).decode("ascii").rstrip("=")


def decode_token(token: str) -> tuple[int, str]:
    """Read a page token; raises Gmail's 400."""
    try:
        number, _, text = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode("ascii").partition(":")
        return int(number), text
    except (binascii.Error, ValueError) as error:
        raise invalid_argument("Invalid pageToken") from error


def _condition(account: Account, parameters: Parameters) -> Condition:
    """What a message must be to be shown; spam and trash only where they are asked for."""
    query = parse_query(parameters.text("q"), account.labels.find_query_id)
    label_ids = frozenset(parameters.texts("labelIds"))
    for label_id in label_ids:
        if account.labels.find(label_id) is None:
            raise invalid_argument(f"Invalid label: {label_id}")
    hidden = frozenset[str]() if parameters.flag("includeSpamTrash") else _HIDDEN - query.reaches - label_ids

    def matches(message: StoredMessage) -> bool:
        return label_ids.issubset(message.labels) and hidden.isdisjoint(message.labels) and query.matches(message)

    return matches


def _start(parameters: Parameters) -> tuple[int, str] | None:
    token = parameters.text("pageToken")
    return decode_token(token) if token else None


def _cut(matching: Iterable[StoredMessage], parameters: Parameters) -> tuple[list[StoredMessage], str | None]:
    """The messages of one page, and the token of the next if there is one."""
    size = parameters.page_size()
    found = list(islice(matching, size + 1))
    if len(found) <= size:
        return found, None
    return found[:size], encode_token(*_position(found[size - 1]))


def _position(message: StoredMessage) -> tuple[int, str]:
    return message.internal_ms, message.message_id


def _page_json(key: str, items: list[dict[str, Any]], token: str | None, parameters: Parameters) -> dict[str, Any]:
    answer: dict[str, Any] = {key: items} if items else {}
    if token is not None:
        answer["nextPageToken"] = token
    is_whole = token is None and not parameters.text("pageToken")
    answer["resultSizeEstimate"] = len(items) if is_whole else ROUGH_ESTIMATE
    return answer


def _thread_json(account: Account, message: StoredMessage) -> dict[str, Any]:
    messages = account.find_thread(message.thread_id)
    return {
        "id": message.thread_id,
        "snippet": snippet(message.parse()),
        "historyId": str(max(m.history_id for m in messages)),
    }
