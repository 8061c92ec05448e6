"""What delivery and search need to know of a message, read from its headers once.

Lives here: ``Envelope`` and the subject's base. Not here: the body (``mime.py``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from inbox_loop.simulator.headers import parse_headers
from inbox_loop.simulator.mime import split_headers

_MESSAGE_ID = re.compile(r"<[^<>\s]{1,998}>")
_REPLY_PREFIXES = re.compile(r"(?:\s*+(?:re|aw|sv|fwd?|wg|tr|rv|antw|odp)\s*+(?:\[\d+\]\s*+)?:)+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Envelope:
    """Headers of one message, decoded; empty where absent."""

    subject: str
    sender: str
    recipients: str
    rfc_message_id: str
    references: tuple[str, ...]
    """Message-IDs of In-Reply-To and References, the nearest first."""

    @property
    def subject_base(self) -> str:
        """The subject without reply prefixes, in lower case and single blanks: one conversation has one base."""
        prefixes = _REPLY_PREFIXES.match(self.subject)
        text = self.subject[prefixes.end() :] if prefixes else self.subject
        return " ".join(text.lower().split())


def read_envelope(raw: bytes) -> Envelope:
    """Read the headers; never fails."""
    found: dict[str, list[str]] = {}
    for header in parse_headers(split_headers(raw)[0]):
        found.setdefault(header.name.lower(), []).append(header.value)
    message_ids = _MESSAGE_ID.findall(found.get("message-id", [""])[0])
    references = [
        *_MESSAGE_ID.findall(" ".join(found.get("in-reply-to", []))),
        *reversed(_MESSAGE_ID.findall(" ".join(found.get("references", [])))),
    ]
    return Envelope(
        subject=found.get("subject", [""])[0],
        sender=found.get("from", [""])[0],
        recipients=", ".join(found.get("to", []) + found.get("cc", []) + found.get("bcc", [])),
        rfc_message_id=message_ids[0] if message_ids else "",
        references=tuple(references),
    )
