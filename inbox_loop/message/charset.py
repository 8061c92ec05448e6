"""Bytes to text, whatever charset they are in, or claim to be in.

Lives here: which reading of some bytes is believed. Never fails. Not here: making the text clean (``clean.py``).

The order of belief:

1. A byte order mark of UTF-32 or UTF-16.
2. The declared charset, where it writes any text in bytes that also pass for UTF-8: the escape-based ISO-2022 and HZ,
   UTF-7, and UTF-16/32 without a mark. Only if the bytes show its traces, because Gmail may hand out bytes already
   converted to UTF-8 under the old declaration. ISO-2022-JP by its escapes, even where it is not declared.
3. UTF-8, if the bytes are valid UTF-8.
4. The declared charset, if the bytes are valid in it.
5. UTF-8 or the declared charset with a few broken bytes, each shown as U+FFFD.
6. windows-1252, else ISO-8859-1: one character for each byte, nothing lost.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

# Longer first: the mark of UTF-32-LE begins with the one of UTF-16-LE.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

# Names seen in mail that Python does not know, or where senders mean the larger charset of the same family.
_ALIASES = {
    "ansi_x3.110-1983": "cp1252",
    "ansi_x3.4-1968": "cp1252",
    "ascii": "cp1252",
    "big5": "big5hkscs",
    "big5-hkscs": "big5hkscs",
    "cp-850": "cp850",
    "cp50220": "iso2022_jp_ext",
    "cp50221": "iso2022_jp_ext",
    "cp936": "gb18030",
    "default": "",
    "euc-kr": "cp949",
    "gb2312": "gb18030",
    "gb_2312-80": "gb18030",
    "gbk": "gb18030",
    "iso-2022-cn": "",
    "iso-8859-1": "cp1252",
    "iso-8859-11": "cp874",
    "iso-8859-6-e": "iso8859_6",
    "iso-8859-6-i": "iso8859_6",
    "iso-8859-8-e": "iso8859_8",
    "iso-8859-8-i": "iso8859_8",
    "iso-8859-9": "cp1254",
    "iso8859-1": "cp1252",
    "iso_8859-1": "cp1252",
    "ks_c_5601": "cp949",
    "ks_c_5601-1987": "cp949",
    "ks_c_5601-1989": "cp949",
    "ksc5601": "cp949",
    "latin1": "cp1252",
    "macintosh": "mac_roman",
    "shift-jis": "cp932",
    "shift_jis": "cp932",
    "sjis": "cp932",
    "tis-620": "cp874",
    "unicode-1-1-utf-7": "utf_7",
    "unicode-1-1-utf-8": "utf_8",
    "unknown": "",
    "unknown-8bit": "",
    "us-ascii": "cp1252",
    "utf-8mb4": "utf_8",
    "utf8mb4": "utf_8",
    "windows-31j": "cp932",
    "windows-874": "cp874",
    "windows-936": "gb18030",
    "windows-949": "cp949",
    "x-euc-jp": "euc_jp",
    "x-gbk": "gb18030",
    "x-mac-ce": "mac_latin2",
    "x-mac-cyrillic": "mac_cyrillic",
    "x-mac-greek": "mac_greek",
    "x-mac-roman": "mac_roman",
    "x-mac-turkish": "mac_turkish",
    "x-sjis": "cp932",
    "x-unknown": "",
    "x-user-defined": "",
    "x-windows-949": "cp949",
    "x-x-big5": "big5hkscs",
}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:+-]{0,63}")
# Codecs of Python that are not charsets of mail: they read escapes or host names, or depend on the machine.
_NOT_CHARSETS = frozenset({"idna", "mbcs", "oem", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})

# What the bytes of each charset of step 2 cannot do without, except in text that is plain ASCII anyway.
_TRACES = (
    ("iso2022_kr", b"\x0e"),
    ("iso2022", b"\x1b"),
    ("hz", b"~{"),
    ("utf-7", b"+"),
    ("utf-16", b"\x00"),
    ("utf-32", b"\x00"),
)
# The larger sets of ISO-2022-JP, tried in turn: mail uses characters that the declared one lacks.
_JAPANESE = ("iso2022_jp_ext", "iso2022_jp_2004", "iso2022_jp_2")
_EAST_ASIAN = frozenset({"big5hkscs", "cp932", "cp949", "euc_jp", "gb18030"})
_FIRST_THREE_BYTE_CHARACTER = "\u0800"
_GOOD_FOR_ONE_BROKEN = 10


def decode_text(data: bytes, declared: str | None) -> str:
    """Read the bytes of a body by the order of belief above. Never fails; the text may not be clean yet."""
    codec = find_codec(declared)
    return (
        _decode_marked(data)
        or _decode_traced(data, codec)
        or _decode_escaped(data)
        or _decode_strictly(data, "utf-8")
        or _decode_strictly(data, codec)
        or _decode_mostly(data, "utf-8")
        or _decode_mostly(data, codec)
        or _decode_strictly(data, "cp1252")
        or data.decode("latin-1")
    )


def decode_labelled(data: bytes, charset: str) -> str:
    """Read the few bytes of an encoded word or an extended parameter. Never fails.

    As ``decode_text``, but an East Asian label is believed before UTF-8 when UTF-8 would give no East Asian character:
    one in sixteen two-character Chinese names in GB2312 also passes for UTF-8, as letters that nobody wrote.
    """
    codec = find_codec(charset)
    if codec in _EAST_ASIAN and max(_decode_strictly(data, "utf-8"), default="") < _FIRST_THREE_BYTE_CHARACTER:
        return _decode_strictly(data, codec) or decode_text(data, charset)
    return decode_text(data, charset)


@lru_cache(maxsize=256)
def find_codec(declared: str | None) -> str:
    """Python's name for a charset declared in a mail; empty when it is none, or not one of text."""
    name = (declared or "").strip().strip("\"'").lower()
    name = _ALIASES.get(name, name)
    if not _NAME.fullmatch(name):
        return ""
    try:
        codec = codecs.lookup(name).name
        spelled = codec.replace("_", "-")
        if spelled in _NOT_CHARSETS:
            return ""
        b"a".decode(codec, errors="replace")
    except LookupError:  # unknown, or a codec that does not give text (base64, zlib)
        return ""
    return _ALIASES.get(spelled, codec)


