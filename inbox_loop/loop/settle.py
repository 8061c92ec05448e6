"""Settle: bind each ask to its task and record every outcome, in one transaction.

Terms: an *ask* is a message that wants a task (``ask.py``). The *holder* of a ref is the live task under it, else the
newest tombstone. Rules:

* The ref is the arbiter. A live task under the ref of a message is its task, whatever its title or status.
* The loop never resurrects: a tombstone under the ref means that someone deleted the task, and the message is skipped,
  unless its row says ``remint``.
* The loop never mistakes: a task made from another mailbox is not this message's (Gmail's ids are per mailbox), and the
  message goes to quarantine.
* Of those that would get a new task, some may be over their sender's cap (``cap.py``): these are skipped.
* A row that someone reopened or settled meanwhile is left as it is: no task is made for it, and it is not counted. To
  know that, the rows are held first, before anything is looked up or made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from inbox_loop.errors import InvalidValue
from inbox_loop.loop.ask import Ask
from inbox_loop.loop.cap import Capped, count_tasks, keep_within_cap, list_sender_hours
from inbox_loop.loop.ledger import MessageState, Outcome, RefHolder
from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.loop.ports import StoreTransaction
from inbox_loop.policy import SkipReason
from inbox_loop.task import UpsertOutcome

REFUSED_BY_STORE = "refused_by_store"
REF_OF_ANOTHER_MAILBOX = "ref_of_another_mailbox"


@dataclass(frozen=True, slots=True)
class Settled:
    """One row as it was recorded, with the task it came to."""

    outcome: Outcome
    external_ref: str | None = None
    task_number: int | None = None
    created: bool = False


class Verdict(Enum):
    """What the holder of a ref means for the message that asks for it."""

    CREATE = "create"
    OURS = "ours"
    DELETED = "deleted"
    ANOTHER_MAILBOX = "another mailbox"


def judge(holder: RefHolder | None, *, mailbox: str, account: str, remint: bool) -> Verdict:
    """Decide what to do with a ref by who holds it."""
    if holder is None:
        return Verdict.CREATE
    if _is_of_another_mailbox(holder, mailbox, account):
        # A tombstone holds nothing, so a stranger's does not stand in the way.
        return Verdict.CREATE if holder.deleted else Verdict.ANOTHER_MAILBOX
    if holder.deleted:
        return Verdict.CREATE if remint else Verdict.DELETED
    return Verdict.OURS


def _is_of_another_mailbox(holder: RefHolder, mailbox: str, account: str) -> bool:
    """The account tells, since a mailbox can be renamed. A task made by hand names neither, and is anyone's."""
    if holder.source_account is not None:
        return holder.source_account.lower() != account.lower()
    return holder.source_mailbox is not None and holder.source_mailbox != mailbox


def settle_batch(mailbox: Mailbox, account: str, proposals: Sequence[Ask | Outcome]) -> tuple[Settled, ...]:
    """Record a batch, and answer what took effect; nothing is written for an empty one.

    All in one transaction. When the store refuses a draft in it, each in its own, and the refused one is quarantined:
    one odd message must not hold up the others.
    """
    if not proposals:
        return ()
    try:
        return settle_once(mailbox, account, proposals)
    except InvalidValue:
        return tuple(one for proposal in proposals for one in _settle_alone(mailbox, account, proposal))


def _settle_alone(mailbox: Mailbox, account: str, proposal: Ask | Outcome) -> tuple[Settled, ...]:
    try:
        return settle_once(mailbox, account, [proposal])
    except InvalidValue:
        if isinstance(proposal, Outcome):
            raise
        return settle_once(mailbox, account, [proposal.outcome(MessageState.QUARANTINED, REFUSED_BY_STORE)])


