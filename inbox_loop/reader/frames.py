"""What goes through the pipes between the program and the process that reads: a length, then the content.

Lives here: the two kinds of frame and how they are packed. Not here: what the program makes of a reply
(``replies.py``), and the pipes (``process.py``, ``child.py``).

A request is a pickle: the program itself wrote it, and nobody else can. A reply comes from a process that has just
chewed on hostile mail, and to unpickle is to run what one is told. So a reply is JSON, and checked field by field.
"""

from __future__ import annotations

import json
import pickle
import struct
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import cast

from inbox_loop.errors import UnreadableMessage
from inbox_loop.gmail.wire import Download
from inbox_loop.message.model import Message

LENGTH = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """In place of a message: why there is none. The words and code of an ``UnreadableMessage``."""

    message: str
    reason: str


Reply = Message | Unreadable


def pack_request(download: Download) -> bytes:
    """A whole frame. Raises ``UnreadableMessage`` when the answer is nested deeper than can be packed."""
    try:
        return _frame(pickle.dumps(download, protocol=pickle.HIGHEST_PROTOCOL))
    except RecursionError as error:
        raise UnreadableMessage("Gmail's answer is nested too deep to be read.", reason="too_deep") from error


def unpack_request(content: bytes) -> Download:
    """The content of a frame that ``pack_request`` made. For the process that reads, and for nobody else."""
    return cast("Download", pickle.loads(content))  # noqa: S301 - the program wrote it, no one else holds the pipe


def pack_reply(reply: Reply) -> bytes:
    """A whole frame."""
    return _frame(json.dumps(asdict(reply), default=_as_json, ensure_ascii=False).encode())


def _as_json(value: object) -> object:
    """What JSON has no word for."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, frozenset):
        return sorted(value)
    raise TypeError(f"a message holds a {type(value).__name__}")


def _frame(content: bytes) -> bytes:
    return LENGTH.pack(len(content)) + content
