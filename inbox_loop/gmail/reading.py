"""Reading messages: one planned read after another, each answered message by message.

Lives here: ``Reader``, which makes ``Fetched`` values of the calls a plan names. Not here: the plan (``plan.py``),
how many reads run at once (``in_flight.py``), which comes next (``turns.py``), and tries (``calls.py``).

How Google's dict becomes a ``Message`` is handed in, so that it may happen in another process, within limits of time
and memory (``reader/``).

Trouble with one message is its value; so is that it hangs, once its share of the pass is used up. Trouble with the
mailbox is raised: nobody there, a person must act, throttled for longer than the pass lasts, or the pass is over.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from inbox_loop.errors import GmailUnreachable, InboxLoopError, MessageGone, ReadingInterrupted, UnreadableMessage
from inbox_loop.gmail.answers import AnswerTooLarge, NoConnection
from inbox_loop.gmail.bounds import Bounds
from inbox_loop.gmail.calls import Calls, accept_any
from inbox_loop.gmail.patience import Patience, patience_for_one_read
from inbox_loop.gmail.plan import Read, ReadHeaders, ReadThread
from inbox_loop.gmail.session import Call
from inbox_loop.gmail.wire import (
    Answer,
    Download,
    WholeMessage,
    drop_content,
    find_size,
    list_large_texts,
    read_attachment,
    read_download,
)
from inbox_loop.loop.ports import Fetched, MessageId
from inbox_loop.message.model import Message

ReadDownload = Callable[[Download, Callable[[], None]], Message]
"""Makes a message of what was downloaded. Raises ``UnreadableMessage``, or what the check raises when the pass ends."""


def read_in_place(download: Download, _check: Callable[[], None]) -> Message:
    """Read in this very thread, without limits."""
    return read_download(download)


@dataclass(frozen=True, slots=True)
class Answers:
    """What a planned read came to."""

    fetched: tuple[Fetched, ...]
    left_over: tuple[MessageId, ...] = ()
    """Messages that a thread's answer did not settle; each is to be read by itself."""


class Reader:
    """Reads messages of one mailbox, of those over ``max_message_bytes`` the headers alone. Thread-safe."""

    def __init__(self, calls: Calls, *, max_message_bytes: int, read_download: ReadDownload) -> None:
        self._calls = calls
        self._max_message_bytes = max_message_bytes
        self._read_download = read_download

    def read(self, planned: Read, bounds: Bounds) -> Answers:
        """Make the planned read, with patience for its share of the pass."""
        one = _OneRead(self._calls, self._max_message_bytes, self._read_download, bounds, patience_for_one_read(bounds))
        match planned:
            case ReadThread():
                return one.read_thread(planned)
            case ReadHeaders():
                return Answers((one.read_headers(planned.wanted),))
            case _:
                return Answers((one.read_message(planned.wanted),))


@dataclass(frozen=True, slots=True)
class _OneRead:
    """The calls of one planned read, under one patience."""

    calls: Calls
    max_message_bytes: int
    read_download: ReadDownload
    bounds: Bounds
    patience: Patience

    def read_thread(self, planned: ReadThread) -> Answers:
        """By threads.get. Passing trouble, and what is not in the answer, is left to reads of single messages.

        So is what can't be read within the share of the pass: a thread of messages that take long must not be begun
        anew by each pass, and never settled.
        """
        call = Call("threads.get", {"id": planned.thread_id, "format": "full"})
        try:
            answers = _by_id(self._execute(call, _expect(planned.thread_id)))
        except (MessageGone, UnreadableMessage, GmailUnreachable) as error:
            if isinstance(error, NoConnection):
                raise
            answers = {}
        until = time.monotonic() + self.patience.seconds_left
        read = (
            self._settle(each, partial(self._complete, each, answers[each.message_id]))
            for each in planned.wanted
            if each.message_id in answers and time.monotonic() < until
        )
        fetched = tuple(each for each in read if not isinstance(each.result, GmailUnreachable))
        settled = {each.message_id for each in fetched}
        return Answers(fetched, tuple(each for each in planned.wanted if each.message_id not in settled))

    def read_message(self, wanted: MessageId) -> Fetched:
        """By messages.get."""
        return self._settle(wanted, partial(self._download, wanted))

    def read_headers(self, wanted: MessageId) -> Fetched:
        """By messages.get without content; with it after all where the message turns out to be small enough."""
        return self._settle(wanted, partial(self._download_headers, wanted))

    def _settle(self, wanted: MessageId, download: Callable[[], Download]) -> Fetched:
        """The message, or the trouble with it."""
        try:
            return Fetched(wanted.message_id, self.read_download(download(), self.bounds.check))
        except InboxLoopError as error:
            return _value(wanted, error)

    def _download(self, wanted: MessageId) -> Download:
        try:
            answer = self._find_answer(wanted, "full")
        except AnswerTooLarge:
            return drop_content(self._find_answer(wanted, "metadata"))
        return self._complete(wanted, answer)

    def _download_headers(self, wanted: MessageId) -> Download:
        answer = self._find_answer(wanted, "metadata")
        return drop_content(answer) if self._is_too_large(answer) else self._download(wanted)

    def _complete(self, wanted: MessageId, answer: Answer) -> Download:
        """A full answer with the texts that Gmail keeps apart."""
        if self._is_too_large(answer):
            return drop_content(answer)
        texts = {
            text.attachment_id: self._read_large_text(wanted.message_id, text.attachment_id)
            for text in list_large_texts(answer)
        }
        return WholeMessage(answer, texts)

    def _is_too_large(self, answer: Answer) -> bool:
        return find_size(answer) > self.max_message_bytes

    def _find_answer(self, wanted: MessageId, shape: str) -> Answer:
        call = Call("messages.get", {"id": wanted.message_id, "format": shape})
        return self._execute(call, _expect(wanted.message_id))

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
    about_this_message = isinstance(error, MessageGone | UnreadableMessage | ReadingInterrupted | GmailUnreachable)
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
