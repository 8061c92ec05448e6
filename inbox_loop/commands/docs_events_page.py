"""``docs/events.md``: every event the log can hold. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from inbox_loop.commands.docs_markdown import code, codes, head, prose
from inbox_loop.events import Event

_INTRODUCTION = """
Logs go to standard error, one event a line: JSON, or columns on a terminal (`log.format`). Every line has `timestamp`
(UTC), `level` and `event`, and the fields named here. A line about an exception also has `error` (its code, or the type
of one that is not ours), `error_type`, `error_stack` and, where they apply, `message` and `error_causes`.

No subject, body, address or token is ever logged, at any level.
"""


def render_events_page(events: Iterable[Event]) -> str:
    """The whole page."""
    return "".join(
        [head("Log events", "`inbox_loop/events.py`"), _INTRODUCTION, *(_render_event(event) for event in events)]
    )


def _render_event(event: Event) -> str:
    return (
        f"\n## {code(event.name)}\n\n"
        f"{prose(event.meaning)}\n\n"
        f"* Level: {event.level}\n"
        f"* Fields: {codes(event.fields) or 'none'}\n"
        f"* What to do: {prose(event.action)}\n"
    )
