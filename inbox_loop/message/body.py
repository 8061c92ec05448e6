"""A tree of parts to the readable text of a message, with and without quotes, and the list of what hangs on it.

Lives here: which parts are text, which of several alternatives is read, and how forwarded mails and reports show.
Not here: HTML (``html_text.py``), quotes (``quotes.py``), calendars (``invitation.py``), charsets (``charset.py``).

The texts may not be clean yet (``clean.py``); ``read.py`` cleans all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from inbox_loop.message.addresses import read_header
from inbox_loop.message.charset import decode_text
from inbox_loop.message.clean import clean_text
from inbox_loop.message.headers import decode_header
from inbox_loop.message.html_strip import strip_tags
from inbox_loop.message.html_text import MAX_RENDERED_CHARACTERS, find_declared_charset, render_html
from inbox_loop.message.invitation import describe_invitation
from inbox_loop.message.mime import Part, walk
from inbox_loop.message.model import Attachment
from inbox_loop.message.quote_marks import MarkedText, mark_nothing
from inbox_loop.message.quotes import cut_quotes
from inbox_loop.message.raw import MAX_PARSED_BYTES, parse_mail
from inbox_loop.message.readable import Readable, join, keep
from inbox_loop.message.standing import Standing
from inbox_loop.task import MAX_BODY_BYTES

# Of all parts of a message together. A character of UTF-32 has four bytes.
MAX_READ_BYTES = 4 * MAX_BODY_BYTES
# Of the fields of one report.
MAX_FIELDS_CHARACTERS = 64 * 1024

_FORWARDED = "---------- Forwarded message ----------"
_FORWARDED_HEADERS = ("From", "Date", "Subject", "To", "Cc")
_FORWARDED_KINDS = frozenset({"message/rfc822", "message/global"})
# Fields for people and for machines, in lines of plain text (RFC 3464, RFC 8098, RFC 5965).
_REPORT_KINDS = frozenset(
    {"message/delivery-status", "message/disposition-notification", "message/feedback-report", "text/rfc822-headers"}
)
_CALENDAR_KINDS = frozenset({"text/calendar", "application/ics"})
_SEALED_KINDS = frozenset({"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})
_SEALED_NAME = "smime.p7m"
_PGP_KIND = "application/pgp-encrypted"
_ENCRYPTED = "[This message is encrypted. It can only be read in a mail program that has the key.]"
_SIGNED = "[This message is packed into its S/MIME signature. It can be read in a mail program that knows S/MIME.]"
_MARKUP_STARTS = ("<!doctype html", "<html", "<head", "<body")
# AMP is a program rather than a text, and comes beside HTML that says the same.
_UNREAD_ALTERNATIVES = frozenset({"text/x-amp-html", "text/watch-html"})
_KILOBYTE = 1000
_OUTLOOK_KINDS = frozenset({"application/ms-tnef", "application/vnd.ms-tnef"})
_OUTLOOK_NAME = "winmail.dat"
_OUTLOOK_ONLY = "[The content is in winmail.dat, which only Outlook opens.]"
_LEFT_OUT = "[The text, {size}, is left out here. The whole message is in Gmail.]"

_FOLD = re.compile(r"\r?\n[ \t]+")
_URL = re.compile(r"\bhttps?://\S+")
_WORD = re.compile(r"\w+")
# A text beside HTML with fewer words than this may be a placeholder ("your mail program can't show HTML").
_SHORT_WORDS = 60
# It is one if the HTML has so many times more words, or as many but not even half of those in the text.
_RICHER = 3
_SHARED = 0.5


def list_attachments(root: Part) -> tuple[Attachment, ...]:
    """Everything with a file name or marked as an attachment, and every leaf that is not text, in order.

    Names may be empty.
    """
    return tuple(
        Attachment(name=part.name, mime_type=part.kind, size=part.size)
        for _, part in walk(root)
        if _is_attachment(part)
    )


class BodyReader:
    """Reads the text of one message. Bounds what all of its parts together may cost."""

    def __init__(self, standing: Standing) -> None:
        self._standing = standing
        self._html_left = MAX_RENDERED_CHARACTERS
        self._bytes_left = MAX_READ_BYTES
        self._parsed_left = MAX_PARSED_BYTES
        self._events: set[str] = set()

    def read(self, root: Part) -> Readable:
        """The readable text below ``root``; empty when there is none. Says so of a text that was not downloaded."""
        text = join(self._read_part(root))
        if text.full:
            return text
        # Some mail programs give the body itself a file name.
        named = (part for _, part in walk(root) if part.name and part.disposition.value != "attachment")
        text = join(self._read_leaf(part) for part in named if part.kind in ("text/plain", "text/html"))
        return text if text.full else keep(_name_what_is_closed(root))

    def _read_part(self, part: Part) -> Iterator[Readable]:
        if part.kind in _SEALED_KINDS or part.name.lower() == _SEALED_NAME:
            yield keep(_describe_seal(part))
        elif part.kind in _FORWARDED_KINDS:
            yield from self._read_forwarded(part)
        elif part.kind in _REPORT_KINDS:
            yield keep(self._read_fields(part))
        elif part.kind in _CALENDAR_KINDS:
            yield keep(self._read_event(part))
        elif part.kind == "multipart/alternative" and part.parts:
            yield from self._read_alternative(part)
        elif part.parts:
            yield from chain.from_iterable(self._read_part(child) for child in part.parts)
        elif not _is_attachment(part):
            yield self._read_leaf(part)

    def _read_leaf(self, part: Part) -> Readable:
        if _is_left_out(part):
            return keep(_LEFT_OUT.format(size=describe_size(part.size)))
        cleaned = clean_text(self._decode(part))
        markup = part.kind == "text/html" or cleaned.text.lstrip()[:20].lower().startswith(_MARKUP_STARTS)
        text = self._read_html(cleaned.text) if markup else mark_nothing(cleaned.text.strip("\n"))
        full, new = str(text), cut_quotes(text, self._standing)
        return Readable(full, new, len(full) - len(new), cleaned.changes)

    def _read_html(self, source: str) -> MarkedText:
        self._html_left -= len(source)
        return render_html(source) if self._html_left >= 0 else mark_nothing(strip_tags(source))

    def _read_event(self, part: Part) -> str:
        """An invitation; empty if it was told already: most come twice, to be shown and to be saved."""
        event = describe_invitation(self._take(part), part.content_type.parameters.get("charset"))
        if event in self._events:
            return ""
        self._events.add(event)
        return event

    def _read_alternative(self, part: Part) -> Iterator[Readable]:
        """The plain text, unless the HTML says more; and an invitation beside either."""
        here = [child for child in part.parts if not _is_left_out(child)]
        plain = self._read_first(child for child in here if child.kind == "text/plain")
        if len(_words(plain.full)) < _SHORT_WORDS:
            # The richest comes last (RFC 2046, section 5.1.4).
            rich = self._read_first(child for child in reversed(here) if _is_rich(child))
            plain = rich if _is_placeholder(plain.full, rich.full) else plain
        if not plain.full:
            plain = self._read_first(filter(_is_other_text, here))
        yield plain if plain.full else self._read_first(filter(_is_left_out, part.parts))
        yield from chain.from_iterable(self._read_part(child) for child in here if _stands_beside_text(child))

    def _read_first(self, parts: Iterable[Part]) -> Readable:
        """The text of the first of ``parts`` that has one."""
        texts = (join(self._read_part(part)) for part in parts)
        return next((text for text in texts if text.full), keep(""))

    def _read_forwarded(self, part: Part) -> Iterator[Readable]:
        """A mail within the mail. Whatever it quotes is content of this one."""
        inner = part.parts[0] if part.parts else self._parse(part.data or b"")
        if inner is None:
            return
        described = _describe_headers(inner) or _describe_headers(part)
        if described:
            yield keep("\n".join((_FORWARDED, *described)))
        yield from (replace(text, new=text.full, cut_characters=0) for text in self._read_part(inner))

    def _read_fields(self, part: Part) -> str:
        """The fields of a report: as text, or taken apart into headers by whoever parsed the mail."""
        if part.data:
            lines = _FOLD.sub(" ", self._decode(part)[:MAX_FIELDS_CHARACTERS]).splitlines()
            return "\n".join(map(decode_header, lines))
        blocks = (
            "\n".join(f"{header.name}: {decode_header(header.value)}" for header in child.headers)
            for child in part.parts
        )
        return "\n\n".join(blocks)

    def _decode(self, part: Part) -> str:
        data = self._take(part)
        declared = part.content_type.parameters.get("charset")
        if not declared and part.kind == "text/html":
            declared = find_declared_charset(data)
        return decode_text(data, declared)

    def _take(self, part: Part) -> bytes:
        """The content of ``part``, as much of it as may still be read."""
        data = (part.data or b"")[: self._bytes_left]
        self._bytes_left -= len(data)
        return data

    def _parse(self, data: bytes) -> Part | None:
        parsed = data[: self._parsed_left]
        self._parsed_left -= len(parsed)
        return parse_mail(parsed)


def _is_attachment(part: Part) -> bool:
    if part.kind.startswith("multipart/"):
        return False
    if part.name or part.disposition.value == "attachment":
        return True
    readable = part.kind.startswith("text/") or part.kind in _FORWARDED_KINDS or part.kind in _REPORT_KINDS
    return not readable and not part.parts


def _name_what_is_closed(root: Part) -> str:
    """Of a message without a text: what it is packed into; empty if that is nothing known."""
    parts = [part for _, part in walk(root)]
    if any(part.kind in _OUTLOOK_KINDS or part.name.lower() == _OUTLOOK_NAME for part in parts):
        return _OUTLOOK_ONLY
    # Exchange makes multipart/mixed of multipart/encrypted.
    return _ENCRYPTED if any(part.kind == _PGP_KIND for part in parts) else ""


def _is_left_out(part: Part) -> bool:
    """Whether ``part`` has content that was not downloaded."""
    return part.data is None and not part.parts and part.size > 0


def _is_rich(part: Part) -> bool:
    return part.kind == "text/html" or bool(part.parts)


def _is_other_text(part: Part) -> bool:
    """Of an alternative: whether it is text, yet neither plain nor HTML nor an invitation."""
    kinds = {"text/plain", "text/html", *_CALENDAR_KINDS, *_UNREAD_ALTERNATIVES}
    return part.kind.startswith("text/") and part.kind not in kinds and not part.parts


def _stands_beside_text(part: Part) -> bool:
    """Of an alternative: whether it is no text but something more to read, as an invitation is."""
    return not part.parts and (part.kind in _CALENDAR_KINDS or not part.kind.startswith("text/"))


def _is_placeholder(plain: str, rich: str) -> bool:
    """Whether a short ``plain`` is no stand-in for ``rich``. If in doubt, HTML is right: it has all there is."""
    plain_words, rich_words = _words(plain), _words(rich)
    if len(rich_words) >= max(1, _RICHER * len(plain_words)):
        return True
    known = set(rich_words)
    shared = sum(word in known for word in plain_words)
    return len(rich_words) >= len(plain_words) > 0 and shared < _SHARED * len(plain_words)


def _words(text: str) -> list[str]:
    return _WORD.findall(_URL.sub(" ", text).lower())


def _describe_headers(part: Part) -> list[str]:
    raw = ((name, part.find_header(name)) for name in _FORWARDED_HEADERS)
    return [f"{name}: {read_header(name, value)}" for name, value in raw if value.strip()]


def _describe_seal(part: Part) -> str:
    signed = part.content_type.parameters.get("smime-type", "").lower() == "signed-data"
    return _SIGNED if signed else _ENCRYPTED


def describe_size(size: int) -> str:
    """``size`` bytes in words, rounded down. In whole numbers alone: a size may be larger than any float."""
    if size < _KILOBYTE:
        return f"{size} bytes"
    if size < _KILOBYTE**2:
        return f"{size // _KILOBYTE} kB"
    whole, tenths = divmod(size * 10 // _KILOBYTE**2, 10)
    return f"{whole}.{tenths} MB"
