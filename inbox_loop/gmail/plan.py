"""Which calls read the wanted messages for the fewest quota units. Pure.

Lives here: the choice between messages.get and threads.get. Not here: the calls themselves (``reading.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from inbox_loop.loop.ports import MessageId


@dataclass(frozen=True, slots=True)
class LargeMessages:
    """The messages that are known to be too large to be downloaded, and the threads they hang in."""

    message_ids: frozenset[str] = frozenset()
    thread_ids: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """Read one message by messages.get."""

    wanted: MessageId


@dataclass(frozen=True, slots=True)
class ReadHeaders:
    """Read the headers alone of a message that is too large, by messages.get."""

    wanted: MessageId


@dataclass(frozen=True, slots=True)
class ReadThread:
    """Read several messages of one thread by a single threads.get."""

    thread_id: str
    wanted: tuple[MessageId, ...]


Read = ReadMessage | ReadHeaders | ReadThread


def plan_reads(wanted: Sequence[MessageId], costs: Mapping[str, int], large: LargeMessages) -> tuple[Read, ...]:
    """Cover every wanted id once, at the lowest price, in the order in which its thread was first named.

    With Google's costs a thread read pays from its third wanted message on; a tie goes to messages.get, which
    transfers nothing that is not wanted. A thread read transfers all of its messages, so a thread in which a large one
    hangs is read message by message.
    """
    threads: dict[str, dict[str, MessageId]] = {}
    for each in {each.message_id: each for each in wanted}.values():
        threads.setdefault(each.thread_id, {})[each.message_id] = each
    reads: list[Read] = []
    for thread_id, messages in threads.items():
        pays = costs["threads.get"] < len(messages) * costs["messages.get"]
        if pays and thread_id not in large.thread_ids:
            reads.append(ReadThread(thread_id, tuple(messages.values())))
        else:
            reads.extend(
                ReadHeaders(each) if each.message_id in large.message_ids else ReadMessage(each)
                for each in messages.values()
            )
    return tuple(reads)
