"""Mail that was made to hurt, as trees of parts: what Gmail hands over of it.

The first three are promised to take less than two seconds each by name; the rest is what hurts a renderer of HTML or
a finder of quotes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

from inbox_loop.message.mime import Part
from inbox_loop.message.model import Header

_TEN_MEGABYTES = 10_000_000
_MEGABYTE = 1024 * 1024
# The most that is still rendered rather than stripped of its tags.
_RENDERED = 512 * 1024
_NESTED = 5_000
_RECIPIENTS = 100_000


@dataclass(frozen=True, slots=True)
class Hostile:
    """One such mail, and what is bad about it."""

    name: str
    root: Part


def list_hostile() -> Iterator[Hostile]:
    """One after another, so that only one is in memory."""
    yield Hostile("10 MB of blanks", _text(b" ", _TEN_MEGABYTES))
    yield Hostile("5,000 nested parts", _nest())
    yield Hostile("100,000 recipients", _address())
    yield Hostile("10 MB of HTML in one line", _html(b"<b>word</b> ", _TEN_MEGABYTES))
    yield Hostile("10 MB of <div> in <div>", _html(b"<div>", _TEN_MEGABYTES))
    yield Hostile("HTML, as much as is rendered", _html(b"<p>word word word word word</p>", _RENDERED))
    yield Hostile("HTML of nothing but links", _html(b'<a href="https://example.org/">x</a> ', _RENDERED))
    yield Hostile("HTML, quotes in turn with text", _html(b"<blockquote type=cite>x</blockquote>y", _RENDERED))
    yield Hostile('1 MiB of ">" lines', _text(b"> x\n", _MEGABYTE))
    yield Hostile('1 MiB of "On ... wrote:" lines', _text(b"On 1 Dec 2026, a@example.org wrote:\n", _MEGABYTE))
    yield Hostile('1 MiB of "From:" lines', _text(b"From: a@example.org\nDate: 1 Dec 2026\n", _MEGABYTE))


def _text(pattern: bytes, size: int) -> Part:
    return Part("text/plain", "", (), pattern * (size // len(pattern)), size)


def _html(pattern: bytes, size: int) -> Part:
    return Part("text/html", "", (), pattern * (size // len(pattern)), size)


def _nest() -> Part:
    leaf = _text(b"deep", len(b"deep"))
    return reduce(lambda inner, _: Part("multipart/mixed", "", (), None, 0, (inner,)), range(_NESTED), leaf)


def _address() -> Part:
    recipients = ", ".join(f"Person {number} <person{number}@example.org>" for number in range(_RECIPIENTS))
    return Part("text/plain", "", (Header("To", recipients), Header("Cc", recipients)), b"Hello", len(b"Hello"))
