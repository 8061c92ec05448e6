"""Answers as mail programs send them: what of each is new, held against the texts kept beside them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from inbox_loop.message.model import Message

CORPUS = Path(__file__).parents[1] / "corpus" / "quotes"
MAIL = sorted(CORPUS.glob("*.eml"))

ReadRaw = Callable[[bytes], Message]


def expected_text(path: Path) -> str:
    """What stands below the first empty line of the file beside ``path``."""
    return path.with_suffix(".expected.txt").read_text(encoding="utf-8").partition("\n\n")[2].rstrip("\n")


@pytest.mark.parametrize("path", MAIL, ids=lambda path: path.stem)
def test_each_mail_keeps_what_is_new_in_it_and_only_that(path: Path, read_raw: ReadRaw) -> None:
    message = read_raw(path.read_bytes())
    new = message.unquoted.text if message.unquoted else message.text
    assert new == expected_text(path)
    cut = message.unquoted.cut_characters if message.unquoted else 0
    # Where a whole part goes, so does the empty line above it.
    assert len(message.text) - len(new) - cut in (0, 2)


def test_each_mail_has_a_text_beside_it_and_each_text_a_mail() -> None:
    assert [path.with_suffix(".expected.txt") for path in MAIL] == sorted(CORPUS.glob("*.txt"))


def test_the_mails_name_nobody_outside_of_the_example_domains() -> None:
    address = re.compile(rb"[\w.+-]+@([\w-]+(?:\.[\w-]+)+)")
    domains = {domain.lower() for path in MAIL for domain in address.findall(path.read_bytes())}
    assert domains <= {b"example.org", b"example.com", b"example.net", b"lists.example.org"}
