"""``inbox-loop messages make-task``: a task of a message that was skipped."""

from __future__ import annotations

from typing import Annotated

import typer

from inbox_loop.commands.explanation import REASONS, advise_on
from inbox_loop.commands.known import check_mailbox
from inbox_loop.commands.naming import MessageArgument, read_message_id
from inbox_loop.commands.options import ConfigOption, JsonOption, MailboxOption, TenantOption, read_settings
from inbox_loop.commands.rereading import Place, check_make_task, find_row, reread
from inbox_loop.commands.shapes import task_record
from inbox_loop.commands.signals import listening
from inbox_loop.commands.task_answers import print_answer
from inbox_loop.commands.wiring import open_tenant
from inbox_loop.errors import InboxLoopError, NoTaskMade
from inbox_loop.loop.ledger import MessageState
from inbox_loop.loop.reread import RereadRequest
from inbox_loop.repository.messages import LedgerRow, MessageReader
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import Task, UpsertOutcome


def make_task(
    context: typer.Context,
    message: MessageArgument,
    *,
    remint_deleted: Annotated[
        bool, typer.Option("--remint-deleted", help="Create the message's task anew if someone deleted it.")
    ] = False,
    mailbox: MailboxOption = None,
    tenant: TenantOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a task of a message, whatever spoke against it: a rule, the policy, or its sender's cap.

    The message is read again, now. However often it is asked for, there is one live task: the one that is there is
    found. Rules still say the task's project, labels and priority.
    """
    message_id = read_message_id(message)
    settings = read_settings(context, config)
    request = RereadRequest((message_id,), remint_deleted=remint_deleted, insisted=True)
    with listening() as requests, open_tenant(settings, tenant) as (database, chosen):
        check_mailbox(database, settings, tenant=chosen, mailbox=mailbox)
        row = find_row(MessageReader(database, tenant=chosen), mailbox, message_id)
        place = Place(settings, database, chosen, requests.stop)
        number, outcome = _find_task(row) or _make_task(place, row, request)
        task = TaskStore(database, tenant=chosen).find_task(number)
    print_answer({**task_record(task), "outcome": outcome} if as_json else None, _sentence(task, outcome), None)


def _find_task(row: LedgerRow) -> tuple[int, UpsertOutcome] | None:
    """The number of the live task that the message is bound to."""
    if row.state is not MessageState.TASK or row.task_number is None or row.task_deleted_at is not None:
        return None
    return row.task_number, UpsertOutcome.FOUND


def _make_task(place: Place, row: LedgerRow, request: RereadRequest) -> tuple[int, UpsertOutcome]:
    """Read the message again; raises ``MessageSettled`` or ``NoTaskMade`` when it comes to no task."""
    check_make_task(row, remint_deleted=request.remint_deleted)
    (ending,) = reread(place, [row], request)
    if isinstance(ending.result, InboxLoopError):
        raise ending.result
    row = find_row(MessageReader(place.database, tenant=place.tenant), row.mailbox, row.message_id)
    found = _find_task(row)
    if found is None:
        check_make_task(row, remint_deleted=request.remint_deleted)
        raise _no_task(row)
    return found[0], UpsertOutcome.CREATED if ending.result.created else UpsertOutcome.FOUND


def _no_task(row: LedgerRow) -> NoTaskMade:
    why = f" ({REASONS.get(row.reason, row.reason)})" if row.reason else ""
    if row.state is MessageState.PENDING:
        return NoTaskMade(
            f"message {row.message_id} could not be read yet{why}",
            hint="It is tried again, and makes a task then, whatever speaks against it.",
        )
    return NoTaskMade(f"message {row.message_id} made no task: it is {row.state}{why}", hint=advise_on(row))


def _sentence(task: Task, outcome: UpsertOutcome) -> str:
    if outcome is UpsertOutcome.CREATED:
        return f"Task {task.number} is created."
    return f"Task {task.number} is found. It is {task.status}."
