"""The configuration file that has every setting in it, with its default, its limits and its meaning. Pure.

A line that begins with ``#`` and no blank is a setting at its default, or an example of a section that can be
repeated; a line that begins with ``# `` is text. Without its ``#``, the first kind is valid as it stands.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from inbox_loop.commands.docs_markdown import RENDERED
from inbox_loop.commands.docs_setting_facts import SectionFacts, SettingFacts

_WIDTH = 100

_HEAD = """
Every setting of inbox-loop, commented out at its default. Copy this file, take the # off what you change, and name
the copy with --config or $INBOX_LOOP_CONFIG; without either, the file config.toml in your configuration folder is read
(on Linux ~/.config/inbox-loop/config.toml).

A relative path starts at the folder of the file it stands in. Each setting can also be given by an environment
variable, for example INBOX_LOOP_DATABASE__URL for url in [database]; docs/settings.md lists them.
"""


def render_config_file(sections: Iterable[SectionFacts]) -> str:
    """The whole file."""
    lines = [*_comment(RENDERED.replace("`", "").format(source="inbox_loop/settings.py"))]
    for paragraph in _HEAD.strip().split("\n\n"):
        lines += ["#", *_comment(paragraph)]
    for section in sections:
        lines += ["", "", *_render_section(section)]
    return "".join(f"{line}\n" for line in lines)


def _render_section(section: SectionFacts) -> Iterator[str]:
    again = " Repeat the section for each one." if section.is_repeated else ""
    yield from _comment(section.meaning + again)
    yield f"#{section.heading}" if section.is_repeated else section.heading
    for setting in section.settings:
        yield ""
        yield from _render_setting(setting)


def _render_setting(setting: SettingFacts) -> Iterator[str]:
    yield from _comment(setting.meaning)
    if setting.limits:
        yield from _comment(f"Allowed: {setting.limits}.")
    if setting.required:
        yield from _comment("Required.")
        yield f"#{setting.name} = {setting.example}"
    elif setting.default is not None:
        yield f"#{setting.name} = {setting.default}"
    else:
        example = f" For example: {setting.name} = {setting.example}" if setting.example else ""
        yield from _comment(f"Not set by default.{example}")


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)]
