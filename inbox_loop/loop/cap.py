"""The cap: how many tasks the mail of one sender makes in one clock hour, so that a machine gone wild floods nobody.

An hour is one of UTC, and a message is in the hour of its internalDate, whenever it is read. Counted are the sender's
messages that are tasks, those of the ledger and those of the batch. Only what would become a new task is held back, in
the order of arrival within a batch; never what a person wants a task of, and never a message without a sender. What is
held back is skipped, and can be made a task later.

Two batches of one mailbox that are settled at the same moment would not see each other's tasks. A mailbox is ingested
by one process at a time (``LoopStore.ingesting``); where that lock is lost on the way, an hour may hold some more.

Pure. Not here: which asks would become a new task (``settle.py``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from inbox_loop.loop.ask import Ask
from inbox_loop.loop.ledger import MessageState, Outcome, SenderHour


@dataclass(frozen=True, slots=True)
class Capped:
    """Asks for new tasks, told apart by the cap, each part in the order it was given."""

    within: tuple[Ask, ...]
    over: tuple[Ask, ...]


def list_sender_hours(asks: Iterable[Ask]) -> tuple[SenderHour, ...]:
    """The senders and hours whose tasks must be counted before these asks are judged, each once."""
    return tuple(dict.fromkeys(hour for ask in asks if not ask.due.insisted and (hour := ask.sender_hour) is not None))


def count_tasks(outcomes: Iterable[Outcome]) -> Counter[SenderHour]:
    """How many of the outcomes are tasks, by sender and hour."""
    return Counter(
        SenderHour.of(outcome.sender, outcome.internal_date)
        for outcome in outcomes
        if outcome.state is MessageState.TASK and outcome.sender is not None and outcome.internal_date is not None
    )


def keep_within_cap(asks: Sequence[Ask], tasks: Mapping[SenderHour, int], *, limit: int) -> Capped:
    """Tell apart the asks that may have their task, given how many tasks each sender and hour has already."""
    taken = Counter(tasks)
    within: list[Ask] = []
    over: list[Ask] = []
    for ask in asks:
        hour = ask.sender_hour
        if hour is not None and taken[hour] >= limit and not ask.due.insisted:
            over.append(ask)
            continue
        within.append(ask)
        if hour is not None:
            taken[hour] += 1
    return Capped(tuple(within), tuple(over))
