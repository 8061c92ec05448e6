"""The policy that the settings ask for."""

from __future__ import annotations

from collections.abc import Callable
from re import Pattern

from inbox_loop.globs import compile_address_glob, compile_glob
from inbox_loop.policy import Policy
from inbox_loop.rules import Conditions, Globs, Rule
from inbox_loop.settings import PolicySettings, RuleSettings


def read_policy(settings: PolicySettings) -> Policy:
    """The policy, with its rules ready to be held against messages."""
    return Policy(
        own_addresses=frozenset(settings.own_addresses),
        skip_bulk=settings.skip_bulk,
        skip_auto_replies=settings.skip_auto_replies,
        max_per_sender_per_hour=settings.max_per_sender_per_hour,
        rules=tuple(_read_rule(rule) for rule in settings.rules),
    )


def _read_rule(rule: RuleSettings) -> Rule:
    return Rule(
        name=rule.name,
        verdict=rule.then,
        conditions=Conditions(
            senders=_compile(rule.senders, compile_address_glob),
            recipients=_compile(rule.to, compile_address_glob),
            subjects=_compile(rule.subject, compile_glob),
            lists=_compile(rule.list_id, compile_glob),
            labels=_compile(rule.label, compile_glob),
            has_attachment=rule.has_attachment,
            larger_than=rule.larger_than,
            smaller_than=rule.smaller_than,
        ),
        project=rule.project,
        labels=rule.labels,
        priority=rule.priority,
    )


def _compile(globs: tuple[str, ...] | None, compiled: Callable[[str], Pattern[str]]) -> Globs:
    return tuple(compiled(glob) for glob in globs or ())
