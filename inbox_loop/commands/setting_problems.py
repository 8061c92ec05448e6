"""What is wrong with a configuration's values, in words for the person who wrote it.

Lives here: pydantic's findings put in plain words, and the checks that see more than one value or need more than a
type. They read the raw values, so that all is reported at once. No value is ever repeated: it may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from inbox_loop.commands.setting_keys import Location, dotted, find_nearest_sibling
from inbox_loop.gmail.safe_url import is_safe_url
from inbox_loop.settings import LONGEST, METHOD_COSTS
from inbox_loop.webhook.address import read_address
from inbox_loop.webhook.signature import PUBLISHED, read_secret

_A_DURATION = 'must be a number of seconds or a text such as "90s", "30m", "24h", "14d", "2w"'
# pydantic's types of fault whose own words speak of Python rather than of a configuration file.
_WORDS = {
    "missing": "is missing",
    "string_pattern_mismatch": "may hold a to z, 0 to 9, _ and - (not at its start), at most 63 characters",
    "string_too_short": "must not be empty",
    "too_short": "must not be empty",
    "model_type": "must be a table",
    "dict_type": "must be a table",
    "tuple_type": "must be a list",
    "path_type": "must be a path",
    "time_delta_parsing": _A_DURATION,
    "time_delta_type": _A_DURATION,
}
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong, and where."""

    location: Location
    message: str


def find_model_faults(error: ValidationError) -> tuple[Fault, ...]:
    """The faults the models found."""
    return tuple(
        Fault(detail["loc"], _in_words(detail["type"], detail["loc"], detail["msg"], detail.get("ctx", {})))
        for detail in error.errors(include_url=False, include_input=False)
    )


def _in_words(kind: str, location: Location, message: str, context: Mapping[str, object]) -> str:
    if kind == "extra_forbidden":
        nearest = find_nearest_sibling(location)
        return "no such setting" + (f"; did you mean {nearest}?" if nearest else "")
    # The bound of a duration comes as the text that Python would show, that of a number as the number.
    if isinstance(context.get("le"), str):
        return f"must be at most {LONGEST.days}d"
    if isinstance(context.get("gt"), str):
        return "must be more than 0"
    return _WORDS.get(kind) or message.replace("Input should be", "must be").replace("String should have", "must have")


def find_faults(values: Mapping[str, Any]) -> tuple[Fault, ...]:
    """The faults that types alone do not show. ``values`` may be of any shape."""
    return tuple(
        fault
        for check in (_check_urls, _check_methods, _check_addresses, _check_mailboxes, _check_paths, _check_webhook)
        for fault in check(values)
    )


def _find(values: object, *steps: str) -> object:
    """The value at a key, or None when there is none."""
    for step in steps:
        values = values.get(step) if isinstance(values, Mapping) else None
    return values


def _mailboxes(values: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    mailboxes = values.get("mailboxes")
    if isinstance(mailboxes, list):
        yield from ((index, mailbox) for index, mailbox in enumerate(mailboxes) if isinstance(mailbox, Mapping))


def _check_urls(values: Mapping[str, Any]) -> Iterator[Fault]:
    url = _find(values, "database", "url")
    if isinstance(url, str) and url != "embedded" and not url.startswith(("postgresql://", "postgres://")):
        yield Fault(("database", "url"), 'must be "embedded" or a postgresql:// URL')
    endpoint = _find(values, "gmail", "api_endpoint")
    if isinstance(endpoint, str) and not is_safe_url(endpoint):
        yield Fault(("gmail", "api_endpoint"), "must be an https:// URL; http:// only for a server on this machine")


def _check_webhook(values: Mapping[str, Any]) -> Iterator[Fault]:
    url, secret = _find(values, "outbox", "webhook_url"), _find(values, "outbox", "webhook_secret")
    if isinstance(url, str):
        yield from _check_webhook_url(url)
        if secret is None:
            yield Fault(("outbox", "webhook_secret"), "is missing; outbox.webhook_url needs it")
    if isinstance(secret, str):
        try:
            key = read_secret(secret)
        except ValueError:
            yield Fault(("outbox", "webhook_secret"), 'must be "whsec_" and 24 to 64 random bytes in base64')
        else:
            if key == PUBLISHED:
                yield Fault(("outbox", "webhook_secret"), "is a published example, which anybody can sign with")


def _check_webhook_url(url: str) -> Iterator[Fault]:
    location = ("outbox", "webhook_url")
    if not is_safe_url(url):
        yield Fault(location, "must be an https:// URL; http:// only for a server on this machine")
        return
    try:
        read_address(url)
    except ValueError as error:
        yield Fault(location, str(error))


def _check_methods(values: Mapping[str, Any]) -> Iterator[Fault]:
    costs = _find(values, "gmail", "method_costs")
    for method in costs if isinstance(costs, Mapping) else ():
        if method not in METHOD_COSTS:
            nearest = get_close_matches(str(method), METHOD_COSTS, n=1)
            hint = f"did you mean {nearest[0]}?" if nearest else f"one of {', '.join(METHOD_COSTS)}"
            yield Fault(("gmail", "method_costs", method), f"no such Gmail method; {hint}")


def _check_addresses(values: Mapping[str, Any]) -> Iterator[Fault]:
    own = _find(values, "policy", "own_addresses")
    found: list[tuple[Location, object]] = []
    if isinstance(own, list):
        found += [(("policy", "own_addresses", index), address) for index, address in enumerate(own)]
    found += [(("mailboxes", i, "address"), box["address"]) for i, box in _mailboxes(values) if "address" in box]
    for location, address in found:
        if isinstance(address, str) and not _ADDRESS.fullmatch(address.strip()):
            yield Fault(location, "must be a mail address, name@domain")


def _check_mailboxes(values: Mapping[str, Any]) -> Iterator[Fault]:
    """Two mailboxes of one name can't be told apart; two of one account would make each message two tasks."""
    same: tuple[tuple[str, Callable[[str], str]], ...] = (
        ("name", str),
        ("token_file", lambda text: str(Path(text))),
        ("address", lambda text: text.strip().lower()),
    )
    for key, normalise in same:
        first: dict[str, int] = {}
        for index, mailbox in _mailboxes(values):
            value = mailbox.get(key)
            if not isinstance(value, str):
                continue
            earlier = first.setdefault(normalise(value), index)
            if earlier != index:
                yield Fault(("mailboxes", index, key), f"is the same as {dotted(('mailboxes', earlier, key))}")


def _check_paths(values: Mapping[str, Any]) -> Iterator[Fault]:
    found: list[tuple[Location, object]] = [(("database", "data_folder"), _find(values, "database", "data_folder"))]
    found += [(("mailboxes", index, "token_file"), mailbox.get("token_file")) for index, mailbox in _mailboxes(values)]
    for location, path in found:
        if not isinstance(path, str):
            continue
        if not path.strip() or "\0" in path:
            yield Fault(location, "must be a path")
        elif path.startswith("~"):
            try:
                Path(path).expanduser()
            except RuntimeError:
                yield Fault(location, "the home folder that ~ stands for is unknown")
