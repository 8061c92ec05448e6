"""What became of a message and why, in words, from its row in the ledger. Pure.

Lives here: the words. Not here: looking the row up (``messages_explain.py``).
"""

from __future__ import annotations

from collections.abc import Iterator

from inbox_loop.commands.show import moment
from inbox_loop.loop.ledger import FoundBy, MessageState
from inbox_loop.policy import LABEL_REASONS
from inbox_loop.repository.messages import LedgerRow

_FOUND_BY = {
    FoundBy.POLL: "a poll",
    FoundBy.BACKFILL: "a backfill",
    FoundBy.RECONCILE: "a reconcile, which repairs what polls missed",
}

# The reasons by the code that the ledger keeps, in words. A code that is not here is shown by itself.
SKIPPED_REASONS = {
    "draft": "it is a draft",
    "sent": "it was sent from this mailbox",
    "spam": "Gmail holds it for spam",
    "trash": "it is in the trash",
    "chat": "it is a chat message",
    "own_address": "its sender is one of policy.own_addresses",
    "auto_reply": "a machine sent it in answer",
    "bounce": "it is a delivery report",
    "bulk": "it is a newsletter or from a mailing list",
    "category": "Gmail files it under Promotions, Social or Forums",
    "rule": "a rule of the configuration says so",
    "sender_cap": "its sender had enough tasks in that hour (policy.max_per_sender_per_hour)",
    "outside_range": "it is outside of the dates that the backfill asked for",
    "task_deleted": "its task was deleted, and the loop does not bring back what someone deleted",
}
QUARANTINE_REASONS = {
    "ref_of_another_mailbox": "a task from another mailbox holds its ref",
    "decision_failed": "the rules failed on it, which is a fault of this program",
    "refused_by_store": "the database refused the task that was made of it, which is a fault of this program",
    "too_many_parts": "it has more parts than this program reads",
    "too_deep": "its parts are nested deeper than this program reads",
    "too_large": "Gmail's answer is larger than this program takes in",
    "bad_request": "Gmail calls the request for it a bad one",
    "no_payload": "Gmail's answer has no content",
    "no_id": "Gmail's answer has no usable message id",
    "no_threadId": "Gmail's answer has no usable thread id",
    "took_too_long": "reading it takes longer than it may (reading.cpu_seconds)",
    "took_too_much_memory": "reading it takes more memory than it may (reading.memory_megabytes)",
    "reader_crashed": "reading it crashed, which is a fault of this program",
}
# Of what is tried again: found out by the next try, which also clears them.
WAITING_REASONS = {
    "not_found": "Gmail says that there is no such message",
    "gmail.unreachable": "Gmail did not answer",
    "reading.interrupted": "the process that reads messages was stopped from outside, or had no time to work",
}
REASONS = {**SKIPPED_REASONS, **QUARANTINE_REASONS, **WAITING_REASONS}

# In what a reader can do, the place of the message's own id.
_ID = "MESSAGE_ID"
_RETRY = f"inbox-loop messages retry {_ID}"
_MAKE_TASK = f"If it asks for something: inbox-loop messages make-task {_ID}"