def settle_once(mailbox: Mailbox, account: str, proposals: Sequence[Ask | Outcome]) -> tuple[Settled, ...]:
    """Record all proposals in one transaction; answers those that took effect."""

    def work(tx: StoreTransaction) -> tuple[Settled, ...]:
        held = tx.lock_pending({proposal.message_id: proposal.revision for proposal in proposals})
        waiting = [proposal for proposal in proposals if proposal.message_id in held]
        settled = [Settled(proposal) for proposal in waiting if isinstance(proposal, Outcome)]
        asks = [proposal for proposal in waiting if isinstance(proposal, Ask)]
        # By arrival, so that task numbers tell the order in which the asks came.
        asks.sort(key=lambda ask: (ask.internal_date, ask.message_id))
        settled += _bind(tx, mailbox, account, asks)
        tx.record_outcomes([one.outcome for one in settled])
        return tuple(settled)

    return mailbox.store.in_transaction(work)


def _bind(tx: StoreTransaction, mailbox: Mailbox, account: str, asks: Sequence[Ask]) -> list[Settled]:
    """Find or create the task of each ask, or skip it."""
    settled: list[Settled] = []
    waiting = asks
    while waiting:
        found, missing = _find(tx, mailbox, account, waiting)
        settled += found
        capped = _cap(tx, mailbox, missing, settled)
        settled += [Settled(ask.outcome(MessageState.SKIPPED, SkipReason.SENDER_CAP)) for ask in capped.over]
        created, waiting = _create(tx, capped.within)
        settled += created
    return settled


def _find(tx: StoreTransaction, mailbox: Mailbox, account: str, asks: Sequence[Ask]) -> tuple[list[Settled], list[Ask]]:
    """Those of the asks that the holder of their ref decides, and those that need a new task."""
    settled: list[Settled] = []
    missing: list[Ask] = []
    holders = tx.find_ref_holders([ask.draft.external_ref for ask in asks])
    for ask in asks:
        holder = holders.get(ask.draft.external_ref)
        verdict = judge(holder, mailbox=mailbox.name, account=account, remint=ask.due.remint)
        if holder is None or verdict is Verdict.CREATE:
            missing.append(ask)
        else:
            settled.append(_settled(ask, verdict, holder))
    return settled, missing


def _cap(tx: StoreTransaction, mailbox: Mailbox, asks: Sequence[Ask], settled: Sequence[Settled]) -> Capped:
    """Hold the asks against the cap, with the tasks of the ledger and those that this batch came to so far."""
    limit = mailbox.policy.max_per_sender_per_hour
    tasks = count_tasks(one.outcome for one in settled)
    tasks.update(tx.count_sender_tasks(list_sender_hours(asks), at_most=limit))
    return keep_within_cap(asks, tasks, limit=limit)


def _create(tx: StoreTransaction, asks: Sequence[Ask]) -> tuple[list[Settled], list[Ask]]:
    """Create the task of each ask; the asks whose ref another writer took meanwhile are answered apart."""
    settled: list[Settled] = []
    raced: list[Ask] = []
    for ask, upserted in zip(asks, tx.upsert_tasks([ask.draft for ask in asks]), strict=True):
        if upserted.outcome is UpsertOutcome.CREATED:
            outcome = ask.outcome(MessageState.TASK, task_id=upserted.task_id)
            settled.append(Settled(outcome, ask.draft.external_ref, upserted.number, created=True))
        else:
            raced.append(ask)
    return settled, raced


def _settled(ask: Ask, verdict: Verdict, holder: RefHolder) -> Settled:
    ref = ask.draft.external_ref
    if verdict is Verdict.OURS:
        return Settled(ask.outcome(MessageState.TASK, task_id=holder.task_id), ref, holder.number)
    if verdict is Verdict.DELETED:
        return Settled(ask.outcome(MessageState.SKIPPED, SkipReason.TASK_DELETED), ref, holder.number)
    return Settled(ask.outcome(MessageState.QUARANTINED, REF_OF_ANOTHER_MAILBOX), ref, holder.number)
