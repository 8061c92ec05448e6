"""What single lines say: that a mail is forwarded here, that the answered mail follows, that headers stand here.

Lives here: the signs themselves, each read from a bounded number of characters. Not here: the words
(``quote_words.py``), the line that announces a quote (``quote_attribution.py``), and what follows from a sign
(``quote_edges.py``, ``quote_tail.py``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mailparser_reply.constants import MAIL_LANGUAGES

from inbox_loop.message.quote_words import FORWARDED, HEADER_NAMES, ORIGINAL, POINTS_BELOW, SENT_FROM, Role

_MAX_LINE_CHARACTERS = 100
_MAX_NAME_CHARACTERS = 30
# Of the block of headers: a list of recipients may take some lines.
_MAX_BLOCK_LINES = 16
_MAX_FOLDED_LINES = 3
_ENOUGH_ROLES = 2
_BOTH = 2
_MAX_READ_CHARACTERS = 4000

_FRAME = "-_*=> \t\u00a0"
# The last ones show as nothing.
_NOTHING = f"{_FRAME}.|~#\u200b\u200c\u200d\u2060"
_MOMENT = re.compile(r"(?<!\d)\d{4}(?!\d)|(?<!\d)\d{1,2}[:.]\d{2}(?!\d)")
_SENT_FROM = re.compile(
    "|".join(f"(?:{words['sent_from']})" for words in MAIL_LANGUAGES.values() if words.get("sent_from")), re.IGNORECASE
)
# With a dot in some languages; not the days and months of a date.
_TIME_OF_DAY = re.compile(r"(?<![\d.:])\d{1,2}[:.]\d{2}(?![\d.])")
_SIGNED_ANSWER = re.compile(r"\[([^\[\]:\n]{1,40}+)[\]:]")
# What programs put into brackets: images, their ids, links.
_NO_NAMES = frozenset({"image", "inline image", "cid", "http", "https", "mailto", "bild", "logo"})
_POINTS_BELOW = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, POINTS_BELOW))})(?!\w)")


def says_something(line: str) -> bool:
    """Whether ``line`` has more in it than blanks, rules and the edges of quotes."""
    return line.strip(_NOTHING) != ""


def announces_forwarded(line: str) -> bool:
    """Whether a forwarded mail follows: ``---------- Forwarded message ---------``."""
    return _find_announcement(line) in FORWARDED


def announces_original(line: str) -> bool:
    """Whether the mail that is answered follows: ``-----Original Message-----``."""
    return _find_announcement(line) in ORIGINAL


def is_rule(line: str) -> bool:
    """Whether ``line`` is drawn, as Outlook draws one above a quote, and says nothing."""
    return line.strip() != "" and line.strip(_FRAME) == ""


def find_role(line: str) -> Role | None:
    """What the header at the start of ``line`` names; None if there is none."""
    before, colon, _ = line[:_MAX_NAME_CHARACTERS].replace("\uff1a", ":").partition(":")
    return HEADER_NAMES.get(" ".join(before.strip(_FRAME).split()).casefold()) if colon else None


def names_moment(text: str) -> bool:
    """Whether ``text`` has a year or a time of day in it."""
    return _MOMENT.search(text) is not None


def is_header_block(lines: Sequence[str], start: int) -> bool:
    """Whether headers stand from ``start`` on that are beyond doubt those of a mail.

    That takes sender, recipient, subject and a time of day; of recipient and subject one will do where an address
    occurs. "From: Hamburg, To: Tokyo, Date: 30.11.2026" is on every freight order.
    """
    roles, text = _read_block(lines, start)
    if Role.FROM not in roles or Role.DATE not in roles or _TIME_OF_DAY.search(text) is None:
        return False
    further = len(roles & {Role.TO, Role.SUBJECT})
    return further == _BOTH or (further > 0 and "@" in text)


def begins_like_headers(lines: Sequence[str], start: int) -> bool:
    """Whether two headers stand from ``start`` on, one of them the sender: enough where something else marks them."""
    roles, _ = _read_block(lines, start)
    return Role.FROM in roles and len(roles) >= _ENOUGH_ROLES


def is_programs_signature(line: str) -> bool:
    """Whether a mail program signs with ``line``: "Sent from my phone". The sender wrote nothing of it."""
    text = line.strip()[:_MAX_LINE_CHARACTERS]
    return _SENT_FROM.match(text) is not None or text.casefold().startswith(SENT_FROM)


def is_signed_answer(line: str) -> bool:
    """Whether ``line`` begins as answers do that are written into a quote: ``[Bob]`` or ``[Bob: yes]``."""
    found = _SIGNED_ANSWER.match(line.lstrip()[:_MAX_LINE_CHARACTERS])
    return found is not None and found[1].strip().casefold() not in _NO_NAMES


def points_below(text: str) -> bool:
    """Whether the sender writes of what stands further down, as in "my answers are below" or "in red"."""
    return _POINTS_BELOW.search(text[-_MAX_READ_CHARACTERS:].casefold()) is not None


def _find_announcement(line: str) -> str:
    """The words between dashes or before a colon, with one kind of blank; empty if the line is no announcement."""
    if len(line) > _MAX_LINE_CHARACTERS:
        return ""
    framed = line.strip()
    if not framed.startswith("--") and not framed.endswith((":", "\uff1a")):
        return ""
    return " ".join(framed.rstrip(":\uff1a").strip(_FRAME).split()).replace("\u2019", "'").casefold()


def _read_block(lines: Sequence[str], start: int) -> tuple[set[Role], str]:
    """The roles of the headers from ``start`` on, and their text. Single empty lines and folded ones may be between."""
    roles: set[Role] = set()
    read: list[str] = []
    other_lines = 0
    for line in lines[start : start + _MAX_BLOCK_LINES]:
        role = find_role(line)
        if role is None:
            other_lines += 1
            if other_lines > _MAX_FOLDED_LINES:
                break
            continue
        if role in roles and role is not Role.OTHER:
            break
        roles.add(role)
        read.append(line[:_MAX_READ_CHARACTERS])
        other_lines = 0
    return roles, "\n".join(read)
