"""The ledger as a test works with it: what one transaction of the loop does, in a line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from inbox_loop.loop.ledger import EVERY_DATE, DateRange, Due, FoundBy, Known, MessageState, Outcome
from inbox_loop.loop.ports import LoopStore, MessageId

PENDING, SKIPPED, TASK = MessageState.PENDING, MessageState.SKIPPED, MessageState.TASK
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def discover(
    store: LoopStore,
    *message_ids: str,
    found_by: FoundBy = FoundBy.POLL,
    wanted: DateRange = EVERY_DATE,
    remint: bool = False,
) -> int:
    messages = [MessageId(message_id, f"t{message_id}") for message_id in message_ids]
    return store.in_transaction(lambda tx: tx.record_discovered(messages, found_by, wanted, remint=remint))


def settle(store: LoopStore, *outcomes: Outcome) -> frozenset[str]:
    return store.in_transaction(lambda tx: tx.record_outcomes(outcomes))


def lock(store: LoopStore, revisions: Mapping[str, int]) -> frozenset[str]:
    return store.in_transaction(lambda tx: tx.lock_pending(revisions))


def sign_in_of(store: LoopStore) -> str | None:
    row = store.find_mailbox()
    assert row is not None
    return row.sign_in


def reopen(
    store: LoopStore,
    message_ids: Sequence[str],
    wanted: DateRange = EVERY_DATE,
    *,
    remint: bool = False,
    insisted: bool = False,
) -> int:
    return store.in_transaction(lambda tx: tx.record_reopened(message_ids, wanted, remint=remint, insisted=insisted))


def record_sign_in(store: LoopStore, sign_in: str) -> None:
    store.in_transaction(lambda tx: tx.record_sign_in(sign_in))


def advance(store: LoopStore, cursor: int) -> None:
    store.in_transaction(lambda tx: tx.advance_cursor(cursor))


def cover(store: LoopStore, since: datetime) -> None:
    store.in_transaction(lambda tx: tx.record_coverage(since))


def known(store: LoopStore, message_id: str) -> Known:
    return store.in_transaction(lambda tx: tx.find_known([message_id]))[message_id]


def due_ids(store: LoopStore) -> list[str]:
    return [due.message_id for due in store.find_due(100)]


def the_due(store: LoopStore) -> Due:
    (due,) = store.find_due(10)
    return due
