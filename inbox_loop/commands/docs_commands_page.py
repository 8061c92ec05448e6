"""``docs/commands.md``: every sub-command with its arguments and options. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from inbox_loop.commands.docs_command_facts import CommandFacts, ParameterFacts
from inbox_loop.commands.docs_markdown import code, head, prose, table
from inbox_loop.errors import EXIT_FINE, EXIT_LOOK, EXIT_PERSON, EXIT_UNREACHABLE, EXIT_USAGE

_PROGRAM = "inbox-loop"

_INTRODUCTION = """
Results go to standard output, logs to standard error. With `--json`, each result is a JSON object on a line of its own.
`python -m inbox_loop` is the same program.

With `--json`, a command also tells why it failed: beside the words on standard error and the exit code, a line of
standard output is an object with `error` (a code that stays the same), `message`, `hint`, `retryable` (whether the
same may work later) and `task_number` (the task that it collides with, or null). A mailbox whose pass failed beside
others has a line with `mailbox`, `error`, `message` and `hint`.

When a result can't be written, because the disk is full or its reader has left, standard error says so, and the exit
code is 1. What the command did is done.

"""

_EXIT_CODES = (
    (EXIT_FINE, "fine"),
    (EXIT_LOOK, "finished, and something needs a look: a message in quarantine, a mailbox that failed"),
    (EXIT_USAGE, "the command line or the configuration is wrong"),
    (EXIT_PERSON, "a person must act, for example sign in again"),
    (EXIT_UNREACHABLE, "Gmail or Postgres can't be reached; trying again may help"),
)


def render_commands_page(commands: Iterable[CommandFacts]) -> str:
    """The whole page."""
    codes = table(("exit code", "meaning"), ((str(number), words) for number, words in _EXIT_CODES))
    head_of_page = head("Commands", "the sub-commands in `inbox_loop/commands/`")
    return "".join([head_of_page, _INTRODUCTION, codes, *(_render_command(command) for command in commands)])


def _render_command(command: CommandFacts) -> str:
    text = f"\n## {code(' '.join((_PROGRAM, *command.words)))}\n"
    if command.meaning:
        text += f"\n{prose(command.meaning)}\n"
    if command.parameters:
        text += "\n" + table(("argument or option", "meaning"), (_cells(each) for each in command.parameters))
    return text


def _cells(parameter: ParameterFacts) -> tuple[str, str]:
    required = " Required." if parameter.required else ""
    return code(parameter.usage), prose(parameter.meaning + required)
