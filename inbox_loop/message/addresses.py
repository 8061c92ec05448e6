"""Lists of addresses: From, To, Cc and their like, as they come in real mail.

Lives here: how a raw list is taken apart and decoded, and how it is written so that it can be taken apart again.
Never fails: what is no address keeps its text as the display name.

A list is taken apart before its encoded words are decoded (RFC 2047, section 5): a display name that decodes to
``ceo@example.com, `` must not become an address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from inbox_loop.message.headers import decode_header

# The headers that hold such lists (RFC 5322, section 3.6), in lower case.
ADDRESS_HEADERS = frozenset({"from", "sender", "reply-to", "to", "cc", "bcc"})

_MAX_LIST_CHARACTERS = 200_000
# A quoted string, a route or address in angle brackets, a run of anything else, or one character of structure.
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*+"|<[^<>]*+>|[^"<>,;:()\\]++|\\?.', re.DOTALL)
_FOLD = re.compile(r"[\r\n]+[ \t]*")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_NEEDS_QUOTES = re.compile(r'[]()<>@,;:\\"[]')
_NEEDS_BRACKETS = re.compile(r'[]()<>,;:\\"[\s]')
_BRACKETS = re.compile("[<>]")
_QUOTED_LOCAL_PART = re.compile(r'\s*("[^"<>]*+"@[^\s@"<>]++)\s*')
_ENCODED_WHOLE = re.compile(r"([^<>]*+)<([^<>\s@]++@[^<>\s@]++)>\s*")


@dataclass(frozen=True, slots=True)
class Address:
    """A display name and an address; either may be empty, not both. Comparing addresses is up to the reader."""

    name: str
    address: str

    def __str__(self) -> str:
        name = self.name
        if _NEEDS_QUOTES.search(name):
            name = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
        if not self.address:
            return name
        if not name and "@" in self.address.strip("@") and not _NEEDS_BRACKETS.search(self.address):
            return self.address
        return f"{name} <{self.address}>".lstrip()


def decode_addresses(raw: str) -> tuple[Address, ...]:
    """The addresses of a raw header value, their names decoded."""
    return tuple(_decode_one(found) for found in parse_addresses(raw))


def read_header(name: str, raw: str) -> str:
    """The text of any header: a list of addresses in a form that ``parse_addresses`` reads, or decoded as it is."""
    if name.strip().lower() not in ADDRESS_HEADERS:
        return decode_header(raw)
    return ", ".join(str(address) for address in decode_addresses(raw))


def parse_addresses(text: str) -> tuple[Address, ...]:
    """The addresses of a header value whose encoded words are decoded already, or of a raw one, left as they are."""
    found: list[Address] = []
    pieces: list[str] = []
    depth = 0
    for piece in _PIECE.findall(_FOLD.sub(" ", text[:_MAX_LIST_CHARACTERS])):
        depth = max(0, depth + (piece == "(") - (piece == ")"))
        if depth == 0 and piece in (",", ";"):
            found.extend(_read_one(pieces))
            pieces = []
        elif depth == 0 and piece == ":" and not any("@" in earlier for earlier in pieces):
            pieces = []  # the name of a group, "undisclosed-recipients:;"
        else:
            pieces.append(piece)
    found.extend(_read_one(pieces))
    return tuple(found)


def _decode_one(found: Address) -> Address:
    name = " ".join(decode_header(found.name).split())
    # Some senders encode name and address as one word. Believed only where there is no address of its own.
    whole = _ENCODED_WHOLE.fullmatch(name) if name and not found.address else None
    if whole:
        return Address(whole[1].strip(' "'), whole[2])
    return Address("" if name == found.address else name, found.address)


def _read_one(pieces: list[str]) -> Iterator[Address]:
    quoted_local_part = _QUOTED_LOCAL_PART.fullmatch("".join(pieces))
    if quoted_local_part:
        yield Address("", quoted_local_part[1])
        return
    words: list[str] = []
    address = ""
    outside, comment = _split_comments(pieces)
    for piece in outside:
        if len(piece) > 1 and piece.startswith("<"):
            address = piece[1:-1].strip() if '"' in piece else "".join(piece[1:-1].split())
        elif len(piece) > 1 and piece.startswith('"'):
            words.append(_ESCAPED.sub(r"\1", piece[1:-1]))
        elif piece not in ("<", ">", '"'):  # one that is never closed
            words.append(piece)
    name = " ".join("".join(words).split())
    if not address:
        address, name = _split_bare(name)
    name = name or comment
    if address.startswith("@") and ":" in address:
        address = address.rsplit(":", 1)[1]  # a route, <@relay:user@host>, obsolete since RFC 2822
    if name or address:
        yield Address("" if name == address else name, address)


def _split_comments(pieces: list[str]) -> tuple[list[str], str]:
    """What stands outside of brackets, and the text inside of them."""
    outside: list[str] = []
    comments: list[str] = []
    depth = 0
    for piece in pieces:
        if piece in ("(", ")"):
            depth = max(0, depth + (1 if piece == "(" else -1))
        elif depth:
            comments.append(_ESCAPED.sub(r"\1", piece))
        else:
            outside.append(piece)
    return outside, " ".join("".join(comments).split())


def _split_bare(text: str) -> tuple[str, str]:
    """Address and name of an entry without angle brackets."""
    words = text.split()
    address = next((word for word in words if "@" in word.strip("@") and not _BRACKETS.search(word)), "")
    if not address:
        return "", text
    words.remove(address)
    return address, " ".join(words)
