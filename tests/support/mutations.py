"""Spoiled mail: the corpora's messages with bytes flipped, cut, repeated, moved, and pieces of others among them.

Lives here: the seeds, and one mutated mail after another, the same ones for the same seed. Not here: what has to hold
for them (``message/test_mutations.py``).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from inbox_loop import simulator

SAMPLE = Path(simulator.__file__).with_name("sample")
CORPUS = Path(__file__).parent.parent / "corpus"
PYTHONS_OWN = "test.test_email.data"

_MAX_MUTATIONS = 4
_MAX_FLIPPED = 20
_MAX_CUT_BYTES = 200
_MAX_REPEATED_BYTES = 80
_MAX_REPEATS = 50
_MAX_SPLICED_BYTES = 600
# What chance alone would seldom write, and what readers of mail stumble over.
_TOKENS = (
    *(b"\x00", b"\r\n", b"\r\n\r\n", b"\r", b"\xff\xfe", b"\xed\xa0\x80", b"\xe2\x80\x8c" * 5, b"\x1b$B", b"~{"),
    *(b"=?utf-8?B?", b"=?gb2312?Q?", b"=?iso-2022-jp?B?", b"?=", b'"', b";", b"<", b">", b"(", b"=", b"=3D", b"*0*="),
    *(b"charset=utf-7", b"charset=utf-16", b"charset=hz", b'charset="', b"format=flowed", b"name*0*=x''%zz"),
    *(b"\r\nContent-Type: multipart/alternative; boundary=x\r\n", b"\r\n--x\r\n", b"\r\n--x--\r\n"),
    *(b"\r\nContent-Type: message/rfc822\r\n\r\n", b"\r\nContent-Type: text/calendar\r\n\r\nBEGIN:VEVENT\r\n"),
    *(b"\r\nContent-Transfer-Encoding: base64\r\n", b"\r\nContent-Transfer-Encoding: x-uuencode\r\n"),
    *(
        b"<!--",
        b"<blockquote type=cite>",
        b"<td>",
        b"<a href=",
        b"<style>",
        b"&#xD800;",
        b"\n> ",
        b"\nOn 1 Dec wrote:\n",
    ),
)


def read_seeds() -> list[bytes]:
    """Every mail of the demo's sample, of the corpora here, and of Python's own tests where they are installed."""
    paths = [*sorted(SAMPLE.rglob("*.eml")), *sorted(CORPUS.rglob("*.eml")), *_list_pythons_own()]
    return [path.read_bytes() for path in paths]


def _list_pythons_own() -> Iterator[Path]:
    try:
        found = find_spec(PYTHONS_OWN)
    except ModuleNotFoundError:  # Debian's Python comes without its tests
        return
    if found is not None:
        for folder in import_module(PYTHONS_OWN).__path__:
            yield from sorted(Path(folder).glob("msg_*.txt"))


def mutate_mail(seeds: Sequence[bytes], seed: int) -> Iterator[bytes]:
    """Mutated mail without an end, made of ``seeds``; the same for the same ``seeds`` and ``seed``."""
    mutator = _Mutator(seeds, random.Random(seed))
    while True:
        yield mutator.make()


class _Mutator:
    """Takes a mail by chance and spoils it a few times over."""

    def __init__(self, seeds: Sequence[bytes], chance: random.Random) -> None:
        self._seeds = seeds
        self._chance = chance
        self._mutations: tuple[Callable[[bytearray], None], ...] = (
            *(self._flip, self._cut, self._repeat),
            *(self._splice, self._insert_token, self._move_line),
        )

    def make(self) -> bytes:
        mail = bytearray(self._chance.choice(self._seeds))
        for _ in range(self._chance.randint(1, _MAX_MUTATIONS)):
            self._chance.choice(self._mutations)(mail)
        return bytes(mail)

    def _flip(self, mail: bytearray) -> None:
        for _ in range(min(len(mail), self._chance.randint(1, _MAX_FLIPPED))):
            mail[self._chance.randrange(len(mail))] = self._chance.randrange(256)

    def _cut(self, mail: bytearray) -> None:
        start = self._find_place(mail)
        del mail[start : start + self._chance.randint(1, _MAX_CUT_BYTES)]

    def _repeat(self, mail: bytearray) -> None:
        start = self._find_place(mail)
        piece = mail[start : start + self._chance.randint(1, _MAX_REPEATED_BYTES)]
        mail[start:start] = piece * self._chance.randint(1, _MAX_REPEATS)

    def _splice(self, mail: bytearray) -> None:
        other = self._chance.choice(self._seeds)
        start = self._find_place(other)
        place = self._find_place(mail)
        mail[place:place] = other[start : start + self._chance.randint(1, _MAX_SPLICED_BYTES)]

    def _insert_token(self, mail: bytearray) -> None:
        place = self._find_place(mail)
        mail[place:place] = self._chance.choice(_TOKENS)

    def _move_line(self, mail: bytearray) -> None:
        lines = mail.split(b"\n")
        line = lines.pop(self._chance.randrange(len(lines)))
        lines.insert(self._chance.randint(0, len(lines)), line)
        mail[:] = b"\n".join(lines)

    def _find_place(self, mail: bytes | bytearray) -> int:
        return self._chance.randint(0, len(mail))
