"""Mail whose text can't be read here says so, however its wrapper came through."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from inbox_loop.message.mime import Part
from inbox_loop.message.model import Message

ReadPart = Callable[[Part], Message]


def leaf(kind: str, name: str = "", data: bytes = b"x") -> Part:
    return Part(kind, name, (), data, len(data))


def multi(kind: str, *parts: Part) -> Part:
    return Part(kind, "", (), None, 0, parts)


@pytest.mark.parametrize(
    "root",
    [
        pytest.param(leaf("application/pkcs7-mime", "smime.p7m"), id="S/MIME"),
        pytest.param(leaf("application/octet-stream", "SMIME.p7m"), id="S/MIME without its type"),
        pytest.param(multi("multipart/encrypted", leaf("application/pgp-encrypted")), id="PGP"),
        pytest.param(
            multi(
                "multipart/mixed",
                leaf("text/plain", data=b" \r\n"),
                leaf("application/pgp-encrypted", "PGPMIME Versions Identification"),
                leaf("application/octet-stream", "encrypted.asc"),
            ),
            id="PGP as Exchange passes it on",
        ),
    ],
)
def test_an_encrypted_mail_says_so(read_part: ReadPart, root: Part) -> None:
    assert read_part(root).text == (
        "[This message is encrypted. It can only be read in a mail program that has the key.]"
    )


def test_a_signed_document_that_is_attached_does_not_make_the_mail_an_encrypted_one(read_part: ReadPart) -> None:
    root = multi("multipart/mixed", leaf("text/plain", data=b"The bill."), leaf("application/octet-stream", "bill.p7m"))
    assert read_part(root).text == "The bill."


def test_the_headers_that_a_report_sends_back_are_decoded(read_part: ReadPart) -> None:
    sent_back = leaf(
        "text/rfc822-headers", data=b"Subject: =?utf-8?Q?Caf=C3?=\r\n =?utf-8?Q?=A9?=\r\nFrom: a@example.org"
    )
    root = multi("multipart/report", leaf("text/plain", data=b"Not delivered."), sent_back)
    assert read_part(root).text == "Not delivered.\n\nSubject: Café\nFrom: a@example.org"
