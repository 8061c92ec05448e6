"""What is wrong with ``policy.rules``, in words for the person who wrote them, and which rule and line is meant. Pure.

Lives here: the checks of rules that see more than one value, and the place of a rule as words. Not here: the types of
single values (``setting_problems.py``), and where in the file a rule begins (``rule_lines.py``).

Values are raw and of any shape. None is repeated but a rule's name, and that only when it can be one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from inbox_loop.commands.setting_keys import Location, dotted
from inbox_loop.commands.setting_problems import Fault
from inbox_loop.rules import Verdict
from inbox_loop.settings import SLUG_PATTERN

RULES = ("policy", "rules")

_CONDITIONS = ("from", "to", "subject", "list", "label", "has_attachment", "larger_than", "smaller_than")
_FOR_TASKS = ("project", "labels", "priority")
_ADDRESSES = ("from", "to")


def find_rule_faults(values: Mapping[str, Any]) -> tuple[Fault, ...]:
    """The faults of rules that types alone do not show."""
    rules = _list_rules(values)
    return tuple(
        fault
        for check in (_check_names, _check_order, _check_addresses, _check_skips, _check_labels)
        for fault in check(rules)
    )


def describe_rule(values: Mapping[str, Any], location: Location, lines: Sequence[int]) -> str:
    """Which rule a fault at ``location`` is about: by its name if it has one, and by its line, as far as known.

    ``lines`` are those at which the rules begin. Empty when the fault is about no single rule.
    """
    index = location[2] if location[:2] == RULES and len(location) > len(RULES) else None
    if not isinstance(index, int):
        return ""
    rule = dict(_list_rules(values)).get(index, {})
    name = rule.get("name")
    is_named = isinstance(name, str) and re.fullmatch(SLUG_PATTERN, name) is not None
    words = f"rule {name}" if is_named else f"rule number {index + 1}"
    return f"{words}, line {lines[index]}" if index < len(lines) else words


_Rules = Sequence[tuple[int, Mapping[str, Any]]]


def _list_rules(values: Mapping[str, Any]) -> _Rules:
    policy = values.get("policy")
    rules = policy.get("rules") if isinstance(policy, Mapping) else None
    if not isinstance(rules, list):
        return ()
    return [(index, rule) for index, rule in enumerate(rules) if isinstance(rule, Mapping)]


def _check_names(rules: _Rules) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for index, rule in rules:
        name = rule.get("name")
        if not isinstance(name, str):
            continue
        earlier = first.setdefault(name, index)
        if earlier != index:
            yield Fault((*RULES, index, "name"), f"is the same as {dotted((*RULES, earlier, 'name'))}")


def _check_order(rules: _Rules) -> Iterator[Fault]:
    """A rule that fits every message leaves nothing to those below it."""
    for index, rule in rules[:-1]:
        if not any(condition in rule for condition in _CONDITIONS):
            yield Fault((*RULES, index), "has no condition and fits every message, so it must be the last rule")


def _check_addresses(rules: _Rules) -> Iterator[Fault]:
    """A pattern without @ or * fits no address at all."""
    for index, rule in rules:
        for condition in _ADDRESSES:
            given = rule.get(condition)
            for pattern in given if isinstance(given, list) else [given]:
                if isinstance(pattern, str) and pattern and not {"@", "*"} & set(pattern):
                    yield Fault((*RULES, index, condition), 'must be name@domain, "@domain", or a pattern with *')


def _check_skips(rules: _Rules) -> Iterator[Fault]:
    for index, rule in rules:
        if rule.get("then") == Verdict.SKIP:
            for key in _FOR_TASKS:
                if key in rule:
                    yield Fault((*RULES, index, key), "means nothing in a rule that skips")


def _check_labels(rules: _Rules) -> Iterator[Fault]:
    for index, rule in rules:
        labels = rule.get("labels")
        for label in labels if isinstance(labels, list) else ():
            if isinstance(label, str) and not label.isprintable():
                yield Fault((*RULES, index, "labels"), "must hold printable characters alone")
