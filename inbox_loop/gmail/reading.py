"""Reading messages: one planned read after another, each answered message by message.

Lives here: ``Reader``, which makes ``Fetched`` values of the calls a plan names. Not here: the plan (``plan.py``),
how many reads run at once (``in_flight.py``), which comes next (``turns.py``), and tries (``calls.py``).

Trouble with one message is its value; so is that it hangs, once its share of the pass is used up. Trouble with the
mailbox is raised: nobody there, a person must act, throttled for longer than the pass lasts, or the pass is over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from inbox_loop.errors import GmailUnreachable, InboxLoopError, MessageGone, UnreadableMessage
from inbox_loop.gmail.answers import AnswerTooLarge, NoConnection
from inbox_loop.gmail.bounds import Bounds
from inbox_loop.gmail.calls import Calls, accept_any
from inbox_loop.gmail.patience import Patience, patience_for_one_read
from inbox_loop.gmail.plan import Read, ReadThread
from inbox_loop.gmail.session import Call
from inbox_loop.gmail.wire import Answer, list_large_texts, read_answer, read_attachment
from inbox_loop.loop.ports import Fetched, MessageId


@dataclass(frozen=True, slots=True)
class Answers:
    """What a planned read came to."""

    fetched: tuple[Fetched, ...]
    left_over: tuple[MessageId, ...] = ()
    """Messages that a thread's answer did not settle; each is to be read by itself."""


class Reader:
    """Reads messages of one mailbox. Thread-safe."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def read(self, planned: Read, bounds: Bounds) -> Answers:
        """Make the planned read, with patience for its share of the pass."""
        one = _OneRead(self._calls, bounds, patience_for_one_read(bounds))
        if isinstance(planned, ReadThread):
            return one.read_thread(planned)
        return Answers((one.read_message(planned.wanted),))


@dataclass(frozen=True, slots=True)
class _OneRead:
    """The calls of one planned read, under one patience."""

    calls: Calls
    bounds: Bounds
    patience: Patience

    def read_thread(self, planned: ReadThread) -> Answers:
        """By threads.get. Passing trouble, and what is not in the answer, is left to reads of single messages."""
        call = Call("threads.get", {"id": planned.thread_id, "format": "full"})
        try:
            answers = _by_id(self._execute(call, _expect(planned.thread_id)))
        except (MessageGone, UnreadableMessage, GmailUnreachable) as error:
            if isinstance(error, NoConnection):
                raise
            answers = {}
        read = (
            self._read_answer(each, answers[each.message_id]) for each in planned.wanted if each.message_id in answers
        )
        fetched = tuple(each for each in read if not isinstance(each.result, GmailUnreachable))
        settled = {each.message_id for each in fetched}
        return Answers(fetched, tuple(each for each in planned.wanted if each.message_id not in settled))

    def read_message(self, wanted: MessageId) -> Fetched:
        """By messages.get."""
        try:
            answer = self._find_message(wanted.message_id)
        except InboxLoopError as error:
            return _value(wanted, error)
        return self._read_answer(wanted, answer)

    def _find_message(self, message_id: str) -> Answer:
        """The whole message, or its headers alone where the whole is more than is taken into memory."""
        check = _expect(message_id)
        try:
            return self._execute(Call("messages.get", {"id": message_id, "format": "full"}), check)
        except AnswerTooLarge:
            return self._execute(Call("messages.get", {"id": message_id, "format": "metadata"}), check)

    def _read_answer(self, wanted: MessageId, answer: Answer) -> Fetched:
        try:
            return Fetched(wanted.message_id, read_answer(answer, self._read_large_texts(wanted, answer)))
        except InboxLoopError as error:
            return _value(wanted, error)

    def _read_large_texts(self, wanted: MessageId, answer: Answer) -> Mapping[str, bytes]:
        return {
            text.attachment_id: self._read_large_text(wanted.message_id, text.attachment_id)
            for text in list_large_texts(answer)
        }

    def _read_large_text(self, message_id: str, attachment_id: str) -> bytes:
        call = Call("messages.attachments.get", {"messageId": message_id, "id": attachment_id})
        try:
            return read_attachment(self._execute(call, accept_any))
        except MessageGone as error:
            # The id was good for one reading. The message is there, so it must not count as gone.
            raise GmailUnreachable("Gmail no longer knows the text it named a moment ago.") from error

    def _execute(self, call: Call, check: Callable[[Answer], None]) -> Answer:
        return self.calls.execute(call, self.bounds, check, self.patience)


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
