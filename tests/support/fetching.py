"""Mail that is delivered to the simulator, and read through Google's client.

Lives here: what tests of reading share. Not here: the mailbox (``fixtures/gmail.py``).
"""

from __future__ import annotations

from collections import Counter
from email.message import EmailMessage

from fixtures.gmail import ADDRESS

from inbox_loop.errors import InboxLoopError
from inbox_loop.gmail.mailbox import GoogleMailbox
from inbox_loop.loop.ports import MessageId
from inbox_loop.message.model import Message
from inbox_loop.simulator.server import Simulator
from inbox_loop.simulator.store import Account


def mail(text: str, subject: str = "Hello") -> bytes:
    """A plain mail."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "ada@example.com", ADDRESS, subject
    message.set_content(text)
    return message.as_bytes()


def deliver(account: Account, count: int, *, thread_id: str | None = None) -> list[MessageId]:
    """So many messages, each with its place in line as its text; on threads of their own without ``thread_id``."""
    delivered = (account.deliver(mail(f"number {n}"), thread_id=thread_id) for n in range(count))
    return [MessageId(each.message_id, each.thread_id) for each in delivered]


def read(mailbox: GoogleMailbox, wanted: list[MessageId]) -> dict[str, Message | InboxLoopError]:
    """Fetch; fails when an id is answered twice."""
    answers: dict[str, Message | InboxLoopError] = {}
    for fetched in mailbox.fetch_messages(wanted):
        assert fetched.message_id not in answers
        answers[fetched.message_id] = fetched.result
    return answers


def texts(answers: dict[str, Message | InboxLoopError]) -> dict[str, str]:
    """The text of each message, or the code of its error, by id."""
    return {each: got.text.strip() if isinstance(got, Message) else got.code for each, got in answers.items()}


def methods(simulator: Simulator) -> Counter[str]:
    """How often each method read messages; what is asked once a pass is counted in tests of its own."""
    return Counter(call.method for call in simulator.calls if call.method not in {"token", "messages.list"})
