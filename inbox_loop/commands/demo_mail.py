"""The mail of the demo: the invented mailbox that comes along, or the user's own, and the second ask on a thread."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from email.message import EmailMessage
from importlib.resources import files
from pathlib import Path

from inbox_loop.simulator.mail import FoundMail, read_mail
from inbox_loop.simulator.store import Account
from inbox_loop.task import Task

SAMPLE_ADDRESS = "support@example.org"
OWN_ADDRESS = "me@example.com"

_SAMPLE = Path(str(files("inbox_loop.simulator").joinpath("sample")))


@dataclass(frozen=True, slots=True)
class DemoMail:
    """Whose mailbox the demo reads, what is in it, and what arrives later."""

    address: str
    first: Iterator[FoundMail]
    is_sample: bool

    def deliver_first(self, account: Account) -> int:
        """Fill the mailbox; how many messages."""
        for mail in self.first:
            account.deliver(mail.raw, labels=mail.labels, thread_id=mail.thread_id, internal_date=mail.internal_date)
        return account.message_count

    def deliver_second_ask(self, account: Account, task: Task) -> None:
        """Let another ask arrive on the thread of ``task``."""
        thread_id = str(task.source["thread_id"])
        raws = [mail.raw for mail in read_mail(_SAMPLE / "later")] if self.is_sample else [_one_more_thing()]
        for raw in raws:
            account.deliver(raw, thread_id=thread_id)


def find_demo_mail(path: Path | None) -> DemoMail:
    """The mail under ``path``, or the sample. Raises ``MailUnavailable``."""
    if path is None:
        return DemoMail(SAMPLE_ADDRESS, _sample(), is_sample=True)
    return DemoMail(OWN_ADDRESS, read_mail(path), is_sample=False)


def _sample() -> Iterator[FoundMail]:
    for file in sorted(_SAMPLE.glob("*.eml")):
        yield from read_mail(file)


def _one_more_thing() -> bytes:
    """A second ask for a thread of the user's own mail."""
    reply = EmailMessage()
    reply["From"] = "A correspondent <correspondent@example.com>"
    reply["To"] = OWN_ADDRESS
    reply["Subject"] = "Re: one more thing"
    reply.set_content("Thank you. One more thing, while we are at it: could you look into this as well?\n")
    return reply.as_bytes()
