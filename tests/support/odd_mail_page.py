"""``docs/odd-mail.md``: what came in, and what its task says, for each mail of the corpus.

Lives here: how the page looks, and the writing of it: ``PYTHONPATH=tests python -m support.odd_mail_page``. Not here:
the corpus (``corpus.py``); that the expectations are true (``loop/test_corpus.py``).
"""

from __future__ import annotations

import re
from pathlib import Path

from support.corpus import CorpusMail, list_corpus

from inbox_loop.commands.docs_markdown import table
from inbox_loop.commands.show import escape

PAGE = Path(__file__).parents[2] / "docs" / "odd-mail.md"

_HEAD = """# Odd mail, and what becomes of it

<!-- Rendered by `PYTHONPATH=tests python -m support.odd_mail_page` from `tests/corpus`: change it there. -->

Each line is a message in `tests/corpus`. A test delivers all of them into the simulator, lets the loop read them into
Postgres, and compares what becomes of each with the file `.expected.txt` beside it. Long texts are cut here, and
characters that don't show are written as their codes.
"""
_SECTIONS = {
    "odd": "Odd mail",
    "bulk": "Mail of machines, of lists, in bulk, and of oneself",
    "quotes": "Answers with quotes",
}
_COLUMNS = ("what came in", "outcome", "title", "sender", "first line of the text", "attachments", "file")
_LONGEST = 70
_ELLIPSIS = "…"
# Whatever could be markup. A bar is escaped by the table.
_MARKUP = re.compile(r"([\\`*_\[\]<>~&$#])")


def render_odd_mail_page() -> str:
    """The whole page."""
    sections = (
        f"\n## {title}\n\n{table(_COLUMNS, map(_row, list_corpus(folder)))}" for folder, title in _SECTIONS.items()
    )
    return _HEAD + "".join(sections)


def _row(mail: CorpusMail) -> tuple[str, ...]:
    head, _, body = mail.expected.partition("\n\n")
    outcome, title, sender, *attachments = head.rstrip("\n").split("\n")
    first_line = next((line for line in body.split("\n") if line.strip()), "")
    return (
        _show(mail.oddity),
        _value(outcome),
        _show(_value(title)),
        _show(_value(sender)),
        _show(first_line),
        "; ".join(_show(_value(each)) for each in attachments),
        f"`{mail.name}`",
    )


def _value(line: str) -> str:
    return line.partition(": ")[2]


def _show(text: str) -> str:
    """``text`` as it is, cut, and with nothing in it that reads as markup."""
    shown = text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + _ELLIPSIS
    return _MARKUP.sub(r"\\\1", escape(shown))


if __name__ == "__main__":
    PAGE.write_text(render_odd_mail_page(), encoding="utf-8")
