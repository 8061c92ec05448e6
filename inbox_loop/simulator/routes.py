"""Paths of the API and the methods behind them, as the discovery document of Gmail v1 lays them down.

Lives here: the table. Not here: what a method answers (``endpoints.py``, ``listing.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from inbox_loop.simulator import endpoints, listing
from inbox_loop.simulator.parameters import Parameters
from inbox_loop.simulator.problems import not_found
from inbox_loop.simulator.store import Account

Endpoint = Callable[[Account, tuple[str, ...], Parameters], dict[str, Any]]

_PREFIX = "/gmail/v1/users/"
_LISTING = frozenset({"q", "labelIds", "includeSpamTrash", "maxResults", "pageToken"})
_READING = frozenset({"format", "metadataHeaders"})
_HISTORY = frozenset({"startHistoryId", "historyTypes", "labelId", "maxResults", "pageToken"})


@dataclass(frozen=True, slots=True)
class Route:
    """One method: its short name, the path after the user, the parameters it takes, and the function behind it."""

    method: str
    path: re.Pattern[str]
    parameters: frozenset[str]
    endpoint: Endpoint


ROUTES = (
    Route("messages.get", re.compile(r"messages/([^/]+)"), _READING, endpoints.get_message),
    Route("history.list", re.compile(r"history"), _HISTORY, endpoints.list_history),
    Route("messages.list", re.compile(r"messages"), _LISTING, listing.list_messages),
    Route("threads.get", re.compile(r"threads/([^/]+)"), _READING, endpoints.get_thread),
    Route("threads.list", re.compile(r"threads"), _LISTING, listing.list_threads),
    Route("getProfile", re.compile(r"profile"), frozenset(), endpoints.get_profile),
    Route("labels.list", re.compile(r"labels"), frozenset(), endpoints.list_labels),
    Route("labels.get", re.compile(r"labels/([^/]+)"), frozenset(), endpoints.get_label),
    Route(
        "messages.attachments.get",
        re.compile(r"messages/([^/]+)/attachments/([^/]+)"),
        frozenset(),
        endpoints.get_attachment,
    ),
)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a path leads: the route, whose mailbox, and the ids in the path."""

    route: Route
    user: str
    ids: tuple[str, ...]


def find_target(verb: str, path: str) -> Target:
    """Read a path; raises Gmail's 404 for one that leads nowhere. Only reads are offered over HTTP."""
    user, slash, rest = path.removeprefix(_PREFIX).partition("/")
    if verb == "GET" and path.startswith(_PREFIX) and slash:
        for route in ROUTES:
            match = route.path.fullmatch(rest)
            if match is not None:
                return Target(route, unquote(user), tuple(unquote(part) for part in match.groups()))
    raise not_found()
