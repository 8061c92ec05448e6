"""The bytes of a whole mail (RFC 5322) to a tree of parts.

Lives here: the use of Python's parser, for a forwarded mail that Gmail did not take apart itself. Not here: Google's
dict (``gmail/wire.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message as ParsedMail
from email.policy import compat32

from inbox_loop.message.mime import Part
from inbox_loop.message.model import Header
from inbox_loop.message.transfer import find_encoding, undo_encoding

# What comes after is left out. Gmail takes a forwarded mail apart itself, unless it was odd or very large.
MAX_PARSED_BYTES = 1024 * 1024
# Deeper parts are left out. Python's parser recurses once a level, and so does what is below.
MAX_PARSED_DEPTH = 40
# Further parts are left out; as many as a message itself may have.
MAX_PARSED_PARTS = 2000

_ENCODING_HEADER = "Content-Transfer-Encoding"


def parse_mail(data: bytes) -> Part | None:
    """Take the bytes of a mail apart, up to the limits above; None if it is nested so deep that it can't be."""
    try:
        return _Converter().convert(message_from_bytes(data[:MAX_PARSED_BYTES], policy=compat32), len(data), 0)
    except RecursionError:
        return None


class _Converter:
    """Makes our tree of the one that Python's parser made of a mail, and counts its parts."""

    def __init__(self) -> None:
        self._parts_left = MAX_PARSED_PARTS

    def convert(self, parsed: ParsedMail, size: int, depth: int) -> Part:
        self._parts_left -= 1
        headers = tuple(Header(name, str(value)) for name, value in parsed.raw_items())
        encoding = str(parsed.get(_ENCODING_HEADER, ""))
        kind = parsed.get_content_type()
        if not parsed.is_multipart():
            data = undo_encoding(_read_content(parsed), encoding)
            return Part(kind, "", headers, data, len(data))
        if parsed.get_content_maintype() == "message" and find_encoding(encoding) == "base64":
            # Forbidden (RFC 2046, section 5.2.1), and done: whoever parsed it took the digits for the mail.
            data = undo_encoding(b"\n".join(map(_read_content, _children(parsed))), encoding)
            return Part(kind, "", headers, data, len(data))
        parts = tuple(self._convert_children(parsed, depth)) if depth < MAX_PARSED_DEPTH else ()
        return Part(kind, "", headers, None, size, parts)

    def _convert_children(self, parsed: ParsedMail, depth: int) -> Iterator[Part]:
        for child in _children(parsed):
            if self._parts_left == 0:
                return
            yield self.convert(child, 0, depth + 1)


def _children(parsed: ParsedMail) -> Iterator[ParsedMail]:
    return (child for child in parsed.get_payload() if isinstance(child, ParsedMail))


def _read_content(parsed: ParsedMail) -> bytes:
    """The bytes of a leaf as they came. The parser undoes an encoding only if it is named without a blemish."""
    del parsed[_ENCODING_HEADER]
    content = parsed.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""
