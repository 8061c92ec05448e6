"""Google's own client reads from the simulator what was delivered, over HTTP."""

from __future__ import annotations

import base64
import http.client
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from email.message import EmailMessage
from typing import Any

import pytest
from googleapiclient.errors import HttpError

from inbox_loop.simulator.server import Simulator

ME = "ann@example.com"
Client = Callable[[str], Any]
PLAIN = b"From: Bo <bo@example.org>\r\nTo: ann@example.com\r\nSubject: Printer\r\n\r\nIt is on fire.\r\n"


def reply_to(message_id: str, subject: str) -> bytes:
    return f"Subject: {subject}\r\nMessage-ID: <reply@x>\r\nIn-Reply-To: {message_id}\r\n\r\nYes.\r\n".encode()


def with_attachment() -> bytes:
    message = EmailMessage()
    message["Subject"] = "Invoice"
    message.set_content("See the file.")
    message.add_attachment(b"\x00\x01\xff" * 100, maintype="application", subtype="pdf", filename="bill.pdf")
    return message.as_bytes()


def decoded(data: str) -> bytes:
    return base64.urlsafe_b64decode(data + "=" * (-len(data) % 4))


def test_a_delivered_message_is_read_back_whole(simulator: Simulator, gmail_client: Client) -> None:
    delivered = simulator.account(ME).deliver(PLAIN)

    message = gmail_client(ME).users().messages().get(userId="me", id=delivered.message_id).execute()

    assert message["threadId"] == delivered.thread_id
    assert message["labelIds"] == ["INBOX", "UNREAD"]
    assert {h["name"]: h["value"] for h in message["payload"]["headers"]}["Subject"] == "Printer"
    assert decoded(message["payload"]["body"]["data"]) == b"It is on fire.\r\n"
    assert message["snippet"] == "It is on fire."
    assert message["sizeEstimate"] == len(PLAIN)


def test_each_format_shows_its_own_keys(simulator: Simulator, gmail_client: Client) -> None:
    message_id = simulator.account(ME).deliver(PLAIN).message_id
    messages = gmail_client(ME).users().messages()
    always = {"id", "threadId", "labelIds", "snippet", "sizeEstimate", "historyId", "internalDate"}

    minimal = messages.get(userId=ME, id=message_id, format="minimal").execute()
    raw = messages.get(userId=ME, id=message_id, format="raw").execute()
    metadata = messages.get(userId=ME, id=message_id, format="metadata", metadataHeaders=["subject", "To"]).execute()

    assert set(minimal) == always
    assert set(raw) == always | {"raw"}
    assert decoded(raw["raw"]) == PLAIN
    assert [h["name"] for h in metadata["payload"]["headers"]] == ["To", "Subject"]
    assert "body" not in metadata["payload"]


def test_a_message_without_labels_has_no_label_key(simulator: Simulator, gmail_client: Client) -> None:
    message_id = simulator.account(ME).deliver(PLAIN, labels=()).message_id
    assert "labelIds" not in gmail_client(ME).users().messages().get(userId="me", id=message_id).execute()


def test_an_attachment_is_read_by_an_id_that_differs_at_each_read(simulator: Simulator, gmail_client: Client) -> None:
    message_id = simulator.account(ME).deliver(with_attachment()).message_id
    messages = gmail_client(ME).users().messages()

    parts = [messages.get(userId="me", id=message_id).execute()["payload"]["parts"][1] for _ in range(2)]
    ids = [part["body"]["attachmentId"] for part in parts]
    read = [messages.attachments().get(userId="me", messageId=message_id, id=i).execute() for i in ids]

    assert parts[0]["filename"] == "bill.pdf"
    assert ids[0] != ids[1]
    assert [decoded(answer["data"]) for answer in read] == [b"\x00\x01\xff" * 100] * 2


def test_an_attachment_id_that_names_no_part_is_refused(simulator: Simulator, gmail_client: Client) -> None:
    message_id = simulator.account(ME).deliver(with_attachment()).message_id
    attachments = gmail_client(ME).users().messages().attachments()
    with pytest.raises(HttpError) as refused:
        attachments.get(userId="me", messageId=message_id, id="bm90aGluZw").execute()
    assert refused.value.status_code == 400


