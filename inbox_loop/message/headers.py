"""Header values to text: unfolding, and encoded words (RFC 2047) as they come in real mail.

Lives here: ``decode_header``, and the way back to bytes that were never encoded. Not here: lists of addresses
(``addresses.py``), parameters (``parameters.py``).

Taken as they come: words without white space around them or inside of quotes, with blanks inside, with wrong padding,
of unknown charsets, split in the middle of a character; and text that was never encoded at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby

from inbox_loop.message.charset import decode_labelled, decode_text
from inbox_loop.message.transfer import decode_base64

# RFC 2231 allows a language after the charset: =?utf-8*en?Q?...?=
_WORD = re.compile(r"=\?([^?*\s]*)(?:\*[^?\s]*)?\?([BbQq])\?(.*?)\?=", re.DOTALL)
_WORD_END = "?="
_FOLD = re.compile(r"(?:\r\n|\r|\n)[ \t]*")
_ESCAPED_BYTE = re.compile(rb"=([0-9A-Fa-f]{2})")
_SMUGGLED_BYTE = re.compile("[\udc80-\udcff]")
# Older Japanese mail programs write ISO-2022-JP as it is. Its way into two-byte characters, and back.
_JAPANESE_ESCAPE = re.compile(r"\x1b\$[@B].*\x1b\([BJ]", re.DOTALL)
_OTHER_SURROGATE = re.compile("[\ud800-\udc7f\udd00-\udfff]")


@dataclass(frozen=True, slots=True)
class _Piece:
    """Plain text (``charset`` is None), or the bytes of an encoded word."""

    charset: str | None
    text: str
    data: bytes = b""


def decode_header(raw: str) -> str:
    """The text of a raw header value, unfolded. Never fails; the text may not be clean yet."""
    text = _decode_raw_bytes(_FOLD.sub(" ", raw)).strip()
    if "=?" not in text:
        return text
    decoded: list[str] = []
    # Neighbours of one charset are read together: a word may end in the middle of a character.
    for charset, run in groupby(_split_words(text), key=lambda piece: piece.charset):
        pieces = list(run)
        if charset is None:
            decoded.extend(piece.text for piece in pieces)
        else:
            decoded.append(decode_labelled(b"".join(piece.data for piece in pieces), charset))
    return "".join(decoded)


def restore_bytes(text: str) -> bytes:
    """The bytes of ``text`` in UTF-8, those that a parser smuggled in as surrogates as they were. Never fails."""
    return _OTHER_SURROGATE.sub("\ufffd", text).encode("utf-8", errors="surrogateescape")


def _split_words(text: str) -> list[_Piece]:
    pieces: list[_Piece] = []
    # A word can't begin after the last end of one; not looking there keeps a header of many beginnings quick.
    last = text.rfind(_WORD_END) + len(_WORD_END)
    position = 0
    for match in _WORD.finditer(text, 0, max(last, 0)):
        between = text[position : match.start()]
        if between and not (between.isspace() and pieces):  # blanks between two words only separate them
            pieces.append(_Piece(None, between))
        charset, encoding, payload = match.groups()
        pieces.append(_Piece(charset.lower(), "", _decode_word(encoding, payload)))
        position = match.end()
    if position < len(text):
        pieces.append(_Piece(None, text[position:]))
    return pieces


def _decode_word(encoding: str, payload: str) -> bytes:
    data = payload.encode("utf-8", errors="replace")
    if encoding in "Qq":
        return _ESCAPED_BYTE.sub(lambda match: bytes.fromhex(match[1].decode()), data.replace(b"_", b" "))
    return decode_base64(data)


def _decode_raw_bytes(text: str) -> str:
    """Undo what parsers do with 8-bit headers: bytes smuggled as surrogates, or each as a Latin-1 character."""
    if _SMUGGLED_BYTE.search(text):
        return decode_text(restore_bytes(text), None)
    if text.isascii():
        return decode_text(text.encode(), "iso-2022-jp") if _JAPANESE_ESCAPE.search(text) else text
    try:
        data = text.encode("latin-1")
    except UnicodeEncodeError:  # decoded already
        return text
    return decode_text(data, None)
