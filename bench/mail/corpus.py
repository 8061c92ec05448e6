"""The mail that reading is measured with: the demo's sample, the corpora of the tests, and made-up everyday mail."""

from __future__ import annotations

from pathlib import Path

from made_mail import make_messages

from inbox_loop import simulator

_SAMPLE = Path(simulator.__file__).with_name("sample")
_CORPUS = Path(__file__).parents[2] / "tests" / "corpus"
_MADE = 100


def list_corpus() -> dict[str, bytes]:
    """The bytes of each mail, by the name of its file."""
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for folder in (_SAMPLE, _CORPUS)
        for path in sorted(folder.rglob("*.eml"))
    }
    made = {f"made/{number}": message.encode("ascii") for number, message in enumerate(make_messages(_MADE))}
    return files | made
