"""Mail from disk, message by message, as something to deliver.

Lives here: which files are mail, and how each kind is read: mbox (Google Takeout's too), Maildir, a folder of .eml or
.mbox files, one .eml. Not here: what a message's own headers say of labels and dates (``marks.py``).

Only one message at a time is in memory; an mbox of gigabytes is streamed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from inbox_loop.errors import MailUnavailable
from inbox_loop.simulator.marks import parse_date, read_marks

_HINT = "Give an mbox file, a Maildir, a folder of .eml files, or one .eml file."
_FROM_LINE = re.compile(rb"From .*\d:\d\d.*(?:19|20)\d\d")
_ESCAPED_FROM = re.compile(rb">+From ")
_FROM_LINE_LENGTH = 998
_READ_AT_ONCE = 1 << 20
_MAILDIR_FOLDERS = ("new", "cur")
_SUFFIXES = {".eml", ".mbox"}


@dataclass(frozen=True, slots=True)
class FoundMail:
    """One message from disk, ready for ``Account.deliver``."""

    raw: bytes
    labels: tuple[str, ...]
    thread_id: str | None
    internal_date: datetime


def read_mail(path: Path) -> Iterator[FoundMail]:
    """Every message under ``path``; a folder's files in the order of their names.

    Raises ``MailUnavailable`` at once when there is nothing, later when a file can't be read.
    """
    if not path.exists():
        raise MailUnavailable(f"There is no {path}", hint=_HINT)
    messages = _readable(path)
    first = next(messages, None)
    if first is None:
        raise MailUnavailable(f"There is no mail in {path}", hint=_HINT)
    return chain([first], messages)


def _readable(path: Path) -> Iterator[FoundMail]:
    """The messages under ``path``, with an error a person can act on."""
    try:
        if path.is_file():
            yield from _read_file(path)
        elif any((path / folder).is_dir() for folder in _MAILDIR_FOLDERS):
            yield from _read_maildir(path)
        else:
            for file in sorted(p for p in path.rglob("*") if p.suffix.lower() in _SUFFIXES and p.is_file()):
                yield from _read_file(file)
    except OSError as error:
        raise MailUnavailable(f"{error.filename or path} can't be read: {error.strerror}", hint=_HINT) from error


def _read_file(path: Path) -> Iterator[FoundMail]:
    """An mbox when it starts with a From_ line, else one message; an empty file is no mail."""
    fallback = _modified(path)
    with path.open("rb") as file:
        is_mbox = file.read(5) == b"From "
        file.seek(0)
        if is_mbox:
            for from_line, raw in _split_mbox(file):
                yield _found(raw, parse_date(from_line), fallback, ("INBOX", "UNREAD"))
        elif raw := file.read():
            yield _found(raw, None, fallback, ("INBOX", "UNREAD"))


def _read_maildir(path: Path) -> Iterator[FoundMail]:
    files = [p for folder in _MAILDIR_FOLDERS for p in (path / folder).glob("*") if not p.name.startswith(".")]
    for file in sorted((p for p in files if p.is_file()), key=lambda p: p.name):
        raw = file.read_bytes()
        if raw:
            yield _found(raw, None, _modified(file), _flag_labels(file.name))


def _flag_labels(name: str) -> tuple[str, ...]:
    """Labels of Maildir flags (``:2,FS``): S seen, T trashed, D draft, F flagged."""
    flags = name.rpartition(":2,")[2] if ":2," in name else ""
    place = "TRASH" if "T" in flags else "DRAFT" if "D" in flags else "INBOX"
    return (place, *(["STARRED"] if "F" in flags else []), *([] if "S" in flags else ["UNREAD"]))


def _found(raw: bytes, from_line: datetime | None, fallback: datetime, labels: tuple[str, ...]) -> FoundMail:
    marks = read_marks(raw)
    return FoundMail(
        raw=raw,
        labels=labels if marks.labels is None else marks.labels,
        thread_id=marks.thread_id,
        internal_date=from_line or marks.date or fallback,
    )


def _modified(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)


def _split_mbox(file: BinaryIO) -> Iterator[tuple[str, bytes]]:
    """From_ line (without "From " and sender) and bytes of each message.

    A From_ line stands first or after a blank line, and has a time and a year in it, so that a sentence that starts
    with "From" splits nothing; quoted ones (``>From``, mboxrd) are unquoted.
    """
    from_line, message, after_blank = "", bytearray(), True
    started, at_line_start = False, True
    while line := file.readline(_READ_AT_ONCE):
        if at_line_start and after_blank and _FROM_LINE.match(line[:_FROM_LINE_LENGTH]):
            if started:
                yield from_line, _without_separator(message)
            from_line, message, started = _date_of(line), bytearray(), True
        else:
            message += line[1:] if at_line_start and _ESCAPED_FROM.match(line) else line
        after_blank = at_line_start and not line.strip(b"\r\n")
        at_line_start = line.endswith(b"\n")
    if started:
        yield from_line, _without_separator(message)


def _date_of(line: bytes) -> str:
    """What follows "From" and the sender."""
    return " ".join(line[:_FROM_LINE_LENGTH].decode("ascii", "replace").split()[2:])


def _without_separator(message: bytearray) -> bytes:
    """The message without the blank line that separates it from the next."""
    for ending in (b"\r\n\r\n", b"\n\n"):
        if message.endswith(ending):
            return bytes(message[: len(message) - len(ending) // 2])
    return bytes(message)
