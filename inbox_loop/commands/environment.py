"""Settings from environment variables: ``INBOX_LOOP_DATABASE__URL`` is ``database.url``.

A variable is the prefix and the key in capitals, with two underscores for each dot. A list or a table is written
as JSON: ``INBOX_LOOP_MAILBOXES='[{"name": "support", "token_file": "token.json"}]'``; a mailbox can also be given
or changed piece by piece: ``INBOX_LOOP_MAILBOXES__0__TOKEN_FILE=token.json``. An empty variable counts as not set.

Lives here: turning variables into overrides of settings, and finding the misspelt ones. Not here: reading the
process's environment, and judging the values (``configuration.py``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from inbox_loop.commands.setting_keys import EACH, KEYS, Kind, Location, general_key
from inbox_loop.errors import Problem

PREFIX = "INBOX_LOOP_"
CONFIG_VARIABLE = "INBOX_LOOP_CONFIG"
"""Names the configuration file; no setting itself."""


@dataclass(frozen=True, slots=True)
class Override:
    """A setting's value from the environment."""

    variable: str
    location: Location
    value: object


def read_overrides(environment: Mapping[str, str]) -> tuple[tuple[Override, ...], tuple[Problem, ...]]:
    """Every override in ``environment``, outer ones first, and what is wrong with variables that look like ours.

    A variable that resembles no setting is left alone: Kubernetes, for one, sets ``INBOX_LOOP_SERVICE_HOST``.
    """
    overrides: list[Override] = []
    problems: list[Problem] = []
    for variable, text in environment.items():
        if not variable.startswith(PREFIX) or variable == CONFIG_VARIABLE or not text:
            continue
        found = _read_override(variable, text)
        if isinstance(found, Override):
            overrides.append(found)
        elif found is not None:
            problems.append(found)
    return tuple(sorted(overrides, key=lambda override: override.location)), tuple(problems)


def _read_override(variable: str, text: str) -> Override | Problem | None:
    location: Location = tuple(
        int(step) if step.isdecimal() else step for step in variable.removeprefix(PREFIX).lower().split("__")
    )
    match KEYS.get(general_key(location)):
        case Kind.PLAIN:
            return Override(variable, location, text)
        case Kind.STRUCTURED:
            return _read_json(variable, location, text)
        case Kind.SECTION:
            return Problem(variable, f"is a section; set one of its keys, such as {_first_variable_in(location)}")
        case None:
            return _find_misspelling(variable)


def _read_json(variable: str, location: Location, text: str) -> Override | Problem:
    try:
        return Override(variable, location, json.loads(text))
    except ValueError as error:
        # Only the position: the text may hold an address.
        where = f" (column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        return Problem(variable, f"is not valid JSON{where}; a list or a table is written as JSON")


def _first_variable_in(location: Location) -> str:
    section = general_key(location)
    child = next(key for key in KEYS if key[:-1] == section)
    return variable_of((*location, child[-1]))


def variable_of(location: Location) -> str:
    """The variable that sets the value at ``location``."""
    return PREFIX + "__".join(str(step) for step in location).upper()


def _find_misspelling(variable: str) -> Problem | None:
    """A problem when the variable is meant for us: two underscores in a row, or a name much like a setting's."""
    known = [
        variable_of(tuple(0 if step == EACH else step for step in key))
        for key, kind in KEYS.items()
        if kind is not Kind.SECTION
    ]
    nearest = next(iter(get_close_matches(variable, known, n=1, cutoff=0.9)), None)
    if nearest is None and "__" not in variable.removeprefix(PREFIX):
        return None
    nearest = nearest or next(iter(get_close_matches(variable, known, n=1)), None)
    return Problem(variable, "no such setting" + (f"; did you mean {nearest}?" if nearest else ""))
