"""Reading the configuration: a TOML file, overridden by the environment, into one ``Settings`` value.

Lives here: which file is read, how the sources are laid over each other, and where relative paths start from.
Not here: what is wrong with a value (``setting_problems.py``), and what a variable's name means (``environment.py``).

The file is ``--config``, else ``$INBOX_LOOP_CONFIG``, else ``config.toml`` in the user's configuration folder. Only
the last may be missing: then the defaults and the environment are all there is. Values are never shown, since any
of them may be a secret or an address; only a rule is called by its name. Nothing else in the package reads the
process's environment.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from platformdirs import user_config_path
from pydantic import ValidationError

from inbox_loop.commands.environment import CONFIG_VARIABLE, Override, read_overrides
from inbox_loop.commands.rule_lines import find_rule_lines
from inbox_loop.commands.rule_problems import describe_rule, find_rule_faults
from inbox_loop.commands.setting_keys import Location, dotted
from inbox_loop.commands.setting_problems import Fault, find_faults, find_model_faults
from inbox_loop.errors import ConfigError, Problem
from inbox_loop.settings import Settings


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """The file to read, and who named it (an option, a variable); None for the default, which may be missing."""

    path: Path
    named_by: str | None


def find_settings(config: Path | None) -> Settings:
    """The settings of this process; ``config`` is the value of ``--config``. Raises ``ConfigError``."""
    return load_settings(choose_file(config, os.environ), os.environ)


def choose_file(config: Path | None, environment: Mapping[str, str]) -> ConfigFile:
    """Which configuration file counts."""
    if config is not None:
        return ConfigFile(config, "--config")
    if named := environment.get(CONFIG_VARIABLE):
        return ConfigFile(Path(named), CONFIG_VARIABLE)
    return ConfigFile(user_config_path("inbox-loop", appauthor=False) / "config.toml", None)


def load_settings(file: ConfigFile, environment: Mapping[str, str]) -> Settings:
    """Read ``file``, lay ``environment`` over it and check the whole.

    A relative path in the file starts at the file's folder, one in a variable at the current folder; ``~`` is the
    home folder. Raises ``ConfigError`` with everything that is wrong.
    """
    text = _read_text(file)
    values = _parse(text, file)
    overrides, problems = read_overrides(environment)
    problems += tuple(problem for override in overrides if (problem := _lay_over(values, override)))
    faults = (*find_faults(values), *find_rule_faults(values))
    settings: Settings | None = None
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        faults = (*find_model_faults(error), *faults)
    if faults:
        lines = find_rule_lines(text)
        named = [replace(fault, message=_with_rule(fault, values, lines, overrides)) for fault in faults]
        problems += tuple(_named_by_source(fault, overrides) for fault in named)
    if settings is None or problems:
        raise ConfigError(_one_for_each_key(problems), hint=_sources(file))
    return _with_absolute_paths(settings, file, overrides)


def _read_text(file: ConfigFile) -> str:
    """The text of the file; none where the default one is missing."""
    key = file.named_by or str(file.path)
    try:
        return file.path.expanduser().read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        if file.named_by is None:
            return ""
        raise ConfigError((Problem(key, f"there is no file {file.path}"),)) from None
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its home folder is unknown"
        raise ConfigError((Problem(key, f"can't read {file.path}: {reason}"),)) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError((Problem(str(file.path), f"is not UTF-8 text (line {line})"),)) from None


def _parse(text: str, file: ConfigFile) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError((Problem(str(file.path), f"is not valid TOML: {error}"),)) from None


def _lay_over(values: dict[str, Any], override: Override) -> Problem | None:
    """Put the override in its place in ``values``. A place that is not there makes a problem."""
    place: Any = values
    *way, last = override.location
    for position, step in enumerate(way):
        following = override.location[position + 1]
        if isinstance(place, list):
            if not isinstance(step, int) or step > len(place):
                return Problem(override.variable, f"leaves a gap: the next free number is {len(place)}")
            if step == len(place):
                place.append({})
            place = place[step]
        else:
            place = place.setdefault(step, [] if isinstance(following, int) else {})
        if not isinstance(place, (dict, list)):
            return Problem(override.variable, f"{dotted(override.location[: position + 1])} is not a table or list")
    place[last] = override.value
    return None


def _with_rule(fault: Fault, values: Mapping[str, Any], lines: Sequence[int], overrides: Sequence[Override]) -> str:
    """The fault's words; of a rule, with its name and, where the file has it, its line."""
    of_file = _find_override(fault.location[:2], overrides) is None
    rule = describe_rule(values, fault.location, lines if of_file else ())
    return f"{fault.message} ({rule})" if rule else fault.message


def _named_by_source(fault: Fault, overrides: Sequence[Override]) -> Problem:
    """A problem under the name by which its reader can find it: the variable's when the value came from one."""
    override = _find_override(fault.location, overrides)
    if override is None:
        return Problem(dotted(fault.location), fault.message)
    inner = dotted(fault.location[len(override.location) :])
    separator = "." if inner and not inner.startswith("[") else ""
    return Problem(f"{override.variable}{separator}{inner}", fault.message)


def _find_override(location: Location, overrides: Sequence[Override]) -> Override | None:
    """The innermost override that the value at ``location`` came from."""
    covering = [o for o in overrides if o.location == location[: len(o.location)]]
    return max(covering, key=lambda override: len(override.location), default=None)


def _one_for_each_key(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """The first problem of each key; a value of the wrong type is not told twice that it is wrong."""
    return tuple({problem.key: problem for problem in reversed(problems)}.values())[::-1]


def _sources(file: ConfigFile) -> str:
    if file.named_by is None and not file.path.exists():
        return f"Read from the environment; there is no {file.path}."
    return f"Read from {file.path} and the environment."


def _with_absolute_paths(settings: Settings, file: ConfigFile, overrides: Sequence[Override]) -> Settings:
    def absolute(location: Location, path: Path) -> Path:
        from_variable = _find_override(location, overrides) is not None
        base = Path() if from_variable else file.path.expanduser().parent
        return (base / path.expanduser()).absolute()

    folder = settings.database.data_folder
    database = settings.database.model_copy(
        update={"data_folder": folder and absolute(("database", "data_folder"), folder)}
    )
    mailboxes = tuple(
        mailbox.model_copy(update={"token_file": absolute(("mailboxes", index, "token_file"), mailbox.token_file)})
        for index, mailbox in enumerate(settings.mailboxes)
    )
    return settings.model_copy(update={"database": database, "mailboxes": mailboxes})
