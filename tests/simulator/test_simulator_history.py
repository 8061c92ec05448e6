"""The simulator's history behaves as Gmail's does where a poll could go wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from googleapiclient.errors import HttpError

from inbox_loop.simulator.server import Simulator

ME = "ann@example.com"
Client = Callable[[str], Any]
MAIL = b"Subject: Hello\r\n\r\nHello.\r\n"


def history_of(
    client: Any,  # noqa: ANN401 - Google's client is made at run time
    start: int,
    **asked: object,
) -> list[dict[str, Any]]:
    """Every page's answer."""
    history, pages = client.users().history(), []
    request = history.list(userId="me", startHistoryId=str(start), **asked)
    while request is not None:
        pages.append(request.execute())
        request = history.list_next(request, pages[-1])
    return pages


def test_profile_listing_and_history_agree(simulator: Simulator, gmail_client: Client) -> None:
    account, client = simulator.account(ME), gmail_client(ME)
    start = int(client.users().getProfile(userId="me").execute()["historyId"])
    made = [account.deliver(MAIL).message_id for _ in range(3)]

    listed = client.users().messages().list(userId="me").execute()["messages"]
    (page,) = history_of(client, start)

    assert [m["id"] for m in listed] == made[::-1]
    assert [r["messagesAdded"][0]["message"]["id"] for r in page["history"]] == made
    assert page["historyId"] == str(account.history_id)


def test_nothing_new_is_an_answer_without_a_history_key(simulator: Simulator, gmail_client: Client) -> None:
    account = simulator.account(ME)
    account.deliver(MAIL)
    assert history_of(gmail_client(ME), account.history_id) == [{"historyId": str(account.history_id)}]


def test_records_come_strictly_after_the_start_and_their_ids_have_gaps(
    simulator: Simulator, gmail_client: Client
) -> None:
    account = simulator.account(ME)
    start = account.history_id
    for _ in range(9):
        account.deliver(MAIL)
    (page,) = history_of(gmail_client(ME), start)
    ids = [int(record["id"]) for record in page["history"]]

    (later,) = history_of(gmail_client(ME), ids[3])

    assert ids == sorted(set(ids))
    assert ids[-1] - start > 9
    assert [int(record["id"]) for record in later["history"]] == ids[4:]


def test_a_page_may_be_empty_and_still_not_the_last(simulator: Simulator, gmail_client: Client) -> None:
    account = simulator.account(ME)
    start = account.history_id
    first = account.deliver(MAIL).message_id
    for _ in range(3):
        account.relabel(first, add=("STARRED",))
        account.relabel(first, remove=("STARRED",))
    last = account.deliver(MAIL).message_id

    pages = history_of(gmail_client(ME), start, maxResults=2, historyTypes=["messageAdded"])

    assert [len(page.get("history", [])) for page in pages] == [1, 0, 0, 1]
    assert all("nextPageToken" in page for page in pages[:-1])
    assert pages[-1]["history"][0]["messagesAdded"][0]["message"]["id"] == last


def test_label_changes_carry_the_labels_that_changed(simulator: Simulator, gmail_client: Client) -> None:
    account = simulator.account(ME)
    message_id = account.deliver(MAIL, labels=("SPAM",)).message_id
    start = account.history_id
    account.relabel(message_id, add=("INBOX", "UNREAD"), remove=("SPAM", "TRASH"))
    account.relabel(message_id, add=("INBOX",))  # changes nothing

    (page,) = history_of(gmail_client(ME), start)

    message = {"id": message_id, "threadId": message_id}
    assert [{**record, "id": ""} for record in page["history"]] == [
        {
            "id": "",
            "messages": [message],
            "labelsAdded": [{"message": {**message, "labelIds": ["INBOX", "UNREAD"]}, "labelIds": ["INBOX", "UNREAD"]}],
            "labelsRemoved": [{"message": {**message, "labelIds": ["INBOX", "UNREAD"]}, "labelIds": ["SPAM"]}],
        }
    ]


def test_a_label_filter_drops_mail_that_never_had_the_label(simulator: Simulator, gmail_client: Client) -> None:
    account = simulator.account(ME)
    start = account.history_id
    account.deliver(MAIL, labels=("Archived at once",))
    kept = account.deliver(MAIL).message_id
    (page,) = history_of(gmail_client(ME), start, labelId="INBOX")
    assert [r["messages"][0]["id"] for r in page["history"]] == [kept]


def test_a_draft_saved_again_is_a_new_message_on_the_same_thread(simulator: Simulator, gmail_client: Client) -> None:
    account = simulator.account(ME)
    first = account.save_draft(MAIL)
    start = account.history_id
    second = account.save_draft(MAIL, replaces=first.message_id)

    (page,) = history_of(gmail_client(ME), start)

    assert second.message_id != first.message_id
    assert second.thread_id == first.thread_id
    assert [sorted(set(r) - {"id", "messages"}) for r in page["history"]] == [["messagesAdded"], ["messagesDeleted"]]


@pytest.mark.parametrize("offset", [-1, 1])
def test_a_start_that_is_expired_or_in_the_future_is_a_404(
    simulator: Simulator, gmail_client: Client, offset: int
) -> None:
    account = simulator.account(ME)
    account.deliver(MAIL)
    account.expire_history()
    client = gmail_client(ME)

    with pytest.raises(HttpError) as refused:
        history_of(client, account.history_id + offset)

    assert refused.value.status_code == 404
    assert history_of(client, account.history_id) == [{"historyId": str(account.history_id)}]


def test_a_start_is_required(simulator: Simulator, gmail_client: Client) -> None:
    simulator.account(ME)
    with pytest.raises(HttpError) as refused:
        gmail_client(ME).users().history().list(userId="me").execute()
    assert refused.value.status_code == 400


def test_a_deleted_message_is_gone_from_everywhere(simulator: Simulator, gmail_client: Client) -> None:
    account = simulator.account(ME)
    gone, kept = account.deliver(MAIL), account.deliver(MAIL)
    account.delete(gone.message_id)
    users = gmail_client(ME).users()

    profile = users.getProfile(userId="me").execute()

    assert (profile["messagesTotal"], profile["threadsTotal"]) == (1, 1)
    assert [m["id"] for m in users.messages().list(userId="me").execute()["messages"]] == [kept.message_id]
    with pytest.raises(HttpError):
        users.threads().get(userId="me", id=gone.thread_id).execute()


def test_a_message_can_move_to_another_thread_and_keep_its_id(simulator: Simulator, gmail_client: Client) -> None:
    account = simulator.account(ME)
    first, second = account.deliver(MAIL), account.deliver(MAIL)
    account.rethread(second.message_id, first.thread_id)
    message = gmail_client(ME).users().messages().get(userId="me", id=second.message_id, format="minimal").execute()
    assert message["threadId"] == first.thread_id
    assert account.thread_count == 1
