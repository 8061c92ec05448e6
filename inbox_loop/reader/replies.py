"""What the program makes of a reply: a message, or why there is none.

Apart from ``frames.py``, because the process that reads would start half as fast with the library that checks.
"""

from __future__ import annotations

from pydantic import TypeAdapter, ValidationError

from inbox_loop.errors import UnreadableMessage
from inbox_loop.message.model import Message
from inbox_loop.reader.frames import Reply, Unreadable
from inbox_loop.reader.limits import READER_CRASHED

_REPLY: TypeAdapter[Reply] = TypeAdapter(Reply)


def open_reply(content: bytes) -> Message:
    """The message in the content of a frame that ``pack_reply`` made.

    Raises ``UnreadableMessage`` where the reply says why there is none, or is no reply.
    """
    try:
        reply = _REPLY.validate_json(content)
    except ValidationError:
        # Not chained: pydantic's error quotes what it was given, which is mail.
        raise UnreadableMessage("The process that read the message gave no answer.", reason=READER_CRASHED) from None
    if isinstance(reply, Unreadable):
        raise UnreadableMessage(reply.message, reason=reply.reason)
    return reply
