"""Mail on disk becomes messages to deliver: every format, every mark, and no failure on broken ones."""

from __future__ import annotations

import os
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

import pytest

from inbox_loop.errors import MailUnavailable
from inbox_loop.simulator.mail import read_mail

MTIME = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)

MBOX_ENTRY = b"From a@example.org Mon Nov 30 09:08:07 2026\nSubject: %d\n\n%s\n\n"


def written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (MTIME.timestamp(), MTIME.timestamp()))
    return path


def test_an_mbox_is_split_at_its_from_lines(tmp_path: Path) -> None:
    mbox = written(
        tmp_path / "all.mbox",
        b"From bo@example.org Mon Nov 30 09:08:07 2026\nSubject: one\n\nFrom the start\n>From here\n>>From there\n\n"
        b"From the bottom of my heart\n\n"
        b"From 1851@xxx Mon Nov 30 10:00:00 +0200 2026\r\nSubject: two\r\n\r\nBody\r\n\r\n",
    )
    one, two = read_mail(mbox)
    assert one.raw == (b"Subject: one\n\nFrom the start\nFrom here\n>From there\n\nFrom the bottom of my heart\n")
    assert two.raw == b"Subject: two\r\n\r\nBody\r\n"
    assert one.internal_date == datetime(2026, 11, 30, 9, 8, 7, tzinfo=UTC)
    assert two.internal_date == datetime(2026, 11, 30, 8, 0, 0, tzinfo=UTC)


def test_an_mbox_is_read_one_message_at_a_time(tmp_path: Path) -> None:
    mbox = written(tmp_path / "m", b"".join(MBOX_ENTRY % (n, b"x" * 500_000) for n in range(30)))
    tracemalloc.start()
    try:
        sizes = [len(mail.raw) for mail in read_mail(mbox)]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(sizes) == 30
    assert peak < 5_000_000


def test_a_maildir_keeps_its_flags(tmp_path: Path) -> None:
    for name in (
        "new/1.host",
        "cur/2.host:2,",
        "cur/3.host:2,S",
        "cur/4.host:2,ST",
        "cur/5.host:2,D",
        "cur/6.host:2,FS",
    ):
        written(tmp_path / "box" / name, b"Subject: x\n\nx\n")
    (tmp_path / "box" / "tmp").mkdir()
    assert [set(mail.labels) for mail in read_mail(tmp_path / "box")] == [
        {"INBOX", "UNREAD"},
        {"INBOX", "UNREAD"},
        {"INBOX"},
        {"TRASH"},
        {"DRAFT", "UNREAD"},
        {"INBOX", "STARRED"},
    ]


def test_a_folder_is_read_through_in_the_order_of_names(tmp_path: Path) -> None:
    for name in ("b/2.eml", "a/1.EML", "c.eml"):
        written(tmp_path / name, f"Subject: {name}\n\n".encode())
    written(tmp_path / "notes.txt", b"no mail")
    assert [mail.raw for mail in read_mail(tmp_path)] == [
        b"Subject: a/1.EML\n\n",
        b"Subject: b/2.eml\n\n",
        b"Subject: c.eml\n\n",
    ]


def test_takeout_marks_become_labels_and_thread(tmp_path: Path) -> None:
    eml = written(
        tmp_path / "one.eml",
        b"X-GM-THRID: 1851234567890123456\n"
        b"X-Gmail-Labels: =?UTF-8?Q?Inbox,Opened,Category_Updates,Kunden/M=C3=BCller?=\n\n",
    )
    (mail,) = read_mail(eml)
    assert mail.thread_id == f"{1851234567890123456:016x}"
    assert mail.labels == ("INBOX", "CATEGORY_UPDATES", "Kunden/Müller")


@pytest.mark.parametrize(
    ("headers", "date"),
    [
        (b"Received: a; Mon, 30 Nov 2026 10:00:00 +0100\nReceived: b; Sun, 29 Nov 2026 10:00:00 +0100\n", (11, 30, 9)),
        (b"Received: by x;\n with y; 1 Dec 2026 00:00:00 GMT\nDate: Mon, 30 Nov 2026 10:00:00 +0000\n", (12, 1, 0)),
        (b"Date: Mon, 30 Nov 2026 10:00:00 -0500\n", (11, 30, 15)),
        (b"Received: no date here\nDate: Mon, 30 Nov 2026 10:00:00\n", (11, 30, 10)),
    ],
)
def test_the_date_is_the_topmost_received_else_date(tmp_path: Path, headers: bytes, date: tuple[int, int, int]) -> None:
    (mail,) = read_mail(written(tmp_path / "x.eml", headers + b"\nx"))
    month, day, hour = date
    assert mail.internal_date == datetime(2026, month, day, hour, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"yesterday",
        b"Mon, 99 Nov 2026 99:99:99 +9999",
        b"Thu, 1 Jan 1869 00:00:00 +0000",
        b"1 Jan 99999999999999 00:00:00 +0000",
        b"Mon, 30 Nov 2026 1:2:3:4:5",
        b", , , ,",
        b"\xff\xfe 0:0",
        b"x" * 100_000,
    ],
)
def test_a_broken_date_falls_back_to_the_files(tmp_path: Path, value: bytes) -> None:
    (mail,) = read_mail(written(tmp_path / "x.eml", b"Date: " + value + b"\n\nx"))
    assert mail.internal_date == MTIME


@pytest.mark.parametrize("make", ["missing", "empty folder", "empty file", "folder without mail"])
def test_no_mail_is_said_at_once_with_a_hint(tmp_path: Path, make: str) -> None:
    path = tmp_path / "there"
    match make:
        case "empty folder":
            path.mkdir()
        case "empty file":
            path.touch()
        case "folder without mail":
            written(path / "a.txt", b"text")
    with pytest.raises(MailUnavailable) as missing:
        read_mail(path)
    assert "mbox" in missing.value.hint
