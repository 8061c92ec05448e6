"""Which settings there are: every key of the models in ``settings.py``, as data.

Lives here: the list of keys, and the nearest one to a key that does not exist. Not here: any value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from enum import Enum, auto
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from inbox_loop.settings import Settings

Location = tuple[str | int, ...]
"""Where a value stands: ``("mailboxes", 1, "token_file")``."""

EACH = "*"
"""Stands for any index in a key: ``("mailboxes", "*", "token_file")``."""


class Kind(Enum):
    """How a setting's value is written where only text can be written."""

    SECTION = auto()
    """It holds other settings and has no value of its own."""
    PLAIN = auto()
    """The text itself."""
    STRUCTURED = auto()
    """A list or a table: JSON."""


def _list_keys(model: type[BaseModel], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Kind]]:
    for name, field in model.model_fields.items():
        key = (*above, field.alias or name)
        section, repeated = section_of(field.annotation)
        if section is None:
            yield key, Kind.STRUCTURED if _is_structured(field.annotation) else Kind.PLAIN
        elif repeated:
            yield key, Kind.STRUCTURED
            yield (*key, EACH), Kind.SECTION
            yield from _list_keys(section, (*key, EACH))
        else:
            yield key, Kind.SECTION
            yield from _list_keys(section, key)


def _is_structured(annotation: Any) -> bool:  # noqa: ANN401 - a type annotation can be anything
    """Whether a list or a table can stand there."""
    origin = get_origin(annotation)
    if origin in {Union, UnionType}:
        return any(_is_structured(choice) for choice in get_args(annotation))
    if origin is Annotated:
        return _is_structured(get_args(annotation)[0])
    return origin in {tuple, dict}


def section_of(annotation: Any) -> tuple[type[BaseModel] | None, bool]:  # noqa: ANN401 - a type annotation can be anything
    """The section an annotation speaks of, and whether it is a list of such."""
    repeated = get_origin(annotation) is tuple
    inner = get_args(annotation)[0] if repeated else annotation
    is_section = isinstance(inner, type) and issubclass(inner, BaseModel)
    return (inner, repeated) if is_section else (None, False)


KEYS: Mapping[tuple[str, ...], Kind] = dict(_list_keys(Settings))


def general_key(location: Location) -> tuple[str, ...]:
    """The key of a location, whatever its index: ``("mailboxes", 1, "name")`` is ``("mailboxes", "*", "name")``."""
    return tuple(EACH if isinstance(step, int) else step for step in location)


def find_nearest_sibling(location: Location) -> str | None:
    """The name beside ``location``'s last step that looks most like it, or None when none is near."""
    *above, wrong = general_key(location)
    siblings = [key[-1] for key in KEYS if list(key[:-1]) == above]
    return next(iter(get_close_matches(wrong, siblings, n=1)), None)


def dotted(location: Location) -> str:
    """A location as people write it: ``mailboxes[1].token_file``."""
    text = ""
    for step in location:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            name = f'"{step}"' if "." in step else step
            text += f".{name}" if text else name
    return text
