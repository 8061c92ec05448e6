"""Mail to measure with: as many messages as wanted, the same ones each time.

Shaped like a busy inbox: threads of one to four messages, one message in eight a newsletter (which is skipped), four in
ten with an HTML part, one in ten with an attachment, and 50 to 300 words of text.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

_FIRST = datetime(2026, 11, 1, 8, 0, tzinfo=UTC)
_THREAD_LENGTHS = (1, 2, 3, 4)
_SENTENCE = (
    "please could you look into the invoice for october we still wait for an answer about delivery of order "
    "number and need a new quote until friday because our customer asks again thank you very much regards"
)
_PDF = 'Content-Disposition: attachment; filename="order.pdf"\nContent-Transfer-Encoding: base64\n'
_ATTACHMENT = base64.encodebytes(bytes(range(256)) * 60).decode()


def write_mbox(path: Path, count: int) -> Path:
    """Write ``count`` messages to ``path``, oldest first."""
    with path.open("w", encoding="ascii", newline="\n") as file:
        for number, message in enumerate(make_messages(count)):
            file.write(f"From bench@example.org {_moment(number):%a %b %d %H:%M:%S %Y}\n{message}\n")
    return path


def make_messages(count: int) -> Iterator[str]:
    """The messages, oldest first, a minute apart."""
    chance = random.Random(1)
    vocabulary = _SENTENCE.split()
    for number, (thread, place) in zip(range(count), _places(), strict=False):
        yield _head(number, thread, place) + _content(number, _text(chance, vocabulary))


def _places() -> Iterator[tuple[int, int]]:
    """Thread and place in it, of one message after another."""
    thread = 0
    while True:
        for place in range(_THREAD_LENGTHS[thread % len(_THREAD_LENGTHS)]):
            yield thread, place
        thread += 1


def _moment(number: int) -> datetime:
    return _FIRST + timedelta(minutes=number)


def _head(number: int, thread: int, place: int) -> str:
    lines = [
        f"From: Person {thread % 97} <person{thread % 97}@example.org>",
        "To: desk@example.com",
        f"Subject: {'Re: ' if place else ''}Order {thread}: what about the delivery?",
        f"Date: {format_datetime(_moment(number))}",
        f"Message-ID: <{thread}.{place}@example.org>",
        "MIME-Version: 1.0",
    ]
    if place:
        lines.append(f"In-Reply-To: <{thread}.{place - 1}@example.org>")
    if number % 8 == 7:
        lines += ["List-Id: <news.example.org>", "List-Unsubscribe: <https://example.org/leave>"]
    return "\n".join(lines) + "\n"


def _text(chance: random.Random, vocabulary: Sequence[str]) -> str:
    words = chance.choices(vocabulary, k=chance.randint(50, 300))
    return "\n".join(" ".join(words[start : start + 12]) for start in range(0, len(words), 12)) + "\n"


def _content(number: int, text: str) -> str:
    plain = _part("text/plain; charset=utf-8", text)
    if number % 10 == 9:
        return _multipart("mixed", plain, _part("application/pdf", _ATTACHMENT, _PDF))
    if number % 2:
        return _multipart("alternative", plain, _part("text/html; charset=utf-8", _html(text)))
    return plain


def _part(kind: str, content: str, headers: str = "") -> str:
    return f"Content-Type: {kind}\n{headers}\n{content}"


def _multipart(kind: str, *parts: str) -> str:
    inner = "".join(f"--part\n{part}\n" for part in parts)
    return f'Content-Type: multipart/{kind}; boundary="part"\n\n{inner}--part--\n'


def _html(text: str) -> str:
    style = "font: 14px sans-serif; color: #222"
    rows = "".join(f'<tr><td style="{style}">{line}</td></tr>\n' for line in text.split("\n"))
    return f"<html><head><style>td {{ padding: 4px }}</style></head><body><table>\n{rows}</table></body></html>\n"