def test_listing_pages_through_everything_once_newest_first(simulator: Simulator, gmail_client: Client) -> None:
    account = simulator.account(ME)
    made = [account.deliver(PLAIN).message_id for _ in range(7)]
    messages = gmail_client(ME).users().messages()

    seen: list[str] = []
    request = messages.list(userId="me", maxResults=3)
    while request is not None:
        answer = request.execute()
        seen += [m["id"] for m in answer["messages"]]
        if len(seen) == 3:
            account.deliver(PLAIN)  # arrives in between and moves nothing
        request = messages.list_next(request, answer)

    assert seen == made[::-1]


def test_a_listing_page_holds_100_unless_told_and_never_more_than_500(
    simulator: Simulator, gmail_client: Client
) -> None:
    account = simulator.account(ME)
    for _ in range(510):
        account.deliver(PLAIN)
    messages = gmail_client(ME).users().messages()
    assert len(messages.list(userId="me").execute()["messages"]) == 100
    assert len(messages.list(userId="me", maxResults=1000).execute()["messages"]) == 500


def test_an_empty_listing_has_no_messages_key(simulator: Simulator, gmail_client: Client) -> None:
    simulator.account(ME)
    assert gmail_client(ME).users().messages().list(userId="me").execute() == {"resultSizeEstimate": 0}


def test_spam_and_trash_are_listed_only_when_asked_for(simulator: Simulator, gmail_client: Client) -> None:
    account = simulator.account(ME)
    kept, spam, trash = (account.deliver(PLAIN, labels=(label,)).message_id for label in ("INBOX", "SPAM", "TRASH"))
    messages = gmail_client(ME).users().messages()

    def listed(**asked: object) -> set[str]:
        return {m["id"] for m in messages.list(userId="me", **asked).execute()["messages"]}

    assert listed() == {kept}
    assert listed(includeSpamTrash=True) == {kept, spam, trash}
    assert listed(labelIds=["SPAM"]) == {spam}
    assert listed(q="in:trash") == {trash}


def test_a_reply_joins_the_thread_only_with_the_same_subject(simulator: Simulator, gmail_client: Client) -> None:
    account = simulator.account(ME)
    first = account.deliver(b"Message-ID: <q@x>\r\n" + PLAIN)
    answer = account.deliver(reply_to("<q@x>", "RE: Fwd: printer"))
    other = account.deliver(reply_to("<q@x>", "Holidays"))
    stray = account.deliver(reply_to("<unknown@x>", "Printer"))

    thread = gmail_client(ME).users().threads().get(userId="me", id=first.thread_id, format="minimal").execute()

    assert answer.thread_id == first.thread_id
    assert [m["id"] for m in thread["messages"]] == [first.message_id, answer.message_id]
    assert thread["historyId"] == thread["messages"][1]["historyId"]
    assert len({first.thread_id, other.thread_id, stray.thread_id}) == 3


def test_threads_are_listed_once_each(simulator: Simulator, gmail_client: Client) -> None:
    account = simulator.account(ME)
    long = account.deliver(PLAIN)
    lone = account.deliver(PLAIN)
    for _ in range(3):
        account.deliver(PLAIN, thread_id=long.thread_id)
    threads = gmail_client(ME).users().threads()

    request, seen = threads.list(userId="me", maxResults=1), []
    while request is not None:
        answer = request.execute()
        seen += [thread["id"] for thread in answer["threads"]]
        request = threads.list_next(request, answer)

    assert seen == [long.thread_id, lone.thread_id]


def test_two_mailboxes_use_the_same_ids(simulator: Simulator) -> None:
    ann, bo = simulator.account(ME).deliver(PLAIN), simulator.account("bo@example.org").deliver(PLAIN)
    assert ann == bo


def test_ids_are_sixteen_hex_digits_and_grow(simulator: Simulator) -> None:
    ids = [simulator.account(ME).deliver(PLAIN).message_id for _ in range(50)]
    assert ids == sorted(ids)
    assert all(len(i) == 16 and int(i, 16) for i in ids)


def test_labels_are_listed_and_counted(simulator: Simulator, gmail_client: Client) -> None:
    account = simulator.account(ME)
    account.deliver(PLAIN, labels=("INBOX", "UNREAD", "Work/Printers"))
    account.deliver(PLAIN, labels=("work/printers",))
    labels = gmail_client(ME).users().labels()

    listed = {label["name"]: label for label in labels.list(userId="me").execute()["labels"]}
    counted = labels.get(userId="me", id=listed["Work/Printers"]["id"]).execute()

    assert listed["INBOX"]["type"] == "system"
    assert listed["Work/Printers"]["type"] == "user"
    assert (counted["messagesTotal"], counted["messagesUnread"]) == (2, 1)


