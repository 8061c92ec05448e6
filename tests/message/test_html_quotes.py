"""The edges of quotes in any HTML: on every line of a quote, and on no other."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbox_loop.message.html_strip import strip_tags
from inbox_loop.message.html_text import render_html

QUOTE = ("<blockquote type=cite>", "</blockquote>")
ELEMENTS = st.sampled_from(
    [
        QUOTE,
        ("<blockquote>", "</blockquote>"),
        ("<div>", "</div>"),
        ("<p>", "</p>"),
        ("<b>", "</b>"),
        ("<pre>", "</pre>"),
        ("<h1>", "</h1>"),
        ("<ul><li>x<li>", "</ul>"),
        ("<table><tr><td>x</td><td>", "</td></tr></table>"),
        ("<a href='https://example.org/&amp;'>", "</a>"),
        ("<img alt=x>&amp;amp;", "<br>"),
    ]
)


def wrap(element: tuple[str, str], inner: list[tuple[str, str]]) -> tuple[str, str]:
    """Both versions of an element: what is in a quote stays in it, however deep."""
    start, end = element
    in_quote = f"{start}{''.join(quoted for quoted, _ in inner)}{end}"
    outside = f"{start}{''.join(own for _, own in inner)}{end}"
    return in_quote, in_quote if element is QUOTE else outside


# Each in two versions: as it is within a quote, and as it is elsewhere.
TREES = st.recursive(
    st.just((" quoted ", " own ")),
    lambda inner: st.builds(wrap, ELEMENTS, st.lists(inner, max_size=4)),
    max_leaves=12,
)


@pytest.mark.parametrize("read", [lambda source: str(render_html(source)), strip_tags], ids=["rendered", "stripped"])
@given(trees=st.lists(TREES, max_size=5))
def test_a_line_has_an_edge_where_it_is_quoted_and_only_there(
    read: Callable[[str], str], trees: list[tuple[str, str]]
) -> None:
    for line in read("".join(own for _, own in trees)).split("\n"):
        if "quoted" in line:
            assert line.startswith(">")
        if "own" in line:
            assert not line.startswith(">")
