"""RFC 822 bytes as a tree of parts, with every byte of every body kept.

Lives here: splitting at headers and boundaries, and undoing transfer encodings. Not here: how Gmail shows the tree
(``payload.py``). Python's email package would decode and guess charsets and gives up on deep nesting; Gmail hands out
the bytes as they came, so this walks the bytes itself. It fails on no input, and past ``MAX_DEPTH`` levels or
``MAX_PARTS`` parts a multipart is left as one part.
"""

from __future__ import annotations

import base64
import binascii
import quopri
import re
from dataclasses import dataclass, field
from email.message import Message as HeaderBag
from email.utils import collapse_rfc2231_value

from inbox_loop.simulator.headers import HeaderLine, decode_words, parse_headers

MAX_DEPTH = 60
MAX_PARTS = 20_000

_BLANK_LINE = re.compile(rb"(?:\A|\n|\r(?!\n))(?:\r\n|\n|\r)")
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/]")
_MIME_TYPE = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class RawPart:
    """One part: its headers, its type, its file name, its transfer-decoded bytes and its children."""

    mime_type: str
    filename: str
    headers: tuple[HeaderLine, ...]
    data: bytes
    parts: tuple[RawPart, ...]


@dataclass(slots=True)
class _Budget:
    """How many parts may still be made in one message."""

    parts: int = field(default=MAX_PARTS)


def parse_message(raw: bytes) -> RawPart:
    """The tree of a whole message."""
    return _parse_part(raw, depth=0, budget=_Budget(), default_type="text/plain")


def split_headers(raw: bytes) -> tuple[bytes, bytes]:
    """Header block and body. Without a blank line everything is header."""
    match = _BLANK_LINE.search(raw)
    if match is None:
        return raw, b""
    return raw[: match.start()], raw[match.end() :]


def _parse_part(raw: bytes, *, depth: int, budget: _Budget, default_type: str) -> RawPart:
    budget.parts -= 1
    block, body = split_headers(raw)
    headers = parse_headers(block)
    bag = _structured_headers(headers)
    mime_type = _content_type(bag, default_type)
    data = _transfer_decoded(body, str(bag.get("Content-Transfer-Encoding", "")))
    parts: tuple[RawPart, ...] = ()
    if depth < MAX_DEPTH:
        if mime_type.startswith("multipart/"):
            parts = _parse_multipart(bag, body, mime_type, depth=depth, budget=budget)
        elif mime_type in {"message/rfc822", "message/global"} and budget.parts > 0:
            parts = (_parse_part(data, depth=depth + 1, budget=budget, default_type="text/plain"),)
    return RawPart(mime_type, _filename(bag), headers, data, parts)


def _parse_multipart(
    bag: HeaderBag, body: bytes, mime_type: str, *, depth: int, budget: _Budget
) -> tuple[RawPart, ...]:
    boundary = bag.get_boundary()
    chunks = _split_at_boundary(body, boundary.encode("utf-8", "replace")) if boundary else []
    default_type = "message/rfc822" if mime_type == "multipart/digest" else "text/plain"
    parts = []
    for chunk in chunks:
        if budget.parts <= 0:
            break
        parts.append(_parse_part(chunk, depth=depth + 1, budget=budget, default_type=default_type))
    return tuple(parts)


def _split_at_boundary(body: bytes, boundary: bytes) -> list[bytes]:
    """The bodies between the boundary lines; preamble and epilogue are left out (RFC 2046, 5.1.1)."""
    line = re.compile(rb"--" + re.escape(boundary) + rb"(--)?[ \t]*+(?=[\r\n]|\Z)")
    chunks: list[bytes] = []
    start: int | None = None
    for match in line.finditer(body):
        if match.start() > 0 and body[match.start() - 1] not in b"\r\n":
            continue  # the same characters within a line
        if start is not None:
            chunks.append(_within_newlines(body[start : match.start()]))
        start = match.end()
        if match[1]:
            return chunks
    if start is not None:
        chunks.append(_without_first_newline(body[start:]))  # the closing line is missing
    return chunks


def _within_newlines(chunk: bytes) -> bytes:
    """Without the newlines that belong to the boundary lines before and after."""
    inner = _without_first_newline(chunk)
    return inner[:-2] if inner[-2:] == b"\r\n" else inner[:-1]


def _without_first_newline(chunk: bytes) -> bytes:
    return chunk[2:] if chunk[:2] == b"\r\n" else chunk[1:]


def _structured_headers(headers: tuple[HeaderLine, ...]) -> HeaderBag:
    """The headers that steer parsing, in the form the standard library's parameter reader takes."""
    bag = HeaderBag()
    for header in headers:
        if header.name.lower().startswith("content-") and header.name not in bag:
            bag[header.name] = header.raw
    return bag


def _content_type(bag: HeaderBag, default_type: str) -> str:
    given = str(bag.get("Content-Type", default_type)).partition(";")[0].strip().lower()
    return given if _MIME_TYPE.fullmatch(given) else "text/plain"


def _filename(bag: HeaderBag) -> str:
    """From Content-Disposition, else Content-Type; RFC 2231 first, then RFC 2047, as mailers write both."""
    for header, name in (("Content-Disposition", "filename"), ("Content-Type", "name")):
        if name not in str(bag.get(header, "")).lower():
            continue
        try:
            value = bag.get_param(name, header=header)
            if value:
                text = decode_words(collapse_rfc2231_value(value).strip())
                return text.encode("utf-8", "replace").decode("utf-8")
        except (LookupError, ValueError):  # a charset in the parameter that does not exist
            continue
    return ""


def _transfer_decoded(body: bytes, encoding: str) -> bytes:
    """Undo Content-Transfer-Encoding; what is broken is decoded as far as it goes."""
    match encoding.strip().lower():
        case "base64":
            return _from_base64(body)
        case "quoted-printable":
            return quopri.decodestring(body)
        case "x-uuencode" | "uuencode" | "uue" | "x-uue":
            return _from_uuencode(body)
    return body


def _from_base64(body: bytes) -> bytes:
    letters = _NOT_BASE64.sub(b"", body.partition(b"=")[0])
    letters = letters[: len(letters) - (len(letters) % 4 == 1)]
    return base64.b64decode(letters + b"=" * (-len(letters) % 4))


def _from_uuencode(body: bytes) -> bytes:
    lines = body.splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith(b"begin ")), None)
    if start is None:
        return body
    decoded = bytearray()
    for line in lines[start + 1 :]:
        if line.strip() in (b"end", b"`", b""):
            break
        try:
            decoded += binascii.a2b_uu(line)
        except binascii.Error:  # trailing garbage that some encoders write: take the length the line names
            wanted = (((line[0] - 32) & 63) * 4 + 5) // 3
            try:
                decoded += binascii.a2b_uu(line[:wanted])
            except binascii.Error:
                return body
    return bytes(decoded)
