"""What is to be told of each sub-command: its words, what it does, its arguments and options. Pure.

Lives here: reading them off the functions, as typer does. Not off typer's own help, whose form differs between its
releases.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Any, get_args

from typer.models import OptionInfo, ParameterInfo
from typer.utils import get_params_from_function

# How typer marks a parameter that must be given: with Annotated, and without.
_NO_DEFAULT = (inspect.Parameter.empty, ...)
_VALUES: dict[object, str] = {str: "TEXT", int: "NUMBER", float: "NUMBER", Path: "PATH"}


@dataclass(frozen=True, slots=True)
class ParameterFacts:
    """An argument or an option, as it is written on the command line."""

    usage: str
    meaning: str
    required: bool


@dataclass(frozen=True, slots=True)
class CommandFacts:
    """A sub-command, or ``inbox-loop`` itself when ``words`` is empty."""

    words: tuple[str, ...]
    meaning: str
    parameters: tuple[ParameterFacts, ...]


def read_commands(commands: Iterable[tuple[tuple[str, ...], Callable[..., Any]]]) -> tuple[CommandFacts, ...]:
    """The facts of commands: each as the words it is called by, and its function."""
    return tuple(
        CommandFacts(words, inspect.getdoc(function) or "", tuple(_read_parameters(function)))
        for words, function in commands
    )


def _read_parameters(function: Callable[..., Any]) -> Iterator[ParameterFacts]:
    for name, parameter in get_params_from_function(function).items():
        info = parameter.default
        if isinstance(info, ParameterInfo) and not info.hidden:
            yield _read_parameter(name, parameter.annotation, info)


def _read_parameter(name: str, hint: Any, info: ParameterInfo) -> ParameterFacts:  # noqa: ANN401 - a type annotation can be anything
    kind = _value_type(hint)
    value = info.metavar or _name_value(kind)
    usage = info.metavar or name.upper()
    if isinstance(info, OptionInfo):
        declared = ", ".join(info.param_decls or ()) or f"--{name.replace('_', '-')}"
        usage = declared if kind is bool else f"{declared} {value}"
    help_text = " ".join((info.help or "").split())
    default = "" if "Default:" in help_text else _default(info.default)
    return ParameterFacts(
        usage=usage,
        meaning=" ".join(sentence for sentence in (help_text, _limits(info), default) if sentence),
        required=info.default in _NO_DEFAULT,
    )


def _value_type(hint: Any) -> object:  # noqa: ANN401 - likewise
    """The type of one value: ``int`` of ``list[int] | None``."""
    inner = [each for each in get_args(hint) if each is not NoneType]
    return _value_type(inner[0]) if inner else hint


def _name_value(kind: object) -> str:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "|".join(str(choice.value) for choice in kind)
    return _VALUES.get(kind, "VALUE")


def _limits(info: ParameterInfo) -> str:
    match info.min, info.max:
        case None, None:
            return ""
        case low, None:
            return f"At least {low}."
        case None, high:
            return f"At most {high}."
        case low, high:
            return f"{low} to {high}."


def _default(default: object) -> str:
    """A default that says something: not "nothing", not "off"."""
    if default in _NO_DEFAULT or default in (None, False, "", ()):
        return ""
    return f"Default: {default.value if isinstance(default, Enum) else default}."
