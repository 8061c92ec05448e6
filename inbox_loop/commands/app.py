"""The command line: its own options, and how every sub-command ends.

Lives here: the turning of every ending into an exit code and at most a few lines on standard error. Not here: which
sub-commands there are (``registry.py``), and what each does (a file each).

Exit codes: 0 fine; 1 finished, but something needs a look; 2 usage or configuration; 3 a person must act; 4 Gmail or
Postgres can't be reached; 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from inbox_loop import __version__
from inbox_loop.commands.failure import tell_failure
from inbox_loop.commands.logs import configure_logs, log
from inbox_loop.commands.options import ConfigOption
from inbox_loop.commands.plain_values import describe_error
from inbox_loop.commands.registry import COMMANDS, add_commands
from inbox_loop.commands.show import PROGRAM
from inbox_loop.commands.streams import use_utf8, write
from inbox_loop.errors import EXIT_FINE, InboxLoopError, UsageError
from inbox_loop.settings import LogSettings

INTERRUPTED = 130

app = typer.Typer(
    name=PROGRAM,
    help="Turns each message of a Gmail mailbox that asks for something into exactly one task.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 - typer hands a flag's value to its callback
    if wanted:
        write(sys.stdout, f"{PROGRAM} {__version__}\n")
        raise typer.Exit


@app.callback()
def global_options(
    *,
    config: ConfigOption = None,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Options that go before a sub-command."""
    # Nothing to do: sub-commands find ``config`` by ``read_settings``, and the callback has printed ``version``.
    del config, version


def main() -> None:
    """Run the command line of this process, and exit."""
    use_utf8()
    configure_logs(LogSettings())
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command line; its exit code. Whatever goes wrong is told in words, never as a traceback."""
    try:
        code = add_commands(app)(arguments, prog_name=PROGRAM, standalone_mode=False)
    except typer.TyperException as error:
        context: typer.Context | None = getattr(error, "ctx", None)
        hint = f"{context.command_path if context else PROGRAM} --help lists what there is."
        return _fail(arguments, UsageError(error.format_message(), hint=hint))
    except InboxLoopError as error:
        return _fail(arguments, error)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last resort, so that no user ever meets a traceback
        log.error("command.failed", command=_first_word(arguments), exc_info=error)
        hint = 'This is a fault of the program. The log line "command.failed" says where; please report it.'
        return _fail(arguments, InboxLoopError(f"unexpected {describe_error(error)}", hint=hint))
    return code if isinstance(code, int) else EXIT_FINE


def _fail(arguments: Sequence[str], error: InboxLoopError) -> int:
    """Tell what went wrong, to a program that asks about tasks as a record too; the exit code.

    Decided by the words themselves: a command line that does not parse has no options yet.
    """
    tell_failure(error, as_json=_first_word(arguments) == "tasks" and "--json" in arguments)
    return error.exit_code


def _first_word(arguments: Sequence[str]) -> str:
    """The sub-command or group alone: what follows may be a title or an address."""
    return next((argument for argument in arguments if argument in COMMANDS), "")
