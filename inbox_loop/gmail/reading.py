"""Reading messages: one planned read after another, each answered message by message.

Lives here: ``Reader``, which makes ``Fetched`` values of the calls a plan names. Not here: the plan (``plan.py``),
how many reads run at once (``in_flight.py``), and tries (``calls.py``).

Trouble with one message is its value. Trouble with the mailbox is raised: nobody there, a person must act, throttled
for longer than the pass lasts, or the pass is over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from inbox_loop.errors import GmailUnreachable, InboxLoopError, MessageGone, UnreadableMessage
from inbox_loop.gmail.answers import AnswerTooLarge, NoConnection
from inbox_loop.gmail.bounds import Bounds
from inbox_loop.gmail.calls import Calls
from inbox_loop.gmail.plan import Read, ReadThread
from inbox_loop.gmail.session import Call
from inbox_loop.gmail.wire import Answer, list_large_texts, read_answer, read_attachment
from inbox_loop.loop.ports import Fetched, MessageId


class Reader:
    """Reads messages of one mailbox. Thread-safe."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def read(self, planned: Read, bounds: Bounds) -> tuple[Fetched, ...]:
        """One answer for each message of the planned read."""
        if isinstance(planned, ReadThread):
            return self._read_thread(planned, bounds)
        return (self._read_message(planned.wanted, bounds),)

    def _read_thread(self, planned: ReadThread, bounds: Bounds) -> tuple[Fetched, ...]:
        """By threads.get; what is not in its answer, or when there is no usable answer, one by one."""
        try:
            thread = self._calls.execute(
                Call("threads.get", {"id": planned.thread_id, "format": "full"}), bounds, _expect(planned.thread_id)
            )
        except (MessageGone, UnreadableMessage):
            thread = {}
        answers = _by_id(thread)
        return tuple(
            self._read_answer(wanted, answers[wanted.message_id], bounds)
            if wanted.message_id in answers
            else self._read_message(wanted, bounds)
            for wanted in planned.wanted
        )

    def _read_message(self, wanted: MessageId, bounds: Bounds) -> Fetched:
        try:
            answer = self._find_message(wanted.message_id, bounds)
        except InboxLoopError as error:
            return _value(wanted, error)
        return self._read_answer(wanted, answer, bounds)

    def _find_message(self, message_id: str, bounds: Bounds) -> Answer:
        """The whole message, or its headers alone where the whole is more than is taken into memory."""
        check = _expect(message_id)
        try:
            return self._calls.execute(Call("messages.get", {"id": message_id, "format": "full"}), bounds, check)
        except AnswerTooLarge:
            return self._calls.execute(Call("messages.get", {"id": message_id, "format": "metadata"}), bounds, check)

    def _read_answer(self, wanted: MessageId, answer: Answer, bounds: Bounds) -> Fetched:
        try:
            return Fetched(wanted.message_id, read_answer(answer, self._read_large_texts(wanted, answer, bounds)))
        except InboxLoopError as error:
            return _value(wanted, error)

    def _read_large_texts(self, wanted: MessageId, answer: Answer, bounds: Bounds) -> Mapping[str, bytes]:
        return {
            text.attachment_id: self._read_large_text(wanted.message_id, text.attachment_id, bounds)
            for text in list_large_texts(answer)
        }

    def _read_large_text(self, message_id: str, attachment_id: str, bounds: Bounds) -> bytes:
        call = Call("messages.attachments.get", {"messageId": message_id, "id": attachment_id})
        try:
            return read_attachment(self._calls.execute(call, bounds))
        except MessageGone as error:
            # The id was good for one reading. The message is there, so it must not count as gone.
            raise GmailUnreachable("Gmail no longer knows the text it named a moment ago.") from error


def _value(wanted: MessageId, error: InboxLoopError) -> Fetched:
    """The error as this message's answer, or raised when it is about more than this message."""
    about_this_message = isinstance(error, MessageGone | UnreadableMessage | GmailUnreachable)
    if not about_this_message or isinstance(error, NoConnection):
        raise error
    return Fetched(wanted.message_id, error)


def _expect(asked: str) -> Callable[[Answer], None]:
    """A check that the answer is the one asked for: an answer to another request must never be taken for it."""

    def check(answer: Answer) -> None:
        if answer.get("id") != asked:
            raise GmailUnreachable("Gmail's answer is for another id than the one asked for.")

    return check


def _by_id(thread: Answer) -> dict[str, Answer]:
    messages = thread.get("messages")
    if not isinstance(messages, list):
        return {}
    return {each["id"]: each for each in messages if isinstance(each, dict) and isinstance(each.get("id"), str)}
