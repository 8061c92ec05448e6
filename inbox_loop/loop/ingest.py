"""Ingest: turn pending ids into their outcomes. There is one ingest path, whoever discovered the id.

A batch is read from Gmail, decided upon, and settled in one transaction. Trouble with one message is its own outcome;
trouble with the mailbox ends the batch, after what was read so far is settled. Events are logged after the commit, so
that none tells of something that did not happen.
"""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from inbox_loop.errors import DeadlineExceeded, InboxLoopError
from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.loop.ports import Due, MessageId, MessageState, Outcome
from inbox_loop.loop.report import Tally
from inbox_loop.loop.retry import outcome_of_failure
from inbox_loop.loop.settle import Ask, Settled, settle_once
from inbox_loop.message.model import Message
from inbox_loop.policy import MakeTask, SkipReason, decide

# Few enough that a crash repeats little and memory stays flat; enough that the transaction costs little a message.
BATCH = 50

DECISION_FAILED = "decision_failed"

log = structlog.get_logger()


def ingest_due(mailbox: Mailbox, account: str) -> Tally:
    """Take every due message of the mailbox to its outcome, batch by batch, until none is due.

    A deadline that comes after some work was done ends it quietly: the rest stays pending. One that comes before any
    is raised, as all other trouble is; what was settled stands.
    """
    total = Tally()
    while True:
        done, trouble = ingest_once(mailbox, account)
        total += done
        if isinstance(trouble, DeadlineExceeded) and total != Tally():
            return total
        if trouble is not None:
            raise trouble
        if done == Tally():
            return total


def ingest_once(mailbox: Mailbox, account: str) -> tuple[Tally, InboxLoopError | None]:
    """Take one batch to its outcomes; answers what it came to and what ended it early, if anything did.

    When nothing is due, nothing is written.
    """
    if not mailbox.store.find_due(1):
        return Tally(), None
    with mailbox.store.ingesting():
        due = mailbox.store.find_due(BATCH)
        proposals, trouble = _read_batch(mailbox, account, due)
        settled = settle_once(mailbox, account, proposals) if proposals else ()
    for one in settled:
        _log_outcome(mailbox.name, one)
    return _tally(settled), trouble


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
        decision = decide(message, mailbox.policy, mailbox=mailbox.name, account=account, project=mailbox.project)
    except Exception:
        # Whatever one odd message provokes must not stop the ones behind it; the stack tells where.
        log.exception("message.undecidable", mailbox=mailbox.name, message_id=due.message_id)
        return _read_outcome(due, message, MessageState.QUARANTINED, DECISION_FAILED)
    if isinstance(decision, MakeTask):
        return Ask(due, message.thread_id, message.internal_date, decision.draft)
    return _read_outcome(due, message, MessageState.SKIPPED, decision.reason)


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
        log.info("message.skipped", **about, reason=outcome.reason)
    elif outcome.state is MessageState.QUARANTINED:
        log.error("message.quarantined", **about, reason=outcome.reason)
    elif outcome.state is MessageState.GONE:
        log.warning("message.gone", **about, reason=outcome.reason)
