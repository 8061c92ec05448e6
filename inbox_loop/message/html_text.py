"""HTML to readable text, with link targets kept. Nothing is fetched.

Lives here: the rendering by inscriptis, and our rules for links and tables. Not here: what becomes of HTML that is
too big or too deep to be rendered (``html_strip.py``). Never fails: HTML of mail is whatever a stranger sent.

What the elements say about quotes (``quote_marks.py``) is carried along as annotations of the renderer rather than as
characters in the text, so that no sender can forge them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from copy import copy
from itertools import accumulate
from typing import Any

import lxml.html
from inscriptis.annotation import Annotation
from inscriptis.annotation.parser import ApplyAnnotation
from inscriptis.css_profiles import STRICT_CSS_PROFILE
from inscriptis.html_engine import Inscriptis
from inscriptis.html_properties import Display, WhiteSpace
from inscriptis.model.config import ParserConfig
from inscriptis.model.html_document_state import HtmlDocumentState
from inscriptis.model.html_element import HtmlElement
from inscriptis.model.tag import CustomHtmlTagHandlerMapping
from lxml.etree import LxmlError

from inbox_loop.message.html_strip import UNSEEN, clean_target, strip_tags
from inbox_loop.message.quote_marks import Mark, MarkedText, find_mark, mark_nothing

# Larger or deeper HTML is not rendered, only stripped of its tags: the renderer recurses once a level, and copies
# the line it is at once an element. Ordinary mail stays far below; twenty forwards of a newsletter as well.
MAX_RENDERED_CHARACTERS = 512 * 1024
MAX_RENDERED_ELEMENTS = 20_000
MAX_RENDERED_DEPTH = 200
# Lists in lists in lists: from here on they are indented no further.
MAX_LIST_DEPTH = 10

_LINK_ADORNMENT = re.compile(r"^(?:https?://|ftp://|mailto:|tel:|sms:)?(?:www\.)?", re.IGNORECASE)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)

_META_CHARSET = re.compile(rb"<meta[^>]{1,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9._:+-]{1,64})", re.IGNORECASE)
_META_WITHIN_BYTES = 2048

_LISTS = ("ol", "ul")

# An attribute of our own, set when all others are gone.
_MARK = "mark"


def find_declared_charset(data: bytes) -> str | None:
    """The charset an HTML document names itself, for parts whose Content-Type names none."""
    match = _META_CHARSET.search(data[:_META_WITHIN_BYTES])
    return match[1].decode() if match else None


def render_html(source: str) -> MarkedText:
    """The readable text of ``source``, quotes with ``>`` before each line as in plain text.

    Links show as ``[text](target)``, unless the text is the target.
    """
    if len(source) > MAX_RENDERED_CHARACTERS:
        return mark_nothing(strip_tags(source))
    try:
        tree = _parse(source)
        if not _can_be_rendered(tree):
            return mark_nothing(strip_tags(source))
        _prepare(tree)
        rendered = Inscriptis(tree, _config())
        # The text first: making it is what completes the annotations.
        lines = rendered.get_text().split("\n")
        return _tidy_marked(lines, _mark_lines(lines, rendered.get_annotations()))
    except (LxmlError, RecursionError, ValueError):  # no element at all, or not what the renderer can take
        return mark_nothing(strip_tags(source))


def _mark_lines(lines: list[str], annotations: Iterable[Annotation]) -> list[Mark | None]:
    """The mark of each line. An annotation covers a line if it covers the first character that is not blank."""
    starts = list(accumulate((len(line) + 1 for line in lines[:-1]), initial=0))
    firsts = [start + len(line) - len(line.lstrip()) for start, line in zip(starts, lines, strict=True)]
    marks: list[Mark | None] = [None] * len(lines)
    # From the least to the most: what is painted last is what shows.
    for mark in reversed(Mark):
        changes = [0] * (len(lines) + 1)
        for annotation in annotations:
            if annotation.metadata == mark:
                changes[bisect_left(firsts, annotation.start)] += 1
                changes[bisect_left(firsts, annotation.end)] -= 1
        marks = [mark if depth > 0 else found for depth, found in zip(accumulate(changes), marks, strict=False)]
    return marks


def _tidy_marked(lines: list[str], marks: list[Mark | None]) -> MarkedText:
    """As ``html_strip.tidy_lines`` does, with the marks, and with the edge of a quote for all to see."""
    kept: list[tuple[str, Mark | None]] = []
    for line, mark in zip(map(str.rstrip, lines), marks, strict=True):
        if line and mark is Mark.QUOTE:
            kept.append((f"> {line}", mark))
        elif line or (kept and kept[-1][0]):
            kept.append((line, mark))
    while kept and not kept[-1][0]:
        kept.pop()
    return MarkedText([line for line, _ in kept], [mark for _, mark in kept])


def _parse(source: str) -> Any:  # noqa: ANN401 - lxml has no types
    # Without huge_tree, libxml2 silently drops all that is nested deeper than 255. Comments go, their tails stay.
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    return lxml.html.document_fromstring(source.encode("utf-8", errors="replace"), parser=parser)


def _can_be_rendered(tree: Any) -> bool:  # noqa: ANN401 - lxml has no types
    count = 0
    level = [tree]
    for _ in range(MAX_RENDERED_DEPTH):
        count += len(level)
        if count > MAX_RENDERED_ELEMENTS:
            return False
        level = [child for element in level for child in element]
        if not level:
            return True
    return False


def _prepare(tree: Any) -> None:  # noqa: ANN401 - lxml has no types
    """Take out what a reader would not see, and every attribute but link targets, what stands for an image, and marks.

    Without attributes, no style can ask the renderer for a margin of a million lines.
    """
    for element in list(tree.iter()):
        attributes = dict(element.attrib)
        element.attrib.clear()
        if element.getparent() is None:
            continue
        if "hidden" in attributes or _HIDDEN.search(attributes.get("style", "")):
            element.drop_tree()
            continue
        mark = find_mark(element.tag, attributes)
        if mark is not None:
            element.set(_MARK, mark.value)
        if element.tag == "a":
            target = clean_target(attributes.get("href", ""))
            if target and not _shows(target, element.text_content()):
                element.set("href", target)
        elif element.tag == "img" and attributes.get("alt", "").strip():
            element.set("alt", attributes["alt"].strip())
        elif element.tag in _LISTS and sum(1 for _ in element.iterancestors(*_LISTS)) >= MAX_LIST_DEPTH:
            element.tag = "div"


def _shows(target: str, text: str) -> bool:
    """Whether the text of a link says by itself where it leads."""
    bare_target, bare_text = (_LINK_ADORNMENT.sub("", url.strip()).rstrip("/").lower() for url in (target, text))
    return bare_target == bare_text


def _start_cell(state: HtmlDocumentState, _attributes: Mapping[str, str]) -> None:
    cell = state.tags[-1]
    if not cell.canvas.current_block.is_empty():
        cell.canvas.write(cell, "  ", whitespace=WhiteSpace.pre)


def _start_nothing(_state: HtmlDocumentState, _attributes: Mapping[str, str]) -> None:
    """A tag whose start adds no text."""


def _end_nothing(_state: HtmlDocumentState) -> None:
    """A tag whose end adds no text."""


def _config() -> ParserConfig:
    """How we render: a row of a table is a line, and its cells follow each other.

    Columns of equal width would cost the longest cell times the number of rows; mail uses tables for layout.
    """
    # The renderer keeps its canvas in the profile's "body": without a copy, two threads would write to one canvas.
    body = {"body": copy(STRICT_CSS_PROFILE["body"])}
    unseen = {tag: HtmlElement(display=Display.none) for tag in UNSEEN}
    blocks = {tag: HtmlElement(display=Display.block) for tag in ("table", "tr", "caption", "form", "dt", "dd", "hr")}
    config = ParserConfig(
        css=STRICT_CSS_PROFILE | body | unseen | blocks,
        display_links=True,
        display_images=True,
        custom_html_tag_handler_mapping=CustomHtmlTagHandlerMapping(
            start_tag_mapping={"table": _start_nothing, "tr": _start_nothing, "td": _start_cell, "th": _start_cell},
            end_tag_mapping={"table": _end_nothing, "td": _end_nothing, "th": _end_nothing},
        ),
    )
    config.attribute_handler.merge_attribute_map(
        [ApplyAnnotation((mark.value,), attr=_MARK, match_value=mark.value) for mark in Mark]
    )
    return config