_NEXT = {
    MessageState.PENDING: f"Nothing: the next poll whose time has come reads it. To read it now: {_RETRY}",
    MessageState.TASK: "Nothing.",
    MessageState.SKIPPED: _MAKE_TASK,
    MessageState.QUARANTINED: "Look at it in Gmail. The log has an error message.quarantined from that moment. To try "
    f"again: {_RETRY}",
    MessageState.GONE: f"Nothing: it was deleted in Gmail before it could be read. If it is back there: {_RETRY}",
}
_LABELS = f"When its labels change in Gmail, it is looked at again. {_MAKE_TASK}"
_NEXT_BY_REASON: dict[str, str] = {
    **{reason.value: _LABELS for reason in LABEL_REASONS},
    "category": f"When it is moved to Primary in Gmail, it is looked at again. {_MAKE_TASK}",
    "own_address": f"policy.own_addresses says which senders make no task. {_MAKE_TASK}",
    "rule": f"The rule is one of policy.rules in the configuration. {_LABELS}",
    "sender_cap": f"To allow more from now on, raise policy.max_per_sender_per_hour. {_MAKE_TASK}",
    "ref_of_another_mailbox": "Look at that task: inbox-loop tasks show REF, with the ref of this message.",
    "decision_failed": "Report the log line message.undecidable from that moment; its stack says where. With a program "
    f"that has it mended: {_RETRY}",
    "took_too_long": f"Look at it in Gmail. To read it all the same, raise reading.cpu_seconds, then: {_RETRY}",
    "took_too_much_memory": "Look at it in Gmail. To read it all the same, raise reading.memory_megabytes, then: "
    f"{_RETRY}",
    "reader_crashed": "Look at it in Gmail. Report the log line reading.crashed from that moment. With a program that "
    f"has it mended: {_RETRY}",
    "outside_range": f"Run a backfill over a range that holds its date. {_MAKE_TASK}",
    "task_deleted": f"To have the task anew: inbox-loop messages make-task --remint-deleted {_ID}",
    "bulk": f"To have tasks from such mail from now on, set policy.skip_bulk = false. {_MAKE_TASK}",
    "auto_reply": f"To have tasks from such mail from now on, set policy.skip_auto_replies = false. {_MAKE_TASK}",
    "bounce": f"To have tasks from such mail from now on, set policy.skip_auto_replies = false. {_MAKE_TASK}",
}


def explain(row: LedgerRow) -> tuple[tuple[str, str], ...]:
    """The story of a message as pairs: what is told, and the telling."""
    return tuple(_tell(row))


def advise(state: MessageState, reason: str | None) -> str:
    """What its reader can do about a message in this state, with this reason."""
    return _NEXT_BY_REASON.get(reason or "", _NEXT[state])


def advise_on(row: LedgerRow) -> str:
    """``advise`` with the message's own id, to be copied."""
    return advise(row.state, row.reason).replace(_ID, row.message_id)


def _tell(row: LedgerRow) -> Iterator[tuple[str, str]]:
    yield "seen", f"{moment(row.seen_at)}, by {_FOUND_BY[row.found_by]}"
    if row.internal_date is not None:
        yield "received", f"{moment(row.internal_date)}, by Gmail"
    yield "outcome", _outcome(row)
    if row.reason is not None:
        yield "reason", REASONS.get(row.reason, row.reason)
    if row.insisted:
        yield "asked for", "a person wants a task of it, whatever speaks against it"
    if row.rule is not None:
        yield "rule", row.rule
    if row.headers_only:
        yield "read", "only its headers: it is larger than gmail.max_message_bytes"
    if row.quote_cut_characters:
        yield (
            "left out",
            (
                f"a quote of {row.quote_cut_characters} characters; to see it: "
                f"inbox-loop messages explain --full {row.message_id}"
            ),
        )
    if row.settled_at is not None:
        yield "settled", moment(row.settled_at)
    if row.ref is not None:
        yield "ref", row.ref
    yield "what to do", advise_on(row)


def _outcome(row: LedgerRow) -> str:
    match row.state:
        case MessageState.PENDING:
            tries = f", after {row.attempts} failed attempts" if row.attempts else ""
            return f"not read yet{tries}; the next try is due at {moment(row.next_attempt_at)}"
        case MessageState.TASK:
            return _task(row)
        case MessageState.SKIPPED:
            return "skipped: it makes no task"
        case MessageState.QUARANTINED:
            return "in quarantine: it could not be turned into a task"
        case MessageState.GONE:
            return "gone from Gmail"


def _task(row: LedgerRow) -> str:
    if row.task_number is None:
        return "a task that was since removed from the database"
    deleted = f", deleted on {moment(row.task_deleted_at)}" if row.task_deleted_at else ""
    status = row.task_status.value.replace("_", " ") if row.task_status else "unknown"
    return f"task {row.task_number}, which is {status}{deleted}"
