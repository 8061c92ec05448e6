"""Transfer encodings undone (RFC 2045, section 6): base64, quoted-printable, uuencode.

Lives here: how an encoding is named in real mail, and how it is undone where it is broken. Never fails. Gmail undoes
them itself, so this is for encoded words (``headers.py``) and for a mail that Gmail did not take apart (``raw.py``).
"""

from __future__ import annotations

import base64
import binascii
import quopri
import re

_TOKEN = re.compile(r"[a-z0-9-]++")
_UUENCODE = frozenset({"uuencode", "x-uuencode", "uue", "x-uue"})
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/=]")
_UU_ENDS = (b"end", b"`", b"")


def find_encoding(declared: str) -> str:
    """The encoding that a Content-Transfer-Encoding names, in lower case; senders put quotes and comments around it."""
    match = _TOKEN.search(declared.lower())
    return match[0] if match else ""


def undo_encoding(data: bytes, declared: str) -> bytes:
    """The content of a part encoded as ``declared``; as it is if that is nothing to undo, or nothing known."""
    encoding = find_encoding(declared)
    if encoding == "base64":
        return decode_base64(_without_footer(data))
    if encoding == "quoted-printable":
        return quopri.decodestring(data)
    return _decode_uuencode(data) if encoding in _UUENCODE else data


def decode_base64(data: bytes) -> bytes:
    """Whatever can be read of ``data``: foreign characters skipped, padding made good, and several texts in a row."""
    return b"".join(map(_decode_digits, _NOT_BASE64.sub(b"", data).split(b"=")))


def _decode_digits(digits: bytes) -> bytes:
    if len(digits) % 4 == 1:  # six bits: not even one byte
        digits = digits[:-1]
    return base64.b64decode(digits + b"=" * (-len(digits) % 4))


def _without_footer(data: bytes) -> bytes:
    """Without what a mailing list wrote below: from the first line on, except the first of all, with blanks in it."""
    lines = data.strip().splitlines()
    end = next((number for number, line in enumerate(lines) if number and len(line.split()) > 1), len(lines))
    return b"\n".join(lines[:end])


def _decode_uuencode(data: bytes) -> bytes:
    """What stands between the lines ``begin`` and ``end``; ``data`` as it is if that can't be found or read."""
    lines = data.splitlines()
    begin = next((number for number, line in enumerate(lines) if line.startswith(b"begin ")), len(lines))
    decoded = bytearray()
    for line in lines[begin + 1 :]:
        if line.strip() in _UU_ENDS:
            break
        try:
            decoded += binascii.a2b_uu(line[: _count_uu_characters(line)])
        except binascii.Error:
            return data
    return bytes(decoded) or data


def _count_uu_characters(line: bytes) -> int:
    """How long a line is by the count in its first character; some encoders write more behind it."""
    count = (line[0] - ord(" ")) & 0x3F
    return 1 + (count + 2) // 3 * 4
