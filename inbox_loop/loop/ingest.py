"""Ingest: turn pending ids into their outcomes. There is one ingest path, whoever discovered the id.

A batch is read from Gmail, decided upon, and settled in one transaction. Trouble with one message is its own outcome;
trouble with the mailbox ends the batch, after what was read so far is settled. Events are logged after the commit, so
that none tells of something that did not happen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import structlog

from inbox_loop.errors import DeadlineExceeded, InboxLoopError, MailboxBusy
from inbox_loop.loop.ask import Ask
from inbox_loop.loop.ledger import Due, MessageState, Outcome
from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.loop.ports import MessageId
from inbox_loop.loop.report import Tally
from inbox_loop.loop.retry import outcome_of_failure
from inbox_loop.loop.settle import Settled, settle_batch
from inbox_loop.message.model import Message
from inbox_loop.policy import MakeTask, Skip, SkipReason, decide, decide_insisted, find_sender

# Few enough that another process waits some seconds for its turn at Gmail's usual quota, that a crash repeats little,
# and that memory stays flat; enough that the transaction costs little a message.
BATCH = 25

# Batches of which nothing could be recorded, or of named messages not all, because others reopened or settled the rows
# meanwhile. More than a few in a row is left to the next pass.
MAX_FRUITLESS_BATCHES = 3

DECISION_FAILED = "decision_failed"

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Batch:
    """What one batch came to."""

    due: int
    """How many messages were taken up; with 0 nothing was due, and nothing was written."""
    tally: Tally
    trouble: InboxLoopError | None
    """What ended the batch before all were read; what was read is settled all the same."""


def ingest_batches(mailbox: Mailbox, account: str) -> Iterator[Tally]:
    """Take every due message of the mailbox to its outcome; one tally a batch, as it is settled.

    Raises what ends a batch early, after its tally. A deadline that cuts a batch short is raised only by a batch that
    came to nothing: whoever gives each batch a new deadline goes on.
    """
    fruitless = 0
    while fruitless < MAX_FRUITLESS_BATCHES:
        batch = ingest_once(mailbox, account)
        if batch.due == 0:
            return
        yield batch.tally
        if batch.trouble is not None and not _was_cut_short(batch):
            raise batch.trouble
        fruitless = fruitless + 1 if batch.tally == Tally() else 0


@dataclass(frozen=True, slots=True)
class Ingested:
    """What the ingest of a pass came to."""

    tally: Tally
    finished: bool
    """False when the time was up and the rest is for the next pass."""


def ingest_due(mailbox: Mailbox, account: str) -> Ingested:
    """Ingest what is due, as part of a pass with a deadline.

    When the time is up after some work was done, the rest is left for the next pass. A pass that came to nothing
    raises ``DeadlineExceeded``: then something hangs. What another process is reading is left to it.
    """
    total = Tally()
    try:
        for done in ingest_batches(mailbox, account):
            total += done
    except MailboxBusy:
        return Ingested(total, finished=True)
    except DeadlineExceeded:
        if total == Tally():
            raise
        return Ingested(total, finished=False)
    return Ingested(total, finished=True)


def ingest_once(mailbox: Mailbox, account: str) -> Batch:
    """Take one batch to its outcomes. Raises ``MailboxBusy`` when another process does not end its own."""
    if not mailbox.store.find_due(1):
        return Batch(0, Tally(), None)
    return _ingest_batch(mailbox, account, lambda: mailbox.store.find_due(BATCH))


def ingest_named(mailbox: Mailbox, account: str, message_ids: Sequence[str]) -> Iterator[Tally]:
    """Try those of these messages that are pending, before all others and whether they are due or not.

    What others reopened meanwhile is tried again, and so is what a deadline left over. One tally a batch, as it is
    settled; then raises what else ended the batch early, or ``MailboxBusy``.
    """
    for start in range(0, len(message_ids), BATCH):
        find = partial(mailbox.store.find_pending, message_ids[start : start + BATCH])
        for _ in range(MAX_FRUITLESS_BATCHES):
            batch = _ingest_batch(mailbox, account, find)
            yield batch.tally
            if batch.trouble is not None and not _was_cut_short(batch):
                raise batch.trouble
            if batch.tally.total + batch.tally.waiting == batch.due:
                break


def _was_cut_short(batch: Batch) -> bool:
    """Whether a deadline ended the batch after it came to something: whoever gives each batch a new one goes on."""
    return isinstance(batch.trouble, DeadlineExceeded) and batch.tally != Tally()


def _ingest_batch(mailbox: Mailbox, account: str, find: Callable[[], tuple[Due, ...]]) -> Batch:
    """Take up what ``find`` answers, which it is asked when nobody else reads the mailbox."""
    with mailbox.store.ingesting():
        due = find()
        proposals, trouble = _read_batch(mailbox, account, due)
        settled = settle_batch(mailbox, account, proposals)
    for one in settled:
        _log_outcome(mailbox.name, one)
    return Batch(len(due), _tally(settled), trouble)


def _read_batch(
    mailbox: Mailbox, account: str, due: Sequence[Due]
) -> tuple[list[Ask | Outcome], InboxLoopError | None]:
    by_id = {one.message_id: one for one in due}
    proposals: list[Ask | Outcome] = []
    try:
        for fetched in mailbox.gmail.fetch_messages([MessageId(one.message_id, one.thread_id) for one in due]):
            one = by_id[fetched.message_id]
            if isinstance(fetched.result, Message):
                proposals.append(propose(mailbox, account, one, fetched.result))
            else:
                failure = outcome_of_failure(one, fetched.result, gone_after=mailbox.limits.gone_after)
                proposals.append(failure)
    except InboxLoopError as trouble:
        return proposals, trouble
    return proposals, None


def propose(mailbox: Mailbox, account: str, due: Due, message: Message) -> Ask | Outcome:
    """What a message that was read comes to: an ask for a task, or a skip with its reason."""
    if not due.wanted.holds(message.internal_date):
        return _read_outcome(due, message, MessageState.SKIPPED, SkipReason.OUTSIDE_RANGE)
    try:
        sender = find_sender(message)
        decision = _decide(mailbox, account, due, message)
    except Exception:
        # Whatever one odd message provokes must not stop the ones behind it; the stack tells where.
        log.exception("message.undecidable", mailbox=mailbox.name, message_id=due.message_id)
        return _read_outcome(due, message, MessageState.QUARANTINED, DECISION_FAILED)
    if isinstance(decision, MakeTask):
        return Ask(due, message.thread_id, message.internal_date, decision.draft, decision.rule, sender)
    skipped = _read_outcome(due, message, MessageState.SKIPPED, decision.reason)
    return replace(skipped, rule=decision.rule, sender=sender)


def _decide(mailbox: Mailbox, account: str, due: Due, message: Message) -> MakeTask | Skip:
    """What the policy says; of a message that a person wants a task of, only which task."""
    choose = decide_insisted if due.insisted else decide
    return choose(message, mailbox.policy, mailbox=mailbox.name, account=account, project=mailbox.project)


def _read_outcome(due: Due, message: Message, state: MessageState, reason: str) -> Outcome:
    return Outcome(
        due.message_id,
        due.revision,
        state,
        reason,
        thread_id=message.thread_id,
        internal_date=message.internal_date,
    )


def _tally(settled: Sequence[Settled]) -> Tally:
    states = [one.outcome.state for one in settled]
    created = sum(one.created for one in settled)
    return Tally(
        created=created,
        found=states.count(MessageState.TASK) - created,
        skipped=states.count(MessageState.SKIPPED),
        quarantined=states.count(MessageState.QUARANTINED),
        gone=states.count(MessageState.GONE),
        waiting=states.count(MessageState.PENDING),
    )


def _log_outcome(mailbox: str, settled: Settled) -> None:
    """One event for each message whose story moved on. A find or another try is no event: it is counted."""
    outcome = settled.outcome
    about = {"mailbox": mailbox, "message_id": outcome.message_id}
    if settled.created:
        log.info("task.created", **about, ref=settled.external_ref, task_number=settled.task_number)
    elif outcome.state is MessageState.SKIPPED:
        rule = {"rule": outcome.rule} if outcome.rule else {}
        log.info("message.skipped", **about, reason=outcome.reason, **rule)
    elif outcome.state is MessageState.QUARANTINED:
        log.error("message.quarantined", **about, reason=outcome.reason)
    elif outcome.state is MessageState.GONE:
        log.warning("message.gone", **about, reason=outcome.reason)
