"""The corpus: odd mail as it was sent, and beside each file what a reader should find in the end.

Lives here: where it lies, how an expectation is written, and what Python's own tests of mail have beside it. Not here:
any mail.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from email import message_from_bytes
from importlib.util import find_spec
from pathlib import Path

CORPUS = Path(__file__).parents[1] / "corpus"
OWN_ADDRESS = "support@example.org"
"""The mailbox's own address, to which the corpus is written."""


@dataclass(frozen=True, slots=True)
class CorpusMail:
    """One mail of the corpus."""

    path: Path

    @property
    def name(self) -> str:
        """Its folder and file, as in ``odd/charset-big5``."""
        return self.path.relative_to(CORPUS).with_suffix("").as_posix()

    @property
    def oddity(self) -> str:
        """What is odd about it, as its header X-Corpus says."""
        return str(message_from_bytes(self.path.read_bytes())["X-Corpus"])

    @property
    def expected(self) -> str:
        """What a reader should find, in the form of ``describe``."""
        return self.path.with_suffix(".expected.txt").read_text(encoding="utf-8")


def list_corpus(*folders: str) -> list[CorpusMail]:
    """The mail of these folders, else of all, in the order of their names."""
    places = [CORPUS / folder for folder in folders] or [CORPUS]
    return [CorpusMail(path) for place in places for path in sorted(place.rglob("*.eml"))]


def describe(*, outcome: str, title: str, sender: str, attachments: Iterable[str], body: str) -> str:
    """Everything a reader should check, in one text. Of an attachment: its name, type and size."""
    head = [f"outcome: {outcome}", f"title: {title}", f"from: {sender}"]
    lines = [*head, *(f"attachment: {each}" for each in attachments), "", body]
    return "\n".join(lines).rstrip() + "\n"


def list_mail_of_python() -> list[Path]:
    """The files that Python's own tests of mail are made with, a few of them no mail at all but pictures and sounds.

    None where Python came without its tests.
    """
    found = find_spec("test.test_email") if find_spec("test") else None
    places = found.submodule_search_locations if found else None
    files = [path for place in places or () for path in Path(place, "data").iterdir() if path.is_file()]
    return sorted(path for path in files if path.suffix not in (".py", ".pyc"))
