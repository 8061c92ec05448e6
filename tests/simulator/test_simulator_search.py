"""The simulator finds what Gmail would, and refuses what it can't judge."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from googleapiclient.errors import HttpError

from inbox_loop.simulator.server import Simulator
from inbox_loop.simulator.store import Account

ME = "ann@example.com"
# Midnight Pacific time on 30 November 2026 is 08:00 UTC.
MIDNIGHT = datetime(2026, 11, 30, 8, tzinfo=UTC)

MESSAGES: dict[str, tuple[bytes, tuple[str, ...], datetime]] = {
    "early": (
        b"From: Bo <bo@example.org>\r\nTo: support@example.com\r\nSubject: Printer on fire\r\n\r\nPlease come\r\n",
        ("INBOX", "UNREAD"),
        MIDNIGHT - timedelta(seconds=1),
    ),
    "late": (
        b"From: cy@example.net\r\nSubject: Lunch\r\nContent-Disposition: attachment; filename=m.txt\r\n\r\nSoup\r\n",
        ("INBOX", "Team Food"),
        MIDNIGHT,
    ),
    "sent": (b"From: ann@example.com\r\nSubject: Re: Lunch\r\n\r\nThanks, soup please\r\n", ("SENT",), MIDNIGHT),
    "spam": (b"From: x@example.net\r\nSubject: Lunch for free\r\n\r\nClick\r\n", ("SPAM", "UNREAD"), MIDNIGHT),
}


@pytest.fixture
def names(simulator: Simulator) -> dict[str, str]:
    """Message id -> its name in ``MESSAGES``."""
    account: Account = simulator.account(ME)
    return {
        account.deliver(raw, labels=labels, internal_date=date).message_id: name
        for name, (raw, labels, date) in MESSAGES.items()
    }


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("", {"early", "late", "sent"}),
        (f"after:{int(MIDNIGHT.timestamp())}", {"late", "sent"}),
        (f"before:{int(MIDNIGHT.timestamp())}", {"early"}),
        (f"after:{int(MIDNIGHT.timestamp()) * 1000}", set()),
        ("after:2026/11/30", {"late", "sent"}),
        ("before:2026-11-30", {"early"}),
        ("in:inbox", {"early", "late"}),
        ("in:sent", {"sent"}),
        ("in:spam", {"spam"}),
        ("in:anywhere lunch", {"late", "sent", "spam"}),
        ("-in:sent", {"early", "late"}),
        ("-in:spam lunch", {"late", "sent"}),
        ("from:bo@example.org", {"early"}),
        ("to:support", {"early"}),
        ("subject:lunch", {"late", "sent"}),
        ('subject:"on fire"', {"early"}),
        ("label:team-food", {"late"}),
        ('label:"Team Food"', {"late"}),
        ("label:nobody", set()),
        ("has:attachment", {"late"}),
        ("is:unread", {"early"}),
        ("is:read in:inbox", {"late"}),
        ("soup", {"late", "sent"}),
        ('"soup please"', {"sent"}),
        ("soup -from:ann@example.com", {"late"}),
    ],
)
def test_a_search_finds_what_gmail_would(
    names: dict[str, str], gmail_client: Callable[[str], Any], search: str, found: set[str]
) -> None:
    answer = gmail_client(ME).users().messages().list(userId="me", q=search).execute()
    assert {names[m["id"]] for m in answer.get("messages", [])} == found


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("larger:1048576", {"large"}),
        ("larger:1M", {"large"}),
        ("larger:1024K", {"large"}),
        ("larger:1048577", set()),
        ("larger:1048575 smaller:1m", set()),
        ("smaller:1048577", {"small"}),
        ("smaller:1048578", {"small", "large"}),
        ("-larger:1M", {"small"}),
    ],
)
def test_a_search_by_size_counts_the_bytes_of_the_whole_message(
    simulator: Simulator, gmail_client: Callable[[str], Any], search: str, found: set[str]
) -> None:
    account = simulator.account(ME)
    head = b"Subject: size\r\n\r\n"
    raws = {"small": head, "large": head + b"x" * (1024 * 1024 + 1 - len(head))}
    named = {account.deliver(raw).message_id: name for name, raw in raws.items()}
    answer = gmail_client(ME).users().messages().list(userId="me", q=search).execute()
    assert {named[m["id"]] for m in answer.get("messages", [])} == found


@pytest.mark.parametrize(
    ("search", "named"),
    [
        ("older_than:1d", "older_than:1d"),
        ("in:attic", "in:attic"),
        ("is:odd", "is:odd"),
        ("has:drive", "has:drive"),
        ("lunch OR soup", "OR"),
        ("{lunch soup}", "{lunch"),
        ("(lunch", "(lunch"),
        ("after:soon", "soon"),
        ("larger:huge", "huge"),
        ("smaller:-1", "-1"),
        ("larger:1G", "1G"),
        ("after:2026/13/01", "2026/13/01"),
        ('lunch "', '"'),
    ],
)
def test_a_term_that_is_not_known_is_refused_by_name(
    simulator: Simulator, gmail_client: Callable[[str], Any], search: str, named: str
) -> None:
    simulator.account(ME)
    with pytest.raises(HttpError) as refused:
        gmail_client(ME).users().messages().list(userId="me", q=search).execute()
    assert refused.value.status_code == 400
    assert named in refused.value.reason


def test_an_unknown_parameter_is_refused_by_name(simulator: Simulator, gmail_client: Callable[[str], Any]) -> None:
    simulator.account(ME)
    request = gmail_client(ME).users().messages().list(userId="me")
    request.uri += "&labelId=INBOX"
    with pytest.raises(HttpError, match="labelId"):
        request.execute()
