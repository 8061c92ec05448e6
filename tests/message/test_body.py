"""Which parts are the text of a message, and which hang on it."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import replace

import pytest

from inbox_loop.message.mime import Part
from inbox_loop.message.model import Attachment, Header, Message, Unquoted

ReadPart = Callable[[Part], Message]

PLACEHOLDER = "Your mail program can't show this message."
HTML = "<p>Good morning, we run two cafés by the harbour. Could you send us your wholesale prices for spring?</p>"
HTML_TEXT = "Good morning, we run two cafés by the harbour. Could you send us your wholesale prices for spring?"


def leaf(mime_type: str, content: str | bytes = b"", *, name: str = "", **headers: str) -> Part:
    data = content.encode() if isinstance(content, str) else content
    return Part(mime_type, name, tuple(Header(k.replace("_", "-"), v) for k, v in headers.items()), data, len(data))


def multi(subtype: str, *parts: Part, **headers: str) -> Part:
    return Part(
        f"multipart/{subtype}", "", tuple(Header(k.replace("_", "-"), v) for k, v in headers.items()), None, 0, parts
    )


ICS = "BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nSUMMARY:Tasting\nEND:VEVENT\nEND:VCALENDAR"


def notice(size: str) -> str:
    return f"[The text, {size}, is left out here. The whole message is in Gmail.]"


FORWARDED = "---------- Forwarded message ----------"


@pytest.mark.parametrize(
    ("root", "text"),
    [
        pytest.param(leaf("text/plain", "Hi"), "Hi", id="plain"),
        pytest.param(leaf("TEXT/Plain", "Hi"), "Hi", id="type in any case"),
        pytest.param(leaf("", "Hi"), "Hi", id="no type"),
        pytest.param(leaf("text/html", "<p>Hi</p>"), "Hi", id="HTML"),
        pytest.param(leaf("text/plain", "<!DOCTYPE html><p>Hi</p>"), "Hi", id="HTML that says it is plain"),
        pytest.param(leaf("text/plain"), "", id="empty"),
        pytest.param(leaf("text/enriched", "Hi"), "Hi", id="a text of another kind"),
        pytest.param(leaf("text/plain", "Hi", name="body.txt"), "Hi", id="the body has a file name"),
        pytest.param(leaf("text/plain", "Hi", Content_Disposition="attachment"), "", id="only an attachment"),
        pytest.param(leaf("application/pdf", b"%PDF"), "", id="only a document"),
        pytest.param(leaf("multipart/mixed", "no boundary"), "no boundary", id="a container that was not taken apart"),
        pytest.param(multi("mixed", leaf("text/plain", "a"), leaf("text/html", "<p>b")), "a\n\nb", id="mixed: both"),
        pytest.param(
            multi("mixed", leaf("text/plain", "a"), leaf("text/csv", "x", name="t.csv")), "a", id="mixed: a file"
        ),
        pytest.param(
            multi("alternative", leaf("text/plain", "Yes."), leaf("text/html", "<p>Yes.")), "Yes.", id="plain first"
        ),
        pytest.param(
            multi("alternative", leaf("text/plain", PLACEHOLDER), leaf("text/html", HTML)), HTML_TEXT, id="placeholder"
        ),
        pytest.param(multi("alternative", leaf("text/plain", " \n "), leaf("text/html", HTML)), HTML_TEXT, id="blank"),
        pytest.param(
            multi(
                "alternative",
                leaf("text/plain", "View: https://example.org/view/of/a/long/path"),
                leaf("text/html", HTML),
            ),
            HTML_TEXT,
            id="only a link",
        ),
        pytest.param(
            multi("alternative", leaf("text/plain", HTML_TEXT), leaf("text/html", "<p>" + HTML + "<p>Sent from afar")),
            HTML_TEXT,
            id="short, but the same",
        ),
        pytest.param(
            multi("alternative", leaf("text/plain", "Hi"), leaf("text/html", "<img src=x>")), "Hi", id="empty HTML"
        ),
        pytest.param(
            multi("alternative", leaf("text/plain", ""), multi("related", leaf("text/html", HTML), leaf("image/png"))),
            HTML_TEXT,
            id="HTML with its images",
        ),
        pytest.param(
            multi(
                "alternative", leaf("text/plain", "Hi"), leaf("text/x-amp-html", "<html amp>"), leaf("text/html", "Hi")
            ),
            "Hi",
            id="AMP is not read",
        ),
        pytest.param(multi("alternative", leaf("text/enriched", "Hi")), "Hi", id="nothing but another kind"),
        pytest.param(multi("alternative"), "", id="no alternative at all"),
        pytest.param(
            multi("alternative", leaf("text/plain", "Hi"), leaf("text/calendar", ICS)),
            "Hi\n\nInvitation: Tasting",
            id="event",
        ),
        pytest.param(
            multi("mixed", leaf("text/calendar", ICS), leaf("application/ics", ICS, name="invite.ics")),
            "Invitation: Tasting",
            id="the same event twice",
        ),
        pytest.param(
            multi("signed", leaf("text/plain", "Hi"), leaf("application/pgp-signature", "x")), "Hi", id="signed"
        ),
        pytest.param(
            multi("mixed", multi("mixed", multi("mixed", leaf("text/plain", "deep")))),
            "deep",
            id="containers in containers",
        ),
    ],
)
def test_the_readable_text_is_found(read_part: ReadPart, root: Part, text: str) -> None:
    assert read_part(root).text == text


def left_out(mime_type: str, size: int, *, name: str = "") -> Part:
    return Part(mime_type, name, (), None, size)


@pytest.mark.parametrize(
    ("root", "text"),
    [
        pytest.param(left_out("text/plain", 6_240_000), notice("6.2 MB"), id="alone"),
        pytest.param(left_out("text/html", 7_000), notice("7 kB"), id="HTML"),
        pytest.param(left_out("text/plain", 10**400), notice(f"1{'0' * 394}.0 MB"), id="a size that can't be"),
        pytest.param(left_out("text/plain", 312, name="body.txt"), notice("312 bytes"), id="the body has a file name"),
        pytest.param(left_out("image/png", 9_000_000, name="a.png"), "", id="a file is no text"),
        pytest.param(
            multi("mixed", leaf("text/plain", "Hi"), left_out("text/plain", 9_000_000)),
            f"Hi\n\n{notice('9.0 MB')}",
            id="beside another text",
        ),
        pytest.param(
            multi("alternative", left_out("text/plain", 9_000_000), leaf("text/html", "<p>Hi")), "Hi", id="HTML is here"
        ),
        pytest.param(
            multi("alternative", leaf("text/plain", "Hi"), left_out("text/html", 9_000_000)), "Hi", id="plain is here"
        ),
        pytest.param(
            multi("alternative", left_out("text/plain", 6_000_000), left_out("text/html", 9_000_000)),
            notice("6.0 MB"),
            id="neither is here",
        ),
        pytest.param(
            multi("alternative", left_out("text/html", 9_000_000), leaf("text/calendar", ICS)),
            f"{notice('9.0 MB')}\n\nInvitation: Tasting",
            id="only an invitation is here",
        ),
    ],
)
def test_a_text_that_was_not_downloaded_is_said_to_be_in_gmail(read_part: ReadPart, root: Part, text: str) -> None:
    assert read_part(root).text == text


@pytest.mark.parametrize(
    ("root", "says"),
    [
        (multi("encrypted", leaf("application/pgp-encrypted"), leaf("application/octet-stream")), "encrypted"),
        (leaf("application/pkcs7-mime", name="smime.p7m"), "encrypted"),
        (leaf("application/pkcs7-mime", Content_Type="application/pkcs7-mime; smime-type=signed-data"), "signature"),
    ],
)
def test_sealed_mail_says_that_it_can_not_be_read_here(read_part: ReadPart, root: Part, says: str) -> None:
    assert says in read_part(root).text
    assert read_part(root).attachments


def test_a_forwarded_message_shows_its_headers_and_its_text(read_part: ReadPart) -> None:
    inner = leaf(
        "text/plain",
        "The parcel was open.",
        From="=?utf-8?Q?Ren=C3=A9?= <r@example.com>",
        Subject="=?utf-8?Q?Caf=C3=A9?=",
        X_Other="no",
    )
    outer = Part("message/rfc822", "", (), None, 0, (inner,))
    text = read_part(multi("mixed", leaf("text/plain", "See below."), outer)).text
    assert text == f"See below.\n\n{FORWARDED}\nFrom: René <r@example.com>\nSubject: Café\n\nThe parcel was open."


WROTE = "On Mon, 30 Nov 2026 at 10:12, Ada Winter <ada@example.com> wrote:"
QUOTE = f"{WROTE}\n> Tuesday?"


def answering(root: Part) -> Part:
    """The same as an answer, by its subject."""
    return replace(root, headers=(*root.headers, Header("Subject", "Re: Tea")))


def test_what_a_forwarded_message_quotes_is_content(read_part: ReadPart) -> None:
    inner = leaf("text/plain", f"The parcel was open.\n\n{QUOTE}", From="r@example.com")
    root = multi(
        "mixed", leaf("text/plain", f"See below.\n\n{QUOTE}"), Part("message/rfc822", "", (), None, 0, (inner,))
    )
    message = read_part(answering(root))
    assert message.unquoted is not None
    assert message.unquoted.text == (
        f"See below.\n\n{FORWARDED}\nFrom: r@example.com\n\nThe parcel was open.\n\n{QUOTE}"
    )


def test_each_part_is_cut_by_itself_and_a_part_that_is_all_quote_goes(read_part: ReadPart) -> None:
    root = multi("mixed", leaf("text/plain", "Look:"), leaf("image/png", b"1", name="a.png"), leaf("text/plain", QUOTE))
    message = read_part(answering(root))
    assert message.text == f"Look:\n\n{QUOTE}"
    assert message.unquoted == Unquoted("Look:", len(QUOTE))


def test_of_an_alternative_the_part_that_is_read_is_the_one_that_is_cut(read_part: ReadPart) -> None:
    answer = f"<p>{HTML_TEXT}</p><p>{html.escape(WROTE)}</p><blockquote>Tuesday?</blockquote>"
    message = read_part(answering(multi("alternative", leaf("text/plain", PLACEHOLDER), leaf("text/html", answer))))
    assert message.text == f"{HTML_TEXT}\n\n{WROTE}\n\nTuesday?"
    assert message.unquoted == Unquoted(HTML_TEXT, len(f"\n\n{WROTE}\n\nTuesday?"))


@pytest.mark.parametrize("part", [leaf("application/ms-tnef", b"1", name="WINMAIL.DAT"), leaf("application/ms-tnef")])
def test_winmail_dat_is_named_where_it_is_all_there_is(read_part: ReadPart, part: Part) -> None:
    assert read_part(multi("mixed", part)).text == "[The content is in winmail.dat, which only Outlook opens.]"
    assert read_part(multi("mixed", leaf("text/plain", "Hi"), part)).text == "Hi"


def test_a_forwarded_message_that_was_not_taken_apart_is_read_too(read_part: ReadPart) -> None:
    raw = b"From: r@example.com\r\nSubject: Open\r\nContent-Type: text/html\r\n\r\n<p>The parcel was <b>open</b>.</p>"
    message = read_part(multi("mixed", leaf("message/rfc822", raw, name="open.eml")))
    assert message.text == f"{FORWARDED}\nFrom: r@example.com\nSubject: Open\n\nThe parcel was open."
    assert [found.name for found in message.attachments] == ["open.eml"]


def test_what_hangs_on_a_forwarded_message_is_listed(read_part: ReadPart) -> None:
    inner = multi("mixed", leaf("text/plain", "Hi"), leaf("image/png", b"123", name="a.png"), Subject="x")
    assert read_part(Part("message/rfc822", "", (), None, 0, (inner,))).attachments == (
        Attachment("a.png", "image/png", 3),
    )


def test_a_report_shows_its_fields(read_part: ReadPart) -> None:
    root = multi("report", leaf("text/plain", "Not delivered."), leaf("message/delivery-status", "Action: failed\n"))
    assert read_part(root).text == "Not delivered.\n\nAction: failed"
    assert read_part(root).attachments == ()
    taken_apart = Part(
        "message/delivery-status", "", (), None, 0, (leaf("text/plain", Action="failed", Status="5.1.1"),)
    )
    assert read_part(multi("report", taken_apart)).text == "Action: failed\nStatus: 5.1.1"


def test_attachments_are_listed_by_name_type_and_size(read_part: ReadPart) -> None:
    root = multi(
        "mixed",
        leaf("text/plain", "Hi"),
        leaf("text/csv", "1,2", Content_Disposition="attachment; filename*=utf-8''M%C3%A4rz.csv"),
        Part("IMAGE/PNG", "=?utf-8?Q?caf=C3=A9.png?=", (), None, 4711),
        leaf("application/octet-stream", b"12"),
        leaf("text/plain", "no name", Content_Disposition="attachment"),
        leaf("application/x-msdownload", b"1", name="evil\x00\u202etxt\n.exe"),
        leaf("application/ms-tnef", b"1", name="winmail.dat"),
    )
    assert read_part(root).attachments == (
        Attachment("März.csv", "text/csv", 3),
        Attachment("café.png", "image/png", 4711),
        Attachment("(no name)", "application/octet-stream", 2),
        Attachment("(no name)", "text/plain", 7),
        Attachment("eviltxt .exe", "application/x-msdownload", 1),
        Attachment("winmail.dat", "application/ms-tnef", 1),
    )
    assert read_part(root).cleaned == 2


@pytest.mark.parametrize(
    ("content_type", "data", "text"),
    [
        ("text/html; charset=koi8-r", "<p>Чай</p>".encode("koi8-r"), "Чай"),
        ("text/html", '<meta charset="koi8-r"><p>Чай</p>'.encode("koi8-r"), "Чай"),
        ("text/html; charset=iso-2022-jp", "<p>抹茶</p>".encode("iso2022_jp"), "抹茶"),
        ("text/plain; charset=koi8-r", "Чай".encode(), "Чай"),
        ('text/plain; charset="never ends', "Tée".encode("cp1252"), "Tée"),
    ],
)
def test_the_charset_of_a_part_is_heeded(read_part: ReadPart, content_type: str, data: bytes, text: str) -> None:
    assert read_part(leaf(content_type.partition(";")[0], data, content_TYPE=content_type)).text == text
