"""What is to be told of each setting: key, variable, default, limits and meaning, read off the models. Pure.

Lives here: the facts, and values as TOML. Not here: how they are laid out (``docs_config_file.py``,
``docs_settings_page.py``).
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from inbox_loop.commands.environment import variable_of
from inbox_loop.commands.setting_keys import EACH, section_of
from inbox_loop.settings import SLUG_PATTERN, Settings

_BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
_PATTERNS = {SLUG_PATTERN: "a to z, 0 to 9, _ and -, not beginning with _ or -, at most 63 characters"}
_UNITS = (("d", timedelta(days=1)), ("h", timedelta(hours=1)), ("m", timedelta(minutes=1)))


@dataclass(frozen=True, slots=True)
class SettingFacts:
    """One setting. ``default`` and ``example`` are TOML; None when there is none."""

    key: tuple[str, ...]
    default: str | None
    required: bool
    example: str | None
    limits: str
    meaning: str

    @property
    def name(self) -> str:
        """The key within its section."""
        return self.key[-1]

    @property
    def variable(self) -> str:
        """The environment variable that sets it; of a repeated section, in its first one."""
        return variable_of(tuple(0 if step == EACH else step for step in self.key))


@dataclass(frozen=True, slots=True)
class SectionFacts:
    """One section, with its settings in the order of the model."""

    key: tuple[str, ...]
    meaning: str
    settings: tuple[SettingFacts, ...]

    @property
    def is_repeated(self) -> bool:
        """Whether there can be many of it."""
        return self.key[-1] == EACH

    @property
    def heading(self) -> str:
        """As TOML names it: ``[gmail]``, or ``[[mailboxes]]`` for a repeated one."""
        name = ".".join(step for step in self.key if step != EACH)
        return f"[[{name}]]" if self.is_repeated else f"[{name}]"


def list_sections(model: type[BaseModel] = Settings, above: tuple[str, ...] = ()) -> tuple[SectionFacts, ...]:
    """Every section, in the order of the models; a section within another comes after it."""
    return tuple(_list_sections(model, above))


def _list_sections(model: type[BaseModel], above: tuple[str, ...]) -> Iterator[SectionFacts]:
    inner: list[SectionFacts] = []
    settings: list[SettingFacts] = []
    for name, field in model.model_fields.items():
        section, repeated = section_of(field.annotation)
        if section is None:
            settings.append(_read_setting((*above, field.alias or name), field))
        else:
            inner += list_sections(section, (*above, name, EACH) if repeated else (*above, name))
    if above:
        yield SectionFacts(above, inspect.cleandoc(model.__doc__ or ""), tuple(settings))
    yield from inner


def _read_setting(key: tuple[str, ...], field: FieldInfo) -> SettingFacts:
    required = field.is_required()
    default = None if required else field.get_default(call_default_factory=True, validated_data={})
    return SettingFacts(
        key=key,
        default=None if default is None else to_toml(default),
        required=required,
        example=to_toml(field.examples[0]) if field.examples else None,
        limits="; ".join(_list_limits(field)),
        meaning=" ".join((field.description or "").split()),
    )


def _list_limits(field: FieldInfo) -> Iterator[str]:
    if get_origin(field.annotation) is Literal:
        yield f"one of {', '.join(to_toml(choice) for choice in get_args(field.annotation))}"
    for choice in (field.annotation, *get_args(field.annotation)):
        if isinstance(choice, type) and issubclass(choice, StrEnum):
            yield f"one of {', '.join(to_toml(member) for member in choice)}"
    if field.annotation is timedelta or timedelta in map(_bare, get_args(field.annotation)):
        yield 'a time such as "90s", "30m", "24h", "14d" or "2w"'
    for constraint in (*_list_constraints(field.annotation), *field.metadata):
        for name, words in _BOUNDS.items():
            if (bound := getattr(constraint, name, None)) is not None:
                yield f"{words} {_bound(bound)}"
        if (pattern := getattr(constraint, "pattern", None)) is not None:
            yield _PATTERNS.get(pattern, f"matching {pattern}")


def _bare(annotation: Any) -> Any:  # noqa: ANN401 - a type annotation can be anything
    """The type within ``Annotated``."""
    return annotation.__origin__ if get_origin(annotation) is Annotated else annotation


def _bound(bound: float | timedelta) -> str:
    if isinstance(bound, timedelta):
        return _duration(bound) if bound else "0"
    return f"{bound:.15g}"


def _list_constraints(annotation: Any) -> Iterator[Any]:  # noqa: ANN401 - a type annotation can be anything
    """The constraints inside of an annotation such as ``Slug | None``."""
    if get_origin(annotation) in {Union, UnionType}:
        for choice in get_args(annotation):
            yield from _list_constraints(choice)
    if get_origin(annotation) is Annotated:
        for constraint in annotation.__metadata__:
            yield from constraint.metadata if isinstance(constraint, FieldInfo) else (constraint,)


def to_toml(value: object) -> str:
    """``value`` as it is written in the configuration file. Raises ``TypeError`` for what can't stand there."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"{value:.15g}"
        case tuple() | list():
            return f"[{', '.join(to_toml(item) for item in value)}]"
        case Mapping():
            return f"{{{', '.join(f'{_quoted(str(key))} = {to_toml(item)}' for key, item in value.items())}}}"
    return _quoted(_text(value))


def _text(value: object) -> str:
    match value:
        case str() | Path():
            return str(value)
        case SecretStr():
            return value.get_secret_value()
        case timedelta():
            return _duration(value)
    raise TypeError(f"{type(value).__name__} has no form in TOML")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _duration(length: timedelta) -> str:
    """In the largest unit of which there are two or more and nothing is left over: 24h, 14d."""
    for name, unit in _UNITS:
        if length >= 2 * unit and not length % unit:
            return f"{length // unit}{name}"
    return f"{length.total_seconds():g}s"
