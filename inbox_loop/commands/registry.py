"""Which sub-commands there are, and where each is found.

Lives here: the table. To add a sub-command is to add a line. Each is imported when it is asked for, so that
``tasks list`` does not wait for Google's client to be imported.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from inbox_loop.commands.typed_words import Command

Table = Mapping[str, "str | Group"]


@dataclass(frozen=True, slots=True)
class Group:
    """Sub-commands under one word."""

    meaning: str
    commands: Mapping[str, str]


# In the order of the help page. A place is a module of this folder and the function in it.
COMMANDS: Table = {
    "demo": "demo:demo",
    "run": "run:run",
    "poll": "poll:poll",
    "backfill": "backfill:backfill",
    "reconcile": "reconcile:reconcile",
    "status": "status:show_status",
    "tasks": Group(
        "Tasks, for people and scripts.",
        {
            "list": "tasks_list:list_tasks",
            "count": "tasks_count:count_tasks",
            "show": "tasks_show:show_task",
            "create": "tasks_create:create_task",
            "upsert": "tasks_upsert:upsert_task",
            "update": "tasks_update:update_task",
            "finish": "tasks_finish:finish_task",
            "cancel": "tasks_cancel:cancel_task",
            "delete": "tasks_delete:delete_task",
            "restore": "tasks_restore:restore_task",
            "purge": "tasks_purge:purge",
        },
    ),
    "messages": Group(
        "The ledger: what became of each message.",
        {
            "list": "messages_list:list_messages",
            "explain": "messages_explain:explain_message",
            "retry": "messages_retry:retry_messages",
            "make-task": "messages_make_task:make_task",
        },
    ),
    "policy": Group(
        "The rules of which messages become tasks.",
        {
            "test": "policy_test:try_policy",
        },
    ),
    "outbox": Group(
        "Deliveries to the webhook that wait or were given up.",
        {
            "list": "outbox_list:list_outbox",
            "retry": "outbox_retry:retry_outbox",
        },
    ),
    "auth": Group(
        "Sign in to Gmail.",
        {
            "login": "auth_login:log_in",
            "status": "auth_status:show_sign_ins",
            "revoke": "auth_revoke:revoke",
        },
    ),
    "db": Group(
        "The database's schema.",
        {
            "migrate": "db_migrate:migrate_database",
            "status": "db_status:show_schema",
        },
    ),
    "docs": "docs:render_docs",
}


def list_commands(table: Table = COMMANDS) -> Iterator[tuple[tuple[str, ...], Callable[..., Any]]]:
    """Every sub-command: the words it is called by, and its function."""
    for name, entry in table.items():
        if isinstance(entry, Group):
            yield from (((name, *inner), function) for inner, function in list_commands(entry.commands))
        else:
            yield (name,), _load(entry)


def add_commands(app: typer.Typer, table: Table = COMMANDS) -> TyperGroup:
    """The command line of ``app``'s own options and the sub-commands of ``table``."""
    group = get_group(app)
    group.commands = _Imported(table)
    return group


class _Imported(UserDict[str, Any]):
    """Sub-commands by name, each imported when it is looked up."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - typer does not make its type of a command public
        entry = self.data[name]
        if isinstance(entry, Group):
            return add_commands(typer.Typer(name=name, help=entry.meaning, rich_markup_mode=None), entry.commands)
        single = typer.Typer(rich_markup_mode=None, add_completion=False)
        single.command(name, cls=Command)(_load(entry))
        return get_command(single)


def _load(place: str) -> Callable[..., Any]:
    module, function = place.split(":")
    loaded: Callable[..., Any] = getattr(import_module(f"inbox_loop.commands.{module}"), function)
    return loaded
