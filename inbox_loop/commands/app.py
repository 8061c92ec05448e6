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
from inbox_loop.commands.options import Asked, ConfigOption
from inbox_loop.commands.plain_values import describe_error
from inbox_loop.commands.registry import COMMANDS, add_commands
from inbox_loop.commands.show import PROGRAM
from inbox_loop.commands.slips import slip_of, words_ask_for_json
from inbox_loop.commands.streams import find_lost_result, use_utf8, write_result
from inbox_loop.errors import EXIT_FINE, InboxLoopError
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
        write_result(f"{PROGRAM} {__version__}\n")
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
    asked = Asked()
    try:
        code = add_commands(app)(arguments, prog_name=PROGRAM, standalone_mode=False, obj=asked)
    except typer.TyperException as error:
        as_json = words_ask_for_json(error, arguments) if asked.as_json is None else asked.as_json
        return _fail(slip_of(error), as_json=as_json)
    except InboxLoopError as error:
        return _fail(error, as_json=bool(asked.as_json))
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last resort, so that no user ever meets a traceback
        if lost := find_lost_result():  # the help, which typer writes
            return _fail(lost, as_json=False)
        log.error("command.failed", command=_first_word(arguments), exc_info=error)
        hint = 'This is a fault of the program. The log line "command.failed" says where; please report it.'
        return _fail(InboxLoopError(f"unexpected {describe_error(error)}", hint=hint), as_json=bool(asked.as_json))
    return code if isinstance(code, int) else EXIT_FINE


def _fail(error: InboxLoopError, *, as_json: bool) -> int:
    tell_failure(error, as_json=as_json)
    return error.exit_code


def _first_word(arguments: Sequence[str]) -> str:
    """The sub-command or group alone: what follows may be a title or an address."""
    return next((argument for argument in arguments if argument in COMMANDS), "")
