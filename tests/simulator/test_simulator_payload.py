"""Payload trees from real bytes: every byte of a body survives, every shape is Gmail's, and nothing fails."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator
from importlib import resources
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbox_loop.simulator.headers import decode_words
from inbox_loop.simulator.mime import MAX_DEPTH, parse_message
from inbox_loop.simulator.payload import INLINE_LIMIT, find_attachment, full_payload, snippet
from inbox_loop.simulator.server import Simulator

ME = "ann@example.com"
EVEN, ODD = "19b0000000000002", "19b0000000000001"
Json = dict[str, Any]


def payload_of(raw: bytes, message_id: str = EVEN) -> Json:
    payload = full_payload(parse_message(raw), message_id)
    return dict(json.loads(json.dumps(payload)))


def body_of(part: Json) -> bytes:
    data = part["body"].get("data", "")
    return base64.urlsafe_b64decode(data + "=" * (-len(data) % 4))


def walk(part: Json) -> Iterator[Json]:
    yield part
    for child in part.get("parts", []):
        yield from walk(child)


def test_a_single_part_message_has_its_body_in_the_payload_itself() -> None:
    payload = payload_of(b"Subject: x\r\nContent-Type: text/plain\r\n\r\nhello\r\n")
    assert (payload["partId"], payload["mimeType"], payload["filename"]) == ("", "text/plain", "")
    assert body_of(payload) == b"hello\r\n"
    assert "parts" not in payload


def test_parts_are_numbered_from_zero_at_each_level() -> None:
    raw = (
        b"Content-Type: multipart/mixed; boundary=out\n\npreamble\n--out\n"
        b'Content-Type: multipart/alternative; boundary="in"\n\n--in\n\nplain\n--in\n'
        b"Content-Type: text/html\n\n<p>html\n--in--\n--out\n"
        b"Content-Type: message/rfc822\n\nSubject: inner\n\nquoted\n--out--\nepilogue\n"
    )
    tree = [(part["partId"], part["mimeType"]) for part in walk(payload_of(raw))]
    assert tree == [
        ("", "multipart/mixed"),
        ("0", "multipart/alternative"),
        ("0.0", "text/plain"),
        ("0.1", "text/html"),
        ("1", "message/rfc822"),
        ("1.0", "text/plain"),
    ]


@pytest.mark.parametrize(
    ("encoding", "body", "decoded"),
    [
        (b"8bit", b"caf\xe9 \xff\x00", b"caf\xe9 \xff\x00"),
        (b"quoted-printable", b"caf=E9 =C3=A9=\r\nend=3D", b"caf\xe9 \xc3\xa9end="),
        (b"base64", b"gUCB\r\nQQ==\r\n", b"\x81@\x81A"),
        (b"BASE64", b"g U!C B", b"\x81@\x81"),
        (b"base64", b"gUCBQ", b"\x81@\x81"),
        (b"x-uuencode", b"begin 644 x\n#86)C\n`\nend\n", b"abc"),
        (b"no-such-encoding", b"=E9", b"=E9"),
    ],
)
def test_bodies_are_the_transfer_decoded_bytes_whatever_the_charset(
    encoding: bytes, body: bytes, decoded: bytes
) -> None:
    raw = b"Content-Type: text/plain; charset=nonsense\r\nContent-Transfer-Encoding: " + encoding + b"\r\n\r\n" + body
    payload = payload_of(raw)
    assert body_of(payload) == decoded
    assert payload["body"]["size"] == len(decoded)


def test_padding_comes_and_goes() -> None:
    raw = b"\r\nx"
    assert payload_of(raw, EVEN)["body"]["data"] == "eA=="
    assert payload_of(raw, ODD)["body"]["data"] == "eA"


def test_an_empty_body_has_a_size_and_no_data() -> None:
    assert payload_of(b"Subject: x\r\n\r\n")["body"] == {"size": 0}


def test_large_text_and_files_carry_an_attachment_id_instead_of_data() -> None:
    assert "data" in payload_of(b"\r\n" + b"x" * INLINE_LIMIT)["body"]
    large = payload_of(b"\r\n" + b"x" * (INLINE_LIMIT + 1))["body"]
    named = payload_of(b"Content-Disposition: attachment; filename=a.txt\r\n\r\nshort")
    image = payload_of(b"Content-Type: image/png\r\n\r\n\x89PNG")
    assert set(large) == set(named["body"]) == set(image["body"]) == {"attachmentId", "size"}
    assert named["filename"] == "a.txt"


def test_an_attachment_id_is_good_for_the_message_it_was_given_for_alone() -> None:
    raw = b"Content-Type: image/png\r\n\r\n\x89PNG"
    attachment_id = payload_of(raw, EVEN)["body"]["attachmentId"]

    assert find_attachment(parse_message(raw), attachment_id, EVEN) == b"\x89PNG"
    assert find_attachment(parse_message(raw), attachment_id, ODD) is None


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("Content-Disposition: attachment; filename=plain.txt", "plain.txt"),
        ('Content-Disposition: attachment; filename="two words.txt"', "two words.txt"),
        ("Content-Disposition: attachment; filename*=utf-8''gr%C3%BC%C3%9Fe.pdf", "grüße.pdf"),
        ("Content-Disposition: attachment;\r\n filename*0*=utf-8''gr%C3%BC;\r\n filename*1=n.pdf", "grün.pdf"),
        ('Content-Disposition: attachment; filename="=?utf-8?B?Z3LDvG4ucGRm?="', "grün.pdf"),
        ("Content-Type: text/plain; name=other.txt", "other.txt"),
        ("Content-Disposition: attachment; filename*=no-charset''a%FFb", "aÿb"),
        ("Content-Disposition: inline", ""),
    ],
)
def test_file_names_are_read_as_mailers_write_them(header: str, name: str) -> None:
    assert payload_of(f"{header}\r\n\r\nx".encode())["filename"] == name


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("=?utf-8?q?caf=C3=A9_au_lait?=", "café au lait"),
        ("=?iso-8859-1?Q?caf=E9?= =?utf-8?B?w6k=?= end", "caféé end"),
        ("=?x-unknown?Q?caf=E9?=", "=?x-unknown?Q?caf=E9?="),
        ("=?utf-8?B?w6?=", "=?utf-8?B?w6?="),
        ("=?utf-8?B?***?= x", "=?utf-8?B?***?= x"),
        ("=?utf-8?q?cut", "=?utf-8?q?cut"),
        ("=?utf-7?Q?+2AA-?=", "=?utf-7?Q?+2AA-?="),
    ],
)
def test_only_well_formed_encoded_words_are_decoded(text: str, shown: str) -> None:
    assert decode_words(text) == shown


def test_headers_keep_case_order_and_repeats_and_every_8_bit_byte() -> None:
    raw = (
        b"From mailer Mon Nov 30 00:00:00 2026\nrecEived: a\n folded\nReceived: b\nSubject: caf\xc3\xa9\n"
        b"X-Raw: caf\xe9\nNo colon here\nX-Empty:\n\nbody"
    )
    assert [(h["name"], h["value"]) for h in payload_of(raw)["headers"]] == [
        ("recEived", "a folded"),
        ("Received", "b"),
        ("Subject", "café"),
        ("X-Raw", "café"),
        ("X-Empty", ""),
    ]


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
def test_every_kind_of_line_end_separates(newline: bytes) -> None:
    raw = newline.join(
        [
            b"Content-Type: multipart/mixed; boundary=b",
            b"",
            b"--b",
            b"X: 1",
            b"",
            b"one",
            b"--b",
            b"",
            b"",
            b"--b--",
            b"",
        ]
    )
    first, second = payload_of(raw)["parts"]
    assert first["headers"] == [{"name": "X", "value": "1"}]
    assert body_of(first) == b"one"
    assert second["body"] == {"size": 0}


def test_a_boundary_within_a_line_or_with_more_to_it_separates_nothing() -> None:
    raw = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nsee --b\n--bb\n--b-- \n\nrest"
    (part,) = payload_of(raw)["parts"]
    assert body_of(part) == b"see --b\n--bb"


def test_a_multipart_without_its_boundary_keeps_its_bytes() -> None:
    payload = payload_of(b"Content-Type: multipart/mixed; boundary=missing\r\n\r\nall of it")
    assert body_of(payload) == b"all of it"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"\r\n a  <b>\r\n\t& c ", "a &lt;b&gt; &amp; c"),
        (b"Content-Type: text/html\r\n\r\n<style>p{}</style><p>1 &lt; 2</p>", "1 &lt; 2"),
        (b"Content-Type: image/png\r\n\r\nx", ""),
    ],
)
def test_a_snippet_is_html_escaped(raw: bytes, text: str) -> None:
    assert snippet(parse_message(raw)) == text


def nested(levels: int) -> bytes:
    head = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(levels))
    return head + b"\ncore\n"


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(nested(3000), id="three thousand levels"),
        pytest.param(
            b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 25_000, id="more parts than are split"
        ),
        pytest.param(b"Content-Type: message/rfc822\n\n" * 3000, id="message in message in message"),
        pytest.param(b"Subject:" + b" " * 3_000_000 + b"x\n\nx", id="megabytes of blanks in a header"),
        pytest.param(b"x" + b" " * 3_000_000 + b"\n\nx", id="megabytes of blanks and no colon"),
        pytest.param(b"Subject: " + b"re: " * 200_000 + b"\n\nx", id="re: re: re:"),
        pytest.param(b"Subject: " + b"=?utf-8?q?" * 100_000 + b"\n\nx", id="encoded words that never end"),
        pytest.param(b"Content-Type: text/html\n\n" + b"<" * 300_000, id="tags that never end"),
        pytest.param(b"Content-Type: text/html\n\n" + b"<style>" * 100_000, id="styles that never end"),
        pytest.param(b"Content-Type: text/plain" + b"; a=b" * 20_000 + b"\n\nx", id="thousands of parameters"),
    ],
)
def test_hostile_mail_takes_bounded_time_from_delivery_to_answer(simulator: Simulator, raw: bytes) -> None:
    began = time.process_time()
    delivered = simulator.account(ME).deliver(raw)
    payload = payload_of(raw, delivered.message_id)
    snippet(parse_message(raw))
    assert time.process_time() - began < 5
    assert max(part["partId"].count(".") for part in walk(payload)) < MAX_DEPTH


FRAGMENTS = [
    b"",
    b" ",
    b"--b",
    b"--b--",
    b"=\xe9",
    b"\xff\x00",
    b"begin ",
    b"Content-Disposition: attachment; filename*0*=utf-8''%",
    b"Content-Transfer-Encoding: base64",
    b"Content-Transfer-Encoding: x-uuencode",
    b"Content-Type: message/rfc822",
    b"Content-Type: multipart/mixed; boundary=b",
    b"Subject: =?utf-8?q?=C3?=",
]


@settings(deadline=None, max_examples=150)
@given(
    st.binary(max_size=400)
    | st.lists(
        st.sampled_from(FRAGMENTS),
        max_size=20,
    ).map(b"\r\n".join)
)
def test_no_bytes_make_it_fail(raw: bytes) -> None:
    root = parse_message(raw)
    text = json.dumps(full_payload(root, ODD)) + snippet(root)
    text.encode("utf-8")
    assert sum(len(part.data) for part in root.parts) <= max(len(raw), 1) * 2


def corpus() -> list[Any]:
    """The standard library's own test messages, where Python was installed with them."""
    if find_spec("test") is None or find_spec("test.test_email") is None:
        return [pytest.param("", marks=pytest.mark.skip(reason="Python was installed without its own tests"))]
    folder = resources.files("test.test_email.data")
    return sorted(file.name for file in folder.iterdir() if file.name.endswith(".txt"))


@pytest.mark.parametrize("name", corpus())
def test_the_standard_librarys_corpus_passes_over_http(
    simulator: Simulator, gmail_client: Callable[[str], Any], name: str
) -> None:
    raw = resources.files("test.test_email.data").joinpath(name).read_bytes()
    message_id = simulator.account(ME).deliver(raw).message_id
    messages = gmail_client(ME).users().messages()

    answers = {f: messages.get(userId="me", id=message_id, format=f).execute() for f in ("full", "metadata", "raw")}

    data = answers["raw"]["raw"]
    assert base64.urlsafe_b64decode(data + "=" * (-len(data) % 4)) == raw
    assert answers["full"]["payload"]["mimeType"] == answers["metadata"]["payload"]["mimeType"]
    for part in walk(answers["full"]["payload"]):
        if part["body"].get("attachmentId"):
            held = (
                messages.attachments().get(userId="me", messageId=message_id, id=part["body"]["attachmentId"]).execute()
            )
            assert held["size"] == part["body"]["size"]
