"""HTML to text: what a reader sees, where links lead, and what hostile HTML can't do."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbox_loop.message.html_strip import strip_tags
from inbox_loop.message.html_text import (
    MAX_RENDERED_CHARACTERS,
    MAX_RENDERED_DEPTH,
    find_declared_charset,
    render_html,
)
from inbox_loop.message.quote_marks import Mark


@pytest.mark.parametrize(
    ("source", "text"),
    [
        pytest.param("<p>One</p><p>Two<br>lines</p>", "One\n\nTwo\nlines", id="paragraphs"),
        pytest.param(
            '<a href="https://example.org/a?b=1&amp;c=2">here</a>', "[here](https://example.org/a?b=1&c=2)", id="a link"
        ),
        pytest.param('<a href="https://www.example.org/">example.org</a>', "example.org", id="text that is the target"),
        pytest.param('<a href="mailto:a@example.org">a@example.org</a>', "a@example.org", id="an address"),
        pytest.param(
            '<a href="https://evil.example.net">https://example.org</a>',
            "[https://example.org](https://evil.example.net)",
            id="a lie",
        ),
        pytest.param('<a href="javascript:alert(1)">here</a>', "here", id="a target that runs"),
        pytest.param('<a href="data:text/html,x">here</a> <a href="#top">top</a>', "here top", id="no target outside"),
        pytest.param(
            '<a href="https://example.org/\n x">here</a>', "[here](https://example.org/x)", id="a broken target"
        ),
        pytest.param('<img src="https://example.org/t.gif"> <img src="a.png" alt="Logo">', "[Logo]", id="images"),
        pytest.param("<ul><li>a<li>b<ul><li>c</ul></ul>", "  * a\n  * b\n      + c", id="lists"),
        pytest.param("<table><tr><th>Tea<th>kg<tr><td>Assam<td>2</table>", "Tea  kg\nAssam  2", id="a table"),
        pytest.param("<table><tr><td><p>left</p></td><td><p>right</p></td></tr></table>", "left\n\nright", id="layout"),
        pytest.param("<pre>a\n  b</pre>", "a\n  b", id="preformatted"),
        pytest.param(
            "<head><title>t</title><style>p{}</style></head><script>x()</script>shown", "shown", id="not for eyes"
        ),
        pytest.param('<div style="display: none">secret</div><p hidden>too</p>shown', "shown", id="hidden"),
        pytest.param("a<!-- b > c -->d<?xml:namespace prefix=o ?>e", "ade", id="comments and instructions"),
        pytest.param('<?xml version="1.0" encoding="utf-16"?><p>x</p>', "x", id="an XML declaration"),
        pytest.param("5 &lt; 6 &amp; 7 &euro;", "5 < 6 & 7 €", id="entities"),
        pytest.param("just text", "just text", id="no tags"),
        pytest.param("<p>never <b>closed", "never closed", id="never closed"),
        pytest.param("<li value=99999999999999999999>x", "* x", id="a number that is none"),
        pytest.param("", "", id="nothing"),
        pytest.param("<!-- only -->", "", id="only a comment"),
    ],
)
def test_html_reads_as_a_person_would_see_it(source: str, text: str) -> None:
    assert str(render_html(source)) == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (
            "<style>p { x: '<b>' }</style><p>Hi <a href='https://example.org/'>there</a></p>a &amp; b",
            "Hi there (https://example.org/)\na & b",
        ),
        ("<p>a<!-- b > c -->d</p>1 < 2 <", "ad1 < 2 <".replace("ad1", "ad\n1")),
        ("<script>never closed", ""),
        ("<html><head><title>no</title><style>p {}</style><body><p>Hi</p>", "Hi"),
        ("<head><meta charset=utf-8><p>Hi</p>", "Hi"),
        ("<a href='javascript:x'>a</a><td>b<td>c", "a b c"),
        ("Yes.<blockquote type='cite'>a\nb<blockquote>c</blockquote></blockquote>d", "Yes.\n> a\n> b\n> c\n>\nd"),
        ("<blockquote>a</blockquote></blockquote><BLOCKQUOTE class=gmail_quote>b", "a\n\n> b"),
    ],
)
def test_stripped_html_keeps_the_text_and_the_targets(source: str, text: str) -> None:
    assert "".join(strip_tags(source).split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("hostile", "kept"),
    [
        pytest.param("<div>" * 100_000 + "deep" + "</div>" * 100_000 + "<p>after</p>", ("deep", "after"), id="deep"),
        pytest.param("<table><tr><td>" * 20_000 + "deep", ("deep",), id="deep tables"),
        pytest.param("<html><head><body>" + "<div>" * 300 + "deep", ("deep",), id="deep, and a head never closed"),
        pytest.param("<ul>" * 190 + "<li>item" * 19_000, ("item",), id="deep lists, many items"),
        pytest.param("<b>x</b>" * 60_000 + "end", ("end",), id="one long line of many elements"),
        pytest.param("<b>" + "x" * 16 + "</b>" + "<b>y</b>" * 19_000 + "end", ("end",), id="as many as are rendered"),
        pytest.param("<p>word</p>" * 200_000 + "end", ("word", "end"), id="megabytes"),
        pytest.param("x" + " " * 3_000_000 + "end", ("x", "end"), id="megabytes of blanks"),
        pytest.param("<" * 500_000, ("<",), id="only beginnings"),
        pytest.param("<blockquote type=cite>\n" * 100_000 + "end", ("end",), id="quotes in quotes"),
        pytest.param("<!--" * 200_000 + "end", (), id="comments never closed"),
        pytest.param("<a href='" * 100_000 + "end", (), id="attributes never closed"),
        pytest.param("<a href=https://example.org>" * 19_000 + "end", ("end",), id="links in links"),
        pytest.param(
            "<p style='margin-top:99999999em;padding-left:99999999em'>a<p>b", ("a", "b"), id="endless margins"
        ),
        pytest.param("<table>" + "<tr><td>" + "w" * 200_000 + "<tr><td>x" * 9_000, ("x",), id="a wide cell, many rows"),
        pytest.param("&amp;" * 200_000 + "&#0;&#xD800;&#99999999999;", ("&",), id="entities"),
    ],
)
def test_hostile_html_costs_little_and_loses_no_text(hostile: str, kept: tuple[str, ...]) -> None:
    started = time.process_time()
    text = str(render_html(hostile))
    assert time.process_time() - started < 5
    assert len(text) <= max(4 * len(hostile), 1_000_000)
    assert all(word in text for word in kept)


def test_html_is_rendered_up_to_the_limits_and_stripped_beyond() -> None:
    list_item = "<ul><li>a</ul>"
    assert str(render_html(list_item)) == "  * a"
    assert str(render_html(list_item + " " * MAX_RENDERED_CHARACTERS)) == "a"
    assert str(render_html("<div>" * MAX_RENDERED_DEPTH + list_item)) == "a"


def test_the_lines_of_a_quote_have_an_edge_and_every_line_keeps_its_mark() -> None:
    source = (
        "Yes.<div class=gmail_attr>Ada wrote:</div><blockquote type=cite><p>One<br>two</p>"
        "<blockquote>three</blockquote></blockquote><blockquote>four</blockquote><ul><li>five</ul>"
        "<div id=divRplyFwdMsg>From: Ada<br>Sent: Monday</div>six"
    )
    rendered = render_html(source)
    assert [(line, mark) for line, mark in zip(rendered.lines, rendered.marks, strict=True) if line] == [
        ("Yes.", None),
        ("Ada wrote:", Mark.ATTRIBUTION),
        ("> One", Mark.QUOTE),
        ("> two", Mark.QUOTE),
        ("> three", Mark.QUOTE),
        ("four", Mark.BLOCK),
        ("  * five", None),
        ("From: Ada", Mark.HEADERS),
        ("Sent: Monday", Mark.HEADERS),
        ("six", None),
    ]


def test_a_sender_cannot_forge_a_mark() -> None:
    rendered = render_html("<p mark=quote>One</p><quote>Two</quote><mark>&#2;Three</mark>")
    assert set(rendered.marks) == {None}


@pytest.fixture
def impatient_threads() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("impatient_threads")
def test_threads_that_render_at_once_get_the_text_of_their_own_message() -> None:
    words = [f"word{number}" for number in range(500)]
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda word: str(render_html(f"<p>{word}</p>{word}")), words))
    assert texts == [f"{word}\n\n{word}" for word in words]


def test_the_charset_a_document_names_is_found() -> None:
    assert find_declared_charset(b'<html><head><meta charset="koi8-r">') == "koi8-r"
    assert find_declared_charset(b'<META http-equiv=Content-Type content="text/html; charset=gb2312">') == "gb2312"
    assert find_declared_charset(b"<html><p>charset=koi8-r") is None


BLOCKS = ["<p>", "</p>", "<div hidden>", "</div>", "<pre>", "<br>", "<body>", "</html>", "<svg>", "<q>", "<img alt=x>"]
LISTS = ["<ul>", "</ul>", "<ol>", "<li value='²'>", "<table>", "</table>", "<tr>", "<td rowspan=9>", "</td>"]
OTHERS = [
    "<a href='https://example.org'>",
    "</a>",
    "<!--",
    "-->",
    "<style>",
    "</style>",
    "<script>",
    "<?x",
    "<![CDATA[",
]
TEXTS = ["text", " ", "\x00", "\ud800", "&#55296;", "&amp;lt;", "]]>"]
TAGS = st.sampled_from([*BLOCKS, *LISTS, *OTHERS, *TEXTS])


@given(st.one_of(st.text(), st.lists(TAGS).map("".join)))
def test_any_html_is_rendered(source: str) -> None:
    text = str(render_html(source))
    assert "\n\n\n" not in text
    assert text == text.strip("\n")
