"""Names on the command line: which task or message is meant, and who acts.

Lives here: reading such a name. Not here: the ref itself (``ref.py``).
"""

from __future__ import annotations

import os
import pwd
import re
from collections.abc import Callable
from typing import Annotated

import typer

from inbox_loop.errors import NoSuchMessage, NoSuchTask
from inbox_loop.ref import GMAIL_ID, Ref, check_external_ref
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import Task

TaskArgument = Annotated[str, typer.Argument(metavar="NUMBER|REF", help="The task's number, or its external ref.")]
MessageArgument = Annotated[
    str, typer.Argument(metavar="MESSAGE_ID|REF", help="Gmail's message id, or gmail:<threadId>#<messageId>.")
]


def find_named_task(store: TaskStore, name: str) -> Task:
    """The task of this number, deleted or not, or the live one with this ref.

    Raises ``NoSuchTask``, and ``InvalidRef`` for a ref that names a thread instead of a message, unless a task has it.
    """
    return _find_task(store, name, store.find_task_by_ref)


def find_named_task_or_tombstone(store: TaskStore, name: str) -> Task:
    """Like ``find_named_task``, but where no live task has the ref, the one deleted last of those that had it."""
    return _find_task(store, name, store.find_task_or_tombstone)


def _find_task(store: TaskStore, name: str, find_by_ref: Callable[[str], Task]) -> Task:
    number = name.strip().removeprefix("#")
    if number.isascii() and number.isdigit():
        return store.find_task(_read_number(number))
    ref = check_external_ref(name, allow_container=True)
    try:
        return find_by_ref(ref)
    except NoSuchTask:
        check_external_ref(ref)
        raise


def _read_number(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:  # Python reads no more than 4300 digits
        raise NoSuchTask("the tenant has no task with a number as long as that") from None


def read_message_id(name: str) -> str:
    """The message id that a message id or a ref names; raises ``NoSuchMessage`` for anything else."""
    name = name.strip()
    if name.lower().startswith("gmail:"):
        return Ref.parse(name).message_id
    if re.fullmatch(GMAIL_ID, name) is None:
        raise NoSuchMessage(
            "that is neither a message id nor a ref",
            hint="A message id is 1 to 32 hexadecimal digits; a ref is gmail:<threadId>#<messageId>.",
        )
    return name


def find_actor() -> str:
    """Who acts through this command line, for a task's activity: the user's login name."""
    user = os.getuid()
    try:
        return f"user {pwd.getpwuid(user).pw_name}"
    except KeyError:
        return f"user {user}"
