"""What is cut of a text, and above all what is not."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inbox_loop.message.html_text import render_html
from inbox_loop.message.quote_marks import mark_nothing
from inbox_loop.message.quotes import MAX_LINES, cut_quotes
from inbox_loop.message.standing import Standing

WROTE = "On Mon, 30 Nov 2026 at 10:12, Tarnwick Teas <support@example.org> wrote:"
HEADERS = "From: Tarnwick Teas <support@example.org>\nSent: Monday, November 30, 2026 10:12 AM\nTo: Ada\nSubject: Tea"


def cut(text: str, standing: Standing = Standing.ANSWER) -> str:
    return cut_quotes(mark_nothing(text), standing)


@pytest.mark.parametrize(
    ("text", "new"),
    [
        pytest.param(f"Yes.\n\n{WROTE}\n> Tuesday?", "Yes.", id="the quote below the answer"),
        pytest.param(f"{WROTE}\n> Tuesday?\n\nYes.", "Yes.", id="the quote above the answer"),
        pytest.param(f"Hello,\n{WROTE}\n> Tuesday?\nyes.", "Hello,\n\nyes.", id="the quote in the middle"),
        pytest.param(f"Yes.\n\n{WROTE}\n\n\n> Tuesday?", "Yes.", id="empty lines below the attribution"),
        pytest.param(f"Yes.\n{WROTE}\n> a\n\n> b\n>\n>> c", "Yes.", id="empty lines in the quote"),
        pytest.param(f"Yes.\n\n{WROTE}\nTuesday?", "Yes.", id="a quote without an edge"),
        pytest.param(f"Yes.\n\n{HEADERS}\n\nTuesday?", "Yes.", id="headers above the quote"),
        pytest.param(f"Yes.\n____\n\n{HEADERS}\n\nTuesday?", "Yes.", id="a rule above the headers"),
        pytest.param(f"Yes.\n\n-----Original Message-----\n{WROTE}\n\n> Tuesday?", "Yes.", id="announced twice"),
        pytest.param(f"\U0001f44d\n\n{HEADERS}\n\nTuesday?", "\U0001f44d", id="an answer without a letter"),
        pytest.param(f"Yes.\n\n{WROTE}\n> Tuesday?\n\n{HEADERS}\n\nOld", "Yes.", id="both kinds of quote"),
        pytest.param(f"Yes.\nSent from my phone\n\n{HEADERS}\n\nTuesday?", "Yes.\nSent from my phone", id="a phone"),
        pytest.param("", "", id="nothing"),
        pytest.param(f"{WROTE}\n> Tuesday?", "", id="nothing but a quote"),
    ],
)
def test_what_is_surely_a_quote_is_cut(text: str, new: str) -> None:
    assert cut(text) == new


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("The price fell.\nOn Tuesday it rose.", id="no quote"),
        pytest.param(f"{WROTE}\n> Tuesday?\nYes.\n> Which floor?\nThe second.", id="answers between quotes"),
        pytest.param("> Tuesday?\n\nYes.", id="a quote above the answer, without attribution"),
        pytest.param("It says this:\n\n> Error 42", id="words that lead up to the quote"),
        pytest.param(f"{HEADERS}\n\nPlease see to it.", id="headers without a text above"),
        pytest.param(f"See my answers inline.\n\n{HEADERS}\n\nTuesday? Yes.", id="answers in a quote without an edge"),
        pytest.param(f"Get Outlook for iOS\n\n{HEADERS}\n\nTuesday? Yes!", id="nothing above but the program's name"),
        pytest.param("Please ship:\nFrom: Hamburg\nTo: Tokyo\nDate: 12 December 2026", id="a freight order"),
        pytest.param(f"See this.\n\n---------- Forwarded message ---------\n{HEADERS}\n\n> a", id="a forwarded mail"),
        pytest.param("Original message:\nnot one of mine", id="an announcement of nothing"),
        pytest.param("On 30 November 2026 you wrote:\n> Monday\n\nNo.", id="a citation of the sender's own"),
        pytest.param(f"This is what I got:\n\n{HEADERS}\n\nThe tin", id="words that lead up to a pasted mail"),
        pytest.param("Ship\n\n> From: Hamburg\n> To: Tokyo\n\nsoon.", id="a quoted freight order"),
        pytest.param("Bea wrote:\nI like tea.", id="somebody wrote, nobody knows when"),
        pytest.param("Please run these:\n\n> npm install\n> npm test", id="an edge without an attribution"),
        pytest.param("> Can you come?\nYes.\n> And Saturday?", id="edges without an attribution"),
        pytest.param("Please send it until Monday, 30 Nov 2026 10:00 to a@example.org:\n\n- passport", id="a sentence"),
        pytest.param(f"Hello,\n\n{HEADERS}\n\nCan you come?\n\nYes I can.", id="a greeting alone above headers"),
        pytest.param(f"See my answers.\n\n{HEADERS}\n\nCan you come?\n\nYes I can.", id="answers announced"),
        pytest.param(f"Hi Ada.\n\n{HEADERS}\n\nCan you come?\n[Bob: yes, at noon]", id="answers with a name"),
        pytest.param(f"Hi Ada.\n\n-----Original Message-----\n{HEADERS}\n> Tea?\n\nYes.", id="an answer below edges"),
        pytest.param("Book.\n\nVon: Hamburg\nDatum: 30.11.2026\nBetreff: Reise\n\nUnd ein Hotel.", id="an order form"),
        pytest.param("2 > 1, and\n3 > 2", id="a sign within a line"),
    ],
)
def test_in_doubt_the_text_stays(text: str) -> None:
    assert cut(text) == text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("It says:\n> Error 42\n> call service", id="quoted lines at the end"),
        pytest.param(f"Hello,\n\n{HEADERS}\n\nThe tin was dented.", id="headers below a text"),
        pytest.param(f"Hello,\n\n{WROTE}\nThe tin was dented.", id="an attribution of text without an edge"),
        pytest.param(f"Name: X\n{WROTE}\n> I want a refund", id="a web form that quotes"),
    ],
)
def test_of_a_message_that_is_no_answer_nothing_is_cut(text: str) -> None:
    assert cut(text, Standing.NEW) == text


def test_where_only_the_references_tell_of_an_answer_a_quote_needs_an_edge_and_an_attribution() -> None:
    edged, bare = f"Yes.\n\n{WROTE}\n> Tuesday?", f"Yes, please.\n\n{HEADERS}\n\nTuesday?"
    assert cut(edged, Standing.THREADED) == "Yes."
    assert cut(bare, Standing.THREADED) == bare


def test_of_a_message_that_passes_a_mail_on_all_is_content() -> None:
    text = f"Please see to it.\n\n{WROTE}\n> The tin was dented."
    assert cut(text, Standing.FORWARD) == text
    assert cut(text, Standing.ANSWER) == "Please see to it."


def test_after_the_last_answer_the_rest_of_the_quote_goes() -> None:
    answers = f"{WROTE}\n> Tuesday?\nYes.\n> Which floor?\nThe second."
    assert cut(f"{answers}\n\n> Kind regards\n> Tarnwick Teas") == answers


def test_a_text_with_more_lines_than_anyone_quotes_stays_as_it_is() -> None:
    answer = f"Yes.\n\n{WROTE}\n"
    assert cut(answer + "> x\n" * (MAX_LINES - 10)) == "Yes."
    longer = answer + "> x\n" * MAX_LINES
    assert cut(longer) == longer


WORDS = st.text(alphabet="abc äß茶", min_size=1, max_size=30).map(str.strip).filter(bool)
OWN = st.lists(WORDS, min_size=1, max_size=3)
QUOTED = st.lists(WORDS.map(lambda words: f"> {words}"), min_size=1, max_size=3)
ATTRIBUTIONS = st.sampled_from([[], [WROTE]])
LINES = st.sampled_from(
    [*f"{WROTE}\n{HEADERS}".split("\n"), "> quoted", ">", "", "own", "-----Original Message-----", "____", "wrote:"]
)


@given(st.lists(st.tuples(OWN, QUOTED), min_size=1, max_size=5), ATTRIBUTIONS, st.sampled_from(Standing))
def test_of_what_stands_beside_quotes_with_an_edge_no_line_is_lost(
    blocks: list[tuple[list[str], list[str]]], attribution: list[str], standing: Standing
) -> None:
    lines = [line for own, quoted in blocks for line in (*own, "", *attribution, *quoted, "")]
    kept = cut("\n".join(lines), standing).split("\n")
    assert [line for line in kept if line and line[0] != ">" and line != WROTE] == [
        line for own, _ in blocks for line in own
    ]


@given(st.one_of(st.text(), st.lists(LINES).map("\n".join)), st.sampled_from(Standing))
def test_any_text_keeps_its_order_and_gains_nothing(text: str, standing: Standing) -> None:
    left = iter(text.split("\n"))
    assert all(line in left for line in cut(text, standing).split("\n") if line)


@pytest.mark.parametrize(
    "pattern",
    [
        ">\n",
        ">\nx\n",
        "On \n",
        "On 2026 ",
        "On 2026 " * 30 + "\nwrote:\n",
        "On 30 Nov 2026 at 10:12 On Ada <a@example.com> wrote:\n",
        "On 30 Nov 2026 at 10:12 On Ada <a@example.com> wrote:\n> x\n",
        "From: a\n",
        "From: a@example.com\nDate: 2026\n",
        "-----Original Message-----\n",
        "2026/11/30 " + " <@" * 90 + ":\n",
        "> " * 100,
        "-",
    ],
    ids=lambda pattern: repr(pattern[:20]),
)
def test_a_megabyte_of_anything_is_cut_in_a_moment(pattern: str) -> None:
    lines = ("own\n" + pattern * (1024 * 1024 // len(pattern))).split("\n")[:MAX_LINES]
    started = time.process_time()
    cut("\n".join(lines))
    assert time.process_time() - started < 2


def test_a_plain_blockquote_is_a_quote_only_where_it_is_announced() -> None:
    said = "<p>They say:</p><blockquote>Good tea.</blockquote>"
    assert cut_quotes(render_html(said), Standing.ANSWER) == "They say:\n\nGood tea."
    announced = said.replace("They say:", WROTE.replace("<", "&lt;"))
    assert cut_quotes(render_html(f"<p>Yes.</p>{announced}"), Standing.ANSWER) == "Yes."


def test_the_element_of_outlook_makes_two_headers_enough() -> None:
    headers = "<b>From:</b> Ada<br><b>Sent:</b> Monday<br>"
    quote = "<p>Yes.</p>{}<p>Tuesday?</p>"
    marked = quote.format(f'<div id="divRplyFwdMsg">{headers}</div>')
    assert cut_quotes(render_html(marked), Standing.ANSWER) == "Yes."
    plain = render_html(quote.format(f"<div>{headers}</div>"))
    assert cut_quotes(plain, Standing.ANSWER) == str(plain)
