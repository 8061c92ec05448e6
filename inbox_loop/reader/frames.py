"""What goes through the pipes between the program and the process that reads: a length, then the content.

Lives here: the two kinds of frame and how they are packed. Not here: the pipes (``process.py``, ``child.py``).

A request is a pickle: the program itself wrote it, and nobody else can. A reply comes from a process that has just
chewed on hostile mail, and to unpickle is to run what one is told. So a reply is JSON, checked field by field.
"""

from __future__ import annotations

import pickle
import struct
from dataclasses import dataclass
from typing import cast

from pydantic import TypeAdapter, ValidationError

from inbox_loop.errors import UnreadableMessage
from inbox_loop.gmail.wire import Download
from inbox_loop.message.model import Message
from inbox_loop.reader.limits import READER_CRASHED

LENGTH = struct.Struct(">Q")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """In place of a message: why there is none. The words and code of an ``UnreadableMessage``."""

    message: str
    reason: str


Reply = Message | Unreadable

_REPLY: TypeAdapter[Reply] = TypeAdapter(Reply)


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
    return _frame(_REPLY.dump_json(reply))


def open_reply(content: bytes) -> Message:
    """The message in the content of a frame that ``pack_reply`` made.

    Raises ``UnreadableMessage`` where the reply says why there is none, or is no reply.
    """
    try:
        reply = _REPLY.validate_json(content)
    except ValidationError:
        # Not chained: pydantic's error quotes what it was given, which is mail.
        raise UnreadableMessage("The process that read the message crashed.", reason=READER_CRASHED) from None
    if isinstance(reply, Unreadable):
        raise UnreadableMessage(reply.message, reason=reply.reason)
    return reply


def _frame(content: bytes) -> bytes:
    return LENGTH.pack(len(content)) + content