def test_a_partial_answer_holds_what_the_mask_names(simulator: Simulator, gmail_client: Client) -> None:
    message_id = simulator.account(ME).deliver(with_attachment()).message_id
    messages = gmail_client(ME).users().messages()

    listed = messages.list(userId="me", fields="messages/id,nextPageToken").execute()
    got = messages.get(userId="me", id=message_id, fields="id,payload(mimeType,parts(filename,body/size))").execute()

    assert listed == {"messages": [{"id": message_id}]}
    assert got == {
        "id": message_id,
        "payload": {
            "mimeType": "multipart/mixed",
            "parts": [{"filename": "", "body": {"size": 14}}, {"filename": "bill.pdf", "body": {"size": 300}}],
        },
    }


def test_a_mask_that_cannot_be_read_is_refused(simulator: Simulator, gmail_client: Client) -> None:
    simulator.account(ME)
    for mask in ("messages(id", "a//b", "id,", ")", "id;x"):
        with pytest.raises(HttpError) as refused:
            gmail_client(ME).users().messages().list(userId="me", fields=mask).execute()
        assert refused.value.status_code == 400


@pytest.mark.parametrize(
    ("ask", "status", "reason"),
    [
        (lambda u: u.messages().get(userId="me", id="19b00000ffffffff"), 404, "notFound"),
        (lambda u: u.messages().get(userId="me", id="no-id"), 400, "invalidArgument"),
        (lambda u: u.threads().get(userId="me", id="19b00000ffffffff"), 404, "notFound"),
        (lambda u: u.labels().get(userId="me", id="Label_99"), 404, "notFound"),
        (lambda u: u.messages().list(userId="me", pageToken="?"), 400, "invalidArgument"),
        (lambda u: u.messages().list(userId="me", labelIds=["Label_99"]), 400, "invalidArgument"),
        (lambda u: u.getProfile(userId="other@example.com"), 403, "forbidden"),
        (lambda u: u.drafts().list(userId="me"), 404, "notFound"),
    ],
)
def test_refusals_carry_googles_reason(
    simulator: Simulator, gmail_client: Client, ask: Callable[[Any], Any], status: int, reason: str
) -> None:
    simulator.account(ME)
    with pytest.raises(HttpError) as refused:
        ask(gmail_client(ME).users()).execute()
    assert refused.value.status_code == status
    assert f'"reason": "{reason}"' in refused.value.content.decode()


def test_a_very_long_search_arrives_though_the_client_sends_it_as_a_post(
    simulator: Simulator, gmail_client: Client
) -> None:
    message_id = simulator.account(ME).deliver(PLAIN).message_id
    search = " ".join(f"-subject:word{n}" for n in range(400))
    listed = gmail_client(ME).users().messages().list(userId="me", q=search).execute()
    assert [m["id"] for m in listed["messages"]] == [message_id]


def test_many_connections_at_once_each_get_what_they_asked_for_while_mail_arrives(simulator: Simulator) -> None:
    account = simulator.account(ME)
    ids = [account.deliver(b"Subject: %d\r\n\r\nx" % n).message_id for n in range(40)]
    headers = {"Authorization": f"Bearer {simulator.tokens.issue_access_token(ME)}"}

    def read_all(_: int) -> list[str]:
        connection = http.client.HTTPConnection(simulator.url.removeprefix("http://"), timeout=30)
        with closing(connection):
            found = []
            for message_id in ids:
                connection.request("GET", f"/gmail/v1/users/me/messages/{message_id}?format=minimal", headers=headers)
                found.append(json.loads(connection.getresponse().read())["id"])
                account.deliver(PLAIN)
            return found

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(read_all, range(8))) == [ids] * 8
    assert account.message_count == 40 + 8 * 40


def test_the_record_names_each_call_and_its_units(simulator: Simulator, gmail_client: Client) -> None:
    message_id = simulator.account(ME).deliver(PLAIN).message_id
    gmail_client(ME).users().messages().get(userId="me", id=message_id).execute()

    calls = [(c.method, c.address, c.entity_id, c.units, c.status) for c in simulator.calls]

    assert calls == [("token", None, None, 0, 200), ("messages.get", ME, message_id, 20, 200)]
