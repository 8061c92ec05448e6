"""A command line that does not parse: what is told of it, and whether a program asked.

Lives here: typer's findings in plain words. Not here: how they are told (``failure.py``), and what is wrong with a
configuration (``setting_problems.py``).
"""

from __future__ import annotations

from collections.abc import Sequence

import typer
from pydantic import ValidationError

from inbox_loop.commands.options import JSON
from inbox_loop.commands.show import PROGRAM
from inbox_loop.commands.typed_words import name_of
from inbox_loop.errors import UsageError

# pydantic's types of fault, by which typer checks values.
_WORDS = {
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a shorter number",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "value_error": "{error}",
}


def slip_of(error: typer.TyperException) -> UsageError:
    """What is wrong with the command line, with where to look it up."""
    context: typer.Context | None = getattr(error, "ctx", None)
    hint = f"{context.command_path if context else PROGRAM} --help lists what there is."
    return UsageError(_in_words(error), hint=hint)


def _in_words(error: typer.TyperException) -> str:
    cause = error.__cause__
    if not (isinstance(error, typer.BadParameter) and error.param and isinstance(cause, ValidationError)):
        return error.format_message()
    detail = cause.errors(include_url=False, include_input=False)[0]
    words = _WORDS.get(detail["type"], detail["msg"].replace("{", "{{").replace("}", "}}"))
    return f"{name_of(error.param)}: {words.format(**detail.get('ctx', {}))}".rstrip(".")


def words_ask_for_json(error: typer.TyperException, arguments: Sequence[str]) -> bool:
    """Whether the words look as if a program asked, when they did not parse and so have no options."""
    context: typer.Context | None = getattr(error, "ctx", None)
    command = context.command if context else None
    takes_json = command is None or hasattr(command, "commands") or any(JSON in each.opts for each in command.params)
    return takes_json and JSON in arguments
