"""``docs/settings.md``: every setting in a table by section. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inbox_loop.commands.docs_markdown import code, head, prose, table
from inbox_loop.commands.docs_setting_facts import SectionFacts, SettingFacts

_INTRODUCTION = """
Settings are read from a TOML file: the one that `--config` names, else `$INBOX_LOOP_CONFIG`, else `config.toml` in the
user's configuration folder (on Linux `~/.config/inbox-loop/config.toml`). Only the last may be missing.
[`config/inbox-loop.toml`](../config/inbox-loop.toml) is such a file with every setting in it, to copy from.

Environment variables are laid over the file. A variable is `INBOX_LOOP_` and the key in capitals, with two underscores
for each dot. A list or a table is written as JSON. In a section that can be repeated, the number counts from 0. An
empty variable counts as not set.

A relative path in the file starts at the file's folder, one in a variable at the current folder; `~` is the home
folder. All mistakes are told at once, each by its key or variable, and no value is ever shown.
"""


def render_settings_page(sections: Iterable[SectionFacts]) -> str:
    """The whole page."""
    parts = [head("Settings", "`inbox_loop/settings.py`"), _INTRODUCTION]
    for section in sections:
        parts += [f"\n## {code(section.heading)}\n\n{prose(section.meaning)}\n\n", _render_table(section)]
    return "".join(parts)


def _render_table(section: SectionFacts) -> str:
    columns = ("key", "environment variable", "default", "meaning")
    return table(columns, (tuple(_cells(setting)) for setting in section.settings))


def _cells(setting: SettingFacts) -> Iterator[str]:
    yield code(setting.name)
    yield code(setting.variable)
    yield "required" if setting.required else code(setting.default or "") or "not set"
    allowed = f" Allowed: {setting.limits}." if setting.limits else ""
    yield prose(setting.meaning + allowed)
