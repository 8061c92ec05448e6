"""Google's own client reads from the simulator what was delivered, over HTTP."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from inbox_loop.simulator.server import Simulator

ME = "ann@example.com"
PLAIN = b"From: Bo <bo@example.org>\r\nTo: ann@example.com\r\nSubject: Printer\r\n\r\nIt is on fire.\r\n"


def test_a_delivered_message_is_read_back_whole(simulator: Simulator, gmail_client: Callable[[str], Any]) -> None:
    delivered = simulator.account(ME).deliver(PLAIN)

    message = gmail_client(ME).users().messages().get(userId="me", id=delivered.message_id).execute()

    assert message["threadId"] == delivered.thread_id
    assert message["labelIds"] == ["INBOX", "UNREAD"]
    assert {h["name"]: h["value"] for h in message["payload"]["headers"]}["Subject"] == "Printer"
    assert base64.urlsafe_b64decode(message["payload"]["body"]["data"] + "==") == b"It is on fire.\r\n"
    assert message["snippet"] == "It is on fire."
    assert message["sizeEstimate"] == len(PLAIN)


def test_profile_listing_and_history_agree(simulator: Simulator, gmail_client: Callable[[str], Any]) -> None:
    account, users = simulator.account(ME), gmail_client(ME).users()
    start = users.getProfile(userId="me").execute()["historyId"]
    made = [account.deliver(PLAIN).message_id for _ in range(3)]

    listed = users.messages().list(userId="me").execute()["messages"]
    history = users.history().list(userId="me", startHistoryId=start).execute()

    assert [m["id"] for m in listed] == made[::-1]
    assert [r["messagesAdded"][0]["message"]["id"] for r in history["history"]] == made
    assert history["historyId"] == str(account.history_id)
