"""The external reference: the durable name of one unit of work.

Lives here: the value type ``Ref``, the rule that a ref names the unit of work, and the check at our edges.
Not here: how refs are kept unique (``repository/migrations``).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from inbox_loop.errors import InvalidRef

MAX_LENGTH = 512
GMAIL_ID = r"[0-9a-fA-F]{1,32}"

UNIT_OF_WORK_RULE = (
    "An external_ref must name the unit of work, not just its container. A container id that several asks "
    "share (a thread, a channel, a customer) makes the second ask's upsert return the first ask's task, "
    "already resolved. Compose the ref from something unique to the unit: for mail, "
    "gmail:<threadId>#<messageId>. Refs are compared without regard to case."
)

# ASCII, because without it the Turkish dotted capital I is an i in another case.
_GMAIL = re.compile(rf"gmail:(?P<thread>{GMAIL_ID})#(?P<message>{GMAIL_ID})", re.IGNORECASE | re.ASCII)
_GMAIL_ID = re.compile(GMAIL_ID)
# General categories Cc and Cs.
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Ref:
    """``gmail:<threadId>#<messageId>``: one Gmail message as a unit of work. Ids are Gmail's hex strings."""

    thread_id: str
    message_id: str

    def __post_init__(self) -> None:
        for name, value in (("threadId", self.thread_id), ("messageId", self.message_id)):
            if not _GMAIL_ID.fullmatch(value):
                raise InvalidRef(f"{value!r} is not a Gmail {name}: expected 1 to 32 hexadecimal digits")

    def __str__(self) -> str:
        return f"gmail:{self.thread_id}#{self.message_id}"

    @property
    def container(self) -> str:
        """The thread's own reference: for grouping and search, never for dedup."""
        return f"gmail:{self.thread_id}"

    @classmethod
    def parse(cls, text: str) -> Ref:
        """Read ``gmail:<threadId>#<messageId>``; raises ``InvalidRef`` on anything else."""
        match = _GMAIL.fullmatch(text.strip())
        if match is None:
            raise InvalidRef(f"{text!r} is not of the form gmail:<threadId>#<messageId>", hint=UNIT_OF_WORK_RULE)
        return cls(match["thread"], match["message"])


def check_external_ref(text: str, *, allow_container: bool = False) -> str:
    """Return ``text`` trimmed and in NFC, ready to be stored; any scheme passes, ``stripe:evt_1`` as well.

    A ``gmail`` ref must name the message. ``allow_container`` is for a caller to whom the thread is the unit.
    Raises ``InvalidRef``: empty, over 512 characters, control characters, lone surrogates, container-only.
    """
    if _GMAIL.fullmatch(text):
        return text
    if not text.strip():
        raise InvalidRef("external_ref is empty", hint=UNIT_OF_WORK_RULE)
    ref = normal_ref("external_ref", text)
    if ref.lower().startswith("gmail:") and not _GMAIL.fullmatch(ref):
        if allow_container and re.fullmatch(rf"gmail:{GMAIL_ID}", ref, re.IGNORECASE):
            return ref
        raise InvalidRef(f"{ref!r} does not name a message", hint=UNIT_OF_WORK_RULE)
    return ref


def normal_ref(field: str, text: str) -> str:
    """Return ``text`` trimmed and in NFC, the form in which any ref is kept and looked for.

    Raises ``InvalidRef``, by the name of ``field``: empty, over 512 characters, control characters, lone surrogates.
    """
    ref = unicodedata.normalize("NFC", text.strip())
    if not ref:
        raise InvalidRef(f"{field} is empty")
    if _UNFIT.search(ref):
        raise InvalidRef(f"{field} has control characters or lone surrogates in it")
    if len(ref) > MAX_LENGTH:
        raise InvalidRef(f"{field} is longer than {MAX_LENGTH} characters")
    return ref
