"""What goes through the pipes between the program and the process that reads: a length, then a pickle.

Lives here: the two kinds of frame and how they are packed. Not here: the pipes (``process.py``, ``child.py``).

Pickles are for trusted hands only. A request comes from the program itself. A reply comes from our own code too, but
from a process that has just chewed on hostile mail: of it nothing is unpickled but the plain values named below.
"""

from __future__ import annotations

import io
import pickle
import struct
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import cast

from inbox_loop.errors import UnreadableMessage
from inbox_loop.gmail.wire import Download
from inbox_loop.message.model import Attachment, Header, Message, Unquoted

LENGTH = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """In place of a message: why there is none. The words and code of an ``UnreadableMessage``."""

    message: str
    reason: str


Reply = Message | Unreadable

_ALLOWED = {
    (kind.__module__, kind.__qualname__): kind
    for kind in (Message, Header, Attachment, Unquoted, Unreadable, datetime, timedelta, timezone)
}


def pack_request(download: Download) -> bytes:
    """A whole frame. Raises ``UnreadableMessage`` when the answer is nested deeper than can be packed."""
    try:
        return _pack(download)
    except RecursionError as error:
        raise UnreadableMessage("Gmail's answer is nested too deep to be read.", reason="too_deep") from error


def unpack_request(content: bytes) -> Download:
    """The content of a frame that ``pack_request`` made. For the process that reads, and for nobody else."""
    return cast("Download", pickle.loads(content))  # noqa: S301 - the program wrote it, no one else holds the pipe


def pack_reply(reply: Reply) -> bytes:
    """A whole frame."""
    return _pack(reply)


def unpack_reply(content: bytes) -> Reply:
    """The content of a frame that ``pack_reply`` made. Raises ``UnpicklingError`` and the like for anything else."""
    reply = _PlainValues(io.BytesIO(content)).load()
    if not isinstance(reply, Message | Unreadable):
        raise pickle.UnpicklingError("a reply is neither a message nor why there is none")
    return reply


class _PlainValues(pickle.Unpickler):
    """Makes values of the kinds named above, and calls nothing else."""

    def find_class(self, module: str, name: str) -> type:
        kind = _ALLOWED.get((module, name))
        if kind is None:
            raise pickle.UnpicklingError("a reply holds what no message is made of")
        return kind


def _pack(value: object) -> bytes:
    content = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(content)) + content
