"""Names on the command line: which task or message is meant, and who acts.

Lives here: reading such a name. Not here: the ref itself (``ref.py``).
"""

from __future__ import annotations

import os
import pwd
import re
from typing import Annotated

import typer

from inbox_loop.errors import NoSuchMessage
from inbox_loop.ref import GMAIL_ID, Ref, check_external_ref
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.task import Task

TaskArgument = Annotated[str, typer.Argument(metavar="NUMBER|REF", help="The task's number, or its external ref.")]
MessageArgument = Annotated[
    str, typer.Argument(metavar="MESSAGE_ID|REF", help="Gmail's message id, or gmail:<threadId>#<messageId>.")
]


def find_named_task(store: TaskStore, name: str) -> Task:
    """The task of this number, deleted or not, or the live one with this ref.

    Raises ``NoSuchTask``, and ``InvalidRef`` for a ref that names a thread instead of a message.
    """
    number = name.strip().removeprefix("#")
    if number.isascii() and number.isdigit():
        return store.find_task(int(number))
    return store.find_task_by_ref(check_external_ref(name))


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
