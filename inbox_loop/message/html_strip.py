"""HTML with its tags taken off: for what is too big or too deep to be rendered (``html_text.py``).

Lives here: one pass over the tags that keeps text, breaks, link targets and the edges of quotes, and what the
rendering has in common with it. Never fails, and takes time in proportion to the source.
"""

from __future__ import annotations

import html
import re

from inbox_loop.message.quote_marks import Mark, find_mark

# Not the head as a whole: its end is often missing, and what of it could show is in here.
UNSEEN = frozenset({"noframes", "script", "style", "template", "title"})

_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9:]*+)([^<>]*+)>")
_HREF = re.compile(r"\bhref\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>]++))", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"\b(class|id|type)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>]++))", re.IGNORECASE)
_MAX_ATTRIBUTES_CHARACTERS = 1000
_BREAKS = frozenset({"blockquote", "br", "div", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "p", "table", "tr"})

# Targets worth reading. Others run something, carry the data itself, or lead nowhere outside of the mail.
_LINK = re.compile(r"(?:https?|ftp|mailto|tel|sms):", re.IGNORECASE)

_BLANKS = re.compile(r"[ \t\u00a0]+")
_MANY_NEWLINES = re.compile(r"\n{3,}")
_MANY_EDGES = re.compile(r"(?:\n>){2,}(?=\n|\Z)")


def strip_tags(source: str) -> str:
    """The text of ``source`` with every tag removed. Links show as ``text (target)``, quotes with ``>`` as in text."""
    source = _strip_comments(source)
    stripper = _Stripper()
    position = 0
    for tag in _TAG.finditer(source):
        closing, name, rest = tag.groups()
        start, end = tag.span()
        stripper.add_text(source[position:start])
        if closing:
            stripper.end_tag(name.lower())
        else:
            stripper.start_tag(name.lower(), rest)
        position = end
    stripper.add_text(source[position:])
    text = _BLANKS.sub(" ", html.unescape("".join(stripper.pieces)))
    return _MANY_EDGES.sub("\n>", tidy_lines(text))


def tidy_lines(text: str) -> str:
    """No blanks at the end of a line, no more than one empty line in a row, none at the ends."""
    return _MANY_NEWLINES.sub("\n\n", "\n".join(line.rstrip() for line in text.split("\n"))).strip("\n")


def clean_target(href: str) -> str:
    """The target of a link without blanks; empty if it is not worth reading."""
    target = "".join(href.split())
    return target if _LINK.match(target) else ""


class _Stripper:
    """Collects the text between tags, and what some tags stand for."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._unseen = ""
        self._target = ""
        self._line_end = "\n"
        self._blocks_open = 0
        self._quoted_since = 0
        """How many blockquotes were open with the outermost one that is surely a quote; 0 outside of quotes."""

    def add_text(self, text: str) -> None:
        if text and not self._unseen:
            self.pieces.append(text.replace("\n", self._line_end) if self._quoted_since else text)

    def start_tag(self, name: str, rest: str) -> None:
        if self._unseen:
            return
        if name in _BREAKS:
            if name == "blockquote":
                self._open_block(rest)
            self.pieces.append(self._line_end)
        elif name == "a":
            self._target = _find_target(rest)
        elif name in ("td", "th"):
            self.pieces.append(" ")
        elif name in UNSEEN:
            self._unseen = name

    def end_tag(self, name: str) -> None:
        if self._unseen:
            self._unseen = "" if name == self._unseen else self._unseen
        elif name == "a":
            self.pieces.append(f" ({self._target})" if self._target else "")
            self._target = ""
        elif name in _BREAKS:
            if name == "blockquote":
                self._close_block()
            self.pieces.append(self._line_end)

    def _open_block(self, rest: str) -> None:
        self._blocks_open += 1
        if not self._quoted_since and find_mark("blockquote", _find_attributes(rest)) is Mark.QUOTE:
            self._quoted_since = self._blocks_open
            self._line_end = "\n> "

    def _close_block(self) -> None:
        if self._blocks_open == self._quoted_since:
            self._quoted_since = 0
            self._line_end = "\n"
        self._blocks_open = max(0, self._blocks_open - 1)


def _find_attributes(rest: str) -> dict[str, str]:
    found = _ATTRIBUTE.finditer(rest[:_MAX_ATTRIBUTES_CHARACTERS])
    return {match[1].lower(): match[2] or match[3] or match[4] or "" for match in found}


def _find_target(rest: str) -> str:
    match = _HREF.search(rest)
    return clean_target(html.unescape(match[1] or match[2] or match[3] or "")) if match else ""


def _strip_comments(source: str) -> str:
    pieces: list[str] = []
    position = 0
    while (start := source.find("<!--", position)) >= 0 and (end := source.find("-->", start)) >= 0:
        pieces.append(source[position:start])
        position = end + len("-->")
    pieces.append(source[position:])
    return "".join(pieces)
