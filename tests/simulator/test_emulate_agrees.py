"""A Gmail stand-in made by others and our simulator tell Google's client the same story.

One story is played on both: mail arrives, is answered, relabelled, deleted. What Google's client then reads is put into
words that do not depend on ids, and must be equal. Only what the other stand-in is worth trusting on is compared.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from fixtures.emulate import Emulate
from fixtures.simulator import build_client
from google.auth.exceptions import RefreshError
from googleapiclient.errors import HttpError

from inbox_loop.simulator.server import Simulator

ME = "ann@example.com"


class Story:
    """The mailbox of one stand-in, its messages known by their subjects."""

    def __init__(self, client: Any) -> None:  # noqa: ANN401 - Google's client is made at run time
        self.users = client.users()

    def pages(self, collection: Any, **asked: object) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - as above
        """Every page of a listing."""
        request = collection.list(userId="me", **asked)
        while request is not None:
            answer = request.execute()
            yield answer
            request = collection.list_next(request, answer)


@dataclass(frozen=True, slots=True)
class Played:
    """The story after it was played: the reader, ids by subject, and the historyId from before it."""

    story: Story
    ids: dict[str, str]
    start: str

    def names(self, message_ids: Iterator[str]) -> list[str]:
        """Subjects in place of ids."""
        subjects = {message_id: subject for subject, message_id in self.ids.items()}
        return [subjects[i] for i in message_ids]


def header(message: dict[str, Any], name: str) -> str:
    return next((h["value"] for h in message["payload"]["headers"] if h["name"].lower() == name.lower()), "")


def letter(subject: str, *, minute: int, reply_to: str = "", attachment: bool = False) -> bytes:
    message = EmailMessage()
    message["From"] = "Bo <bo@example.org>"
    message["To"] = ME
    message["Subject"] = subject
    message["Date"] = f"Mon, 30 Nov 2026 10:{minute:02}:00 +0000"
    message["Message-ID"] = f"<{minute}@example.org>"
    if reply_to:
        message["In-Reply-To"] = reply_to
    message.set_content(f"About {subject}: please look.\n")
    if attachment:
        message.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="bill.pdf")
    return message.as_bytes()


LETTERS: dict[str, tuple[bytes, list[str]]] = {
    "Printer": (letter("Printer", minute=1), ["INBOX", "UNREAD"]),
    "Re: Printer": (letter("Re: Printer", minute=2, reply_to="<1@example.org>"), ["INBOX"]),
    "Invoice": (letter("Invoice", minute=3, attachment=True), ["INBOX", "UNREAD"]),
    "Prize": (letter("Prize", minute=4), ["SPAM"]),
    "Junk": (letter("Junk", minute=7), ["SPAM", "UNREAD"]),
    "Mistake": (letter("Mistake", minute=5), ["INBOX"]),
    "Answer": (letter("Answer", minute=6), ["SENT"]),
}


def play_on_emulate(emulate: Emulate, stack: ExitStack) -> Played:
    story = Story(stack.enter_context(closing(build_client(emulate.url, emulate.token_file))))
    messages = story.users.messages()
    first = messages.insert(userId="me", body=body_of(letter("Before", minute=0), ["INBOX"])).execute()["id"]
    start = story.users.getProfile(userId="me").execute()["historyId"]
    ids = {
        subject: messages.insert(userId="me", body=body_of(raw, labels)).execute()["id"]
        for subject, (raw, labels) in LETTERS.items()
    }
    change = {"addLabelIds": ["STARRED"], "removeLabelIds": ["UNREAD"]}
    messages.modify(userId="me", id=ids["Invoice"], body=change).execute()
    rescue = {"addLabelIds": ["INBOX"], "removeLabelIds": ["SPAM"]}
    messages.modify(userId="me", id=ids["Prize"], body=rescue).execute()
    messages.delete(userId="me", id=ids["Mistake"]).execute()
    return Played(story, ids | {"Before": first}, start)


def body_of(raw: bytes, labels: list[str]) -> dict[str, Any]:
    return {"raw": base64.urlsafe_b64encode(raw).decode("ascii"), "labelIds": labels}


def play_on_simulator(simulator: Simulator, token_file: Path, stack: ExitStack) -> Played:
    story = Story(stack.enter_context(closing(build_client(simulator.url, token_file))))
    account = simulator.account(ME)
    first = account.deliver(letter("Before", minute=0), labels=["INBOX"]).message_id
    start = story.users.getProfile(userId="me").execute()["historyId"]
    ids = {subject: account.deliver(raw, labels=labels).message_id for subject, (raw, labels) in LETTERS.items()}
    account.relabel(ids["Invoice"], add=["STARRED"], remove=["UNREAD"])
    account.relabel(ids["Prize"], add=["INBOX"], remove=["SPAM"])
    account.delete(ids["Mistake"])
    return Played(story, ids | {"Before": first}, start)


@pytest.fixture
def both(emulate: Emulate, simulator: Simulator, tmp_path: Path) -> Iterator[tuple[Played, Played]]:
    """The story, played on the other stand-in and on ours."""
    with ExitStack() as stack:
        token_file = simulator.token_file(ME, tmp_path / "simulator-token.json")
        yield play_on_emulate(emulate, stack), play_on_simulator(simulator, token_file, stack)


def listed(played: Played, **asked: object) -> list[str]:
    pages = played.story.pages(played.story.users.messages(), **asked)
    return sorted(played.names(m["id"] for page in pages for m in page.get("messages", [])))


def read(played: Played, subject: str) -> dict[str, Any]:
    message = played.story.users.messages().get(userId="me", id=played.ids[subject]).execute()
    payload = message["payload"]
    parts = payload.get("parts", [payload])
    data = parts[0]["body"]["data"]
    return {
        "headers": {name: header(message, name) for name in ("From", "To", "Subject", "Message-ID", "In-Reply-To")},
        "labels": sorted(message["labelIds"]),
        "text": base64.urlsafe_b64decode(data + "=" * (-len(data) % 4)).strip(),  # the other drops the last newline
        "type": payload["mimeType"],
        "parts": [(part["partId"], part["mimeType"], part["filename"], "data" in part["body"]) for part in parts],
        "ids are text": all(isinstance(message[key], str) for key in ("id", "threadId", "historyId", "internalDate")),
    }


def changes(played: Played) -> list[tuple[str, str, tuple[str, ...]]]:
    """What history says since the start: what happened, to which message, with which labels."""
    found = []
    pages = played.story.pages(played.story.users.history(), startHistoryId=played.start, maxResults=3)
    for record in (record for page in pages for record in page.get("history", [])):
        for key in ("messagesAdded", "messagesDeleted", "labelsAdded", "labelsRemoved"):
            for entry in record.get(key, []):
                (name,) = played.names(iter([entry["message"]["id"]]))
                found.append((key, name, tuple(sorted(entry.get("labelIds", [])))))
    return found


def threads(played: Played) -> list[list[str]]:
    collection = played.story.users.threads()
    ids = [t["id"] for page in played.story.pages(collection, maxResults=2) for t in page.get("threads", [])]
    assert len(ids) == len(set(ids))
    whole = [collection.get(userId="me", id=thread_id, format="metadata").execute()["messages"] for thread_id in ids]
    return sorted([header(message, "Subject") for message in messages] for messages in whole)


def labels(played: Played) -> set[tuple[str, str]]:
    wanted = {"INBOX", "SENT", "DRAFT", "SPAM", "TRASH", "UNREAD", "STARRED", "IMPORTANT"}
    found = played.story.users.labels().list(userId="me").execute()["labels"]
    return {(label["id"], label["type"]) for label in found if label["id"] in wanted}


def refusals(played: Played) -> list[int]:
    """HTTP status for a message that was deleted, and for a thread that never was."""
    users, gone = played.story.users, played.ids["Mistake"]
    status = []
    for request in (users.messages().get(userId="me", id=gone), users.threads().get(userId="me", id="f" * 16)):
        with pytest.raises(HttpError) as refused:
            request.execute()
        status.append(refused.value.status_code)
    return status


READERS: dict[str, Callable[[Played], object]] = {
    "listing": listed,
    "listing in pages": lambda played: listed(played, maxResults=2),
    "listing with spam and trash": lambda played: listed(played, includeSpamTrash=True),
    "listing by label": lambda played: listed(played, labelIds=["INBOX"]),
    "search in:inbox": lambda played: listed(played, q="in:inbox"),
    "search subject:": lambda played: listed(played, q="subject:printer"),
    "search from:": lambda played: listed(played, q="from:bo@example.org"),
    "search has:attachment": lambda played: listed(played, q="has:attachment"),
    "search is:unread": lambda played: listed(played, q="is:unread"),
    "a message": lambda played: read(played, "Printer"),
    "an answer": lambda played: read(played, "Re: Printer"),
    "a message with a file": lambda played: read(played, "Invoice"),
    "history": changes,
    "threads": threads,
    "labels": labels,
    "refusals": refusals,
}


def test_both_tell_the_same_story(both: tuple[Played, Played]) -> None:
    theirs, ours = both
    assert {name: reader(ours) for name, reader in READERS.items()} == {
        name: reader(theirs) for name, reader in READERS.items()
    }


def test_both_refuse_a_refresh_token_they_did_not_issue(emulate: Emulate, simulator: Simulator, tmp_path: Path) -> None:
    ours = simulator.token_file(ME, tmp_path / "ours.json")
    simulator.revoke(ME)
    emulate.token_file.write_text(emulate.token_file.read_text().replace("google_refresh_", "other_"), encoding="utf-8")
    for url, token_file in ((emulate.url, emulate.token_file), (simulator.url, ours)):
        with closing(build_client(url, token_file)) as client, pytest.raises(RefreshError, match="invalid_grant"):
            client.users().labels().list(userId="me").execute()