def _decode_marked(data: bytes) -> str:
    codec = next((codec for mark, codec in _MARKS if data.startswith(mark)), "")
    return _decode_strictly(data, codec)


def _decode_traced(data: bytes, codec: str) -> str:
    trace = next((trace for prefix, trace in _TRACES if codec.startswith(prefix)), None)
    if trace is None or trace not in data:
        return ""
    if codec.startswith("iso2022_jp"):
        return next(filter(None, (_decode_strictly(data, name) for name in (codec, *_JAPANESE))), "") or (
            data.decode("iso2022_jp_ext", errors="replace") if data.isascii() else ""
        )
    return _decode_strictly(data, codec)


def _decode_escaped(data: bytes) -> str:
    """ISO-2022-JP that nobody declared: escapes into two-byte characters and back stand in no other text."""
    begins = any(escape in data for escape in (b"\x1b$B", b"\x1b$@"))
    ends = any(escape in data for escape in (b"\x1b(B", b"\x1b(J"))
    return _decode_strictly(data, "iso2022_jp_ext") if begins and ends and data.isascii() else ""


def _decode_strictly(data: bytes, codec: str) -> str:
    """The text, or empty when the bytes are not valid in this charset."""
    if not codec:
        return ""
    try:
        return data.decode(codec)
    except ValueError:  # UnicodeDecodeError, and what some codecs of Python raise in its place
        return ""


def _decode_mostly(data: bytes, codec: str) -> str:
    """The text with its broken bytes as U+FFFD, if they are few beside the characters that came out well."""
    if not codec:
        return ""
    text = data.decode(codec, errors="replace")
    broken = text.count("\ufffd")
    good = len(text) - broken - sum(map(str.isascii, text))
    return text if good >= _GOOD_FOR_ONE_BROKEN * broken else ""
