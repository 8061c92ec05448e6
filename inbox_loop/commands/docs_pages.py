"""Which files are rendered, and from what.

Lives here: the table. Not here: how each looks (a ``docs_…_page.py`` each), and the writing (``docs.py``).
"""

from __future__ import annotations

from collections.abc import Mapping

from inbox_loop.commands.app import global_options
from inbox_loop.commands.docs_command_facts import read_commands
from inbox_loop.commands.docs_commands_page import render_commands_page
from inbox_loop.commands.docs_config_file import render_config_file
from inbox_loop.commands.docs_events_page import render_events_page
from inbox_loop.commands.docs_reasons_page import render_reasons_page
from inbox_loop.commands.docs_setting_facts import list_sections
from inbox_loop.commands.docs_settings_page import render_settings_page
from inbox_loop.commands.registry import list_commands
from inbox_loop.events import EVENTS


def render_pages() -> Mapping[str, str]:
    """Every rendered file: its path in the checkout, and its text."""
    sections = list_sections()
    commands = read_commands([((), global_options), *list_commands()])
    return {
        "config/inbox-loop.toml": render_config_file(sections),
        "docs/settings.md": render_settings_page(sections),
        "docs/events.md": render_events_page(EVENTS),
        "docs/reasons.md": render_reasons_page(),
        "docs/commands.md": render_commands_page(commands),
    }
