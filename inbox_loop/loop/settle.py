"""Settle: bind each ask to its task and record every outcome, in one transaction.

Terms: an *ask* is a message that wants a task. The *holder* of a ref is the live task under it, else the newest
tombstone. Rules:

* The ref is the arbiter. A live task under the ref of a message is its task, whatever its title or status.
* The loop never resurrects: a tombstone under the ref means that someone deleted the task, and the message is skipped,
  unless its row says ``remint``.
* The loop never mistakes: a task made from another mailbox is not this message's (Gmail's ids are per mailbox), and the
  message goes to quarantine.
* A row that someone reopened or settled meanwhile is left as it is: no task is made for it, and it is not counted. To
  know that, the rows are held first, before anything is looked up or made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from uuid import UUID

from inbox_loop.errors import InvalidValue
from inbox_loop.loop.ledger import Due, MessageState, Outcome, RefHolder
from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.loop.ports import StoreTransaction
from inbox_loop.policy import SkipReason
from inbox_loop.task import TaskDraft, UpsertOutcome

REFUSED_BY_STORE = "refused_by_store"
REF_OF_ANOTHER_MAILBOX = "ref_of_another_mailbox"


@dataclass(frozen=True, slots=True)
class Ask:
    """A message that was read and wants a task."""

    due: Due
    thread_id: str
    internal_date: datetime
    draft: TaskDraft

    @property
    def message_id(self) -> str:
        """Of the message that asks."""
        return self.due.message_id

    @property
    def revision(self) -> int:
        """Of the ledger row it was read for."""
        return self.due.revision


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
        return settle_once(mailbox, account, [_outcome(proposal, MessageState.QUARANTINED, REFUSED_BY_STORE)])


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
    """Find or create the task of each ask."""
    if not asks:
        return []
    settled: list[Settled] = []
    create: list[Ask] = []
    holders = tx.find_ref_holders([ask.draft.external_ref for ask in asks])
    for ask in asks:
        holder = holders.get(ask.draft.external_ref)
        verdict = judge(holder, mailbox=mailbox.name, account=account, remint=ask.due.remint)
        if holder is None or verdict is Verdict.CREATE:
            create.append(ask)
        else:
            settled.append(_settled(ask, verdict, holder))
    raced: list[Ask] = []
    for ask, upserted in zip(create, tx.upsert_tasks([ask.draft for ask in create]), strict=True):
        if upserted.outcome is UpsertOutcome.CREATED:
            outcome = _outcome(ask, MessageState.TASK, task_id=upserted.task_id)
            settled.append(Settled(outcome, ask.draft.external_ref, upserted.number, created=True))
        else:
            raced.append(ask)
    return settled + _bind(tx, mailbox, account, raced)


def _settled(ask: Ask, verdict: Verdict, holder: RefHolder) -> Settled:
    ref = ask.draft.external_ref
    if verdict is Verdict.OURS:
        return Settled(_outcome(ask, MessageState.TASK, task_id=holder.task_id), ref, holder.number)
    if verdict is Verdict.DELETED:
        return Settled(_outcome(ask, MessageState.SKIPPED, SkipReason.TASK_DELETED), ref, holder.number)
    return Settled(_outcome(ask, MessageState.QUARANTINED, REF_OF_ANOTHER_MAILBOX), ref, holder.number)


def _outcome(ask: Ask, state: MessageState, reason: str | None = None, task_id: UUID | None = None) -> Outcome:
    return Outcome(
        ask.message_id,
        ask.revision,
        state,
        reason,
        task_id=task_id,
        thread_id=ask.thread_id,
        internal_date=ask.internal_date,
    )
