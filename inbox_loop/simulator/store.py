"""One mailbox of the simulator: its messages, threads, labels and history.

Lives here: ``Account``, through which tests and the demo deliver, relabel and delete, and the reads the endpoints need.
Not here: JSON shapes (``endpoints.py``, ``payload.py``).

Rules: ids are 16 hexadecimal digits and grow; every account counts from the same start, because Gmail's ids are
unique within a mailbox only. A thread's id is its first message's. A message joins a thread when it refers to one of
its messages *and* has the same subject base. Each change makes one history record. Bytes are kept on disk, about 1 KB
a message in memory. All methods are safe between threads.
"""

from __future__ import annotations

import threading
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from inbox_loop.simulator.envelope import Envelope, read_envelope
from inbox_loop.simulator.history import History
from inbox_loop.simulator.labels import Labels
from inbox_loop.simulator.mime import RawPart, parse_message
from inbox_loop.simulator.payload import walk
from inbox_loop.simulator.problems import not_found
from inbox_loop.simulator.spool import Slot, Spool

FIRST_ID = 0x19B0_0000_0000_0001
_ID_STEP = 0x1003  # odd, so that odd and even ids alternate
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Delivered:
    """What a delivery made."""

    message_id: str
    thread_id: str


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message in the mailbox. A change of labels makes a new value."""

    message_id: str
    thread_id: str
    labels: tuple[str, ...]
    internal_ms: int
    history_id: int
    envelope: Envelope
    slot: Slot
    spool: Spool

    @property
    def raw(self) -> bytes:
        """The bytes as they were delivered."""
        return self.spool.read(self.slot)

    @property
    def size(self) -> int:
        """How many bytes there are."""
        return self.slot.size

    def parse(self) -> RawPart:
        """The tree of its parts."""
        return parse_message(self.raw)

    def has_attachment(self) -> bool:
        """Whether a part has a file name."""
        return any(part.filename for part in walk(self.parse()))

    def text(self) -> str:
        """Subject, addresses and readable text, in lower case, for search."""
        bodies = (p.data.decode("utf-8", "replace") for p in walk(self.parse()) if p.mime_type.startswith("text/"))
        return "\n".join((self.envelope.subject, self.envelope.sender, self.envelope.recipients, *bodies)).lower()


class Account:
    """One Gmail mailbox."""

    def __init__(self, address: str, spool: Spool, now: Callable[[], datetime]) -> None:
        self.address = address
        self.labels = Labels()
        self.history = History()
        self._spool = spool
        self._now = now
        self._lock = threading.RLock()
        self._next_id = FIRST_ID
        self._messages: dict[str, StoredMessage] = {}
        self._order: list[tuple[int, str]] = []
        self._threads: dict[str, list[str]] = {}
        self._threads_by_rfc_id: dict[str, str] = {}

    # --- what tests and the demo do ---------------------------------------------------------------------------

    def deliver(
        self,
        raw: bytes,
        *,
        labels: Sequence[str] = ("INBOX", "UNREAD"),
        thread_id: str | None = None,
        internal_date: datetime | None = None,
    ) -> Delivered:
        """Put a message into the mailbox. ``labels`` are names or ids, unknown names become labels of the user's.

        Without ``thread_id`` the references decide; without ``internal_date`` (aware) it is now.
        """
        envelope, slot = read_envelope(raw), self._spool.append(raw)
        moment = internal_date or self._now()
        with self._lock:
            message_id = f"{self._next_id:016x}"
            self._next_id += _ID_STEP
            thread = thread_id or self._find_thread(envelope) or message_id
            label_ids = self._label_ids(labels)
            message = StoredMessage(
                message_id=message_id,
                thread_id=thread,
                labels=label_ids,
                internal_ms=(moment - _EPOCH) // timedelta(milliseconds=1),
                history_id=self.history.record(message_id, thread, label_ids, {"messagesAdded": ()}),
                envelope=envelope,
                slot=slot,
                spool=self._spool,
            )
            self._messages[message_id] = message
            insort(self._order, (message.internal_ms, message_id))
            self._threads.setdefault(thread, []).append(message_id)
            if envelope.rfc_message_id:
                self._threads_by_rfc_id[envelope.rfc_message_id] = thread
        return Delivered(message_id, thread)

    def save_draft(self, raw: bytes, *, replaces: str | None = None) -> Delivered:
        """Save a draft. As at Gmail each save is a new message on the same thread, and the old one is deleted."""
        with self._lock:
            thread_id = self.find(replaces).thread_id if replaces else None
            saved = self.deliver(raw, labels=("DRAFT",), thread_id=thread_id)
            if replaces:
                self.delete(replaces)
        return saved

    def relabel(self, message_id: str, add: Sequence[str] = (), remove: Sequence[str] = ()) -> None:
        """Add and remove labels; a label that is there already, or not there, makes no record."""
        with self._lock:
            message = self.find(message_id)
            added = tuple(label for label in self._label_ids(add) if label not in message.labels)
            removed = tuple(label for label in self._label_ids(remove) if label in message.labels)
            labels = tuple(label for label in (*message.labels, *added) if label not in removed)
            what = {key: ids for key, ids in (("labelsAdded", added), ("labelsRemoved", removed)) if ids}
            if what:
                history_id = self.history.record(message_id, message.thread_id, labels, what)
                self._messages[message_id] = replace(message, labels=labels, history_id=history_id)

    def rethread(self, message_id: str, thread_id: str) -> None:
        """Move a message to another thread. Gmail promises that a message id stays, and not that a thread id does."""
        with self._lock:
            message = self.find(message_id)
            self._leave_thread(message)
            self._threads.setdefault(thread_id, []).append(message_id)
            self._messages[message_id] = replace(message, thread_id=thread_id)

    def delete(self, message_id: str) -> None:
        """Delete a message for good."""
        with self._lock:
            message = self.find(message_id)
            del self._messages[message_id]
            del self._order[bisect_left(self._order, (message.internal_ms, message_id))]
            self._leave_thread(message)
            self.history.record(message_id, message.thread_id, message.labels, {"messagesDeleted": ()})

    def expire_history(self) -> None:
        """Forget history up to now: a start before the current historyId is answered with 404."""
        with self._lock:
            self.history.expire()

    @property
    def history_id(self) -> int:
        """The mailbox's position."""
        return self.history.latest

    @property
    def message_count(self) -> int:
        """Messages in the mailbox, spam and trash included."""
        return len(self._messages)

    @property
    def thread_count(self) -> int:
        """Threads in the mailbox, spam and trash included."""
        return len(self._threads)

    # --- what the endpoints read ------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the mailbox still while an answer is put together."""
        with self._lock:
            yield

    def find(self, message_id: str) -> StoredMessage:
        """The message; raises Gmail's 404."""
        message = self._messages.get(message_id)
        if message is None:
            raise not_found()
        return message

    def find_thread(self, thread_id: str) -> tuple[StoredMessage, ...]:
        """The thread's messages, oldest first; raises Gmail's 404."""
        with self._lock:
            message_ids = self._threads.get(thread_id)
            if message_ids is None:
                raise not_found()
            return tuple(sorted((self._messages[i] for i in message_ids), key=lambda m: (m.internal_ms, m.message_id)))

    def newest_first(self, before: tuple[int, str] | None) -> Iterator[StoredMessage]:
        """Messages from the newest to the oldest, or those older than the position ``before``; hold ``reading()``."""
        end = len(self._order) if before is None else bisect_left(self._order, before)
        return (self._messages[self._order[n][1]] for n in range(end - 1, -1, -1))

    def _label_ids(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.labels.claim_id(name) for name in names))

    def _find_thread(self, envelope: Envelope) -> str | None:
        for reference in envelope.references:
            thread_id = self._threads_by_rfc_id.get(reference)
            message_ids = self._threads.get(thread_id) if thread_id else None
            if message_ids and self._messages[message_ids[-1]].envelope.subject_base == envelope.subject_base:
                return thread_id
        return None

    def _leave_thread(self, message: StoredMessage) -> None:
        message_ids = self._threads[message.thread_id]
        message_ids.remove(message.message_id)
        if not message_ids:
            del self._threads[message.thread_id]
