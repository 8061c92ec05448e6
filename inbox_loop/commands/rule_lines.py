"""At which lines of a configuration file its rules begin. Pure.

Python's TOML reader tells no positions of values. It does tell, of the first lines of a file, whether they are whole,
and how many rules they have; so it is asked at each line that looks like the beginning of a rule.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

_HEADER = re.compile(r"""\s*+\[\[\s*+["']?policy["']?\s*+\.\s*+["']?rules\b""")
_LIST = re.compile(r"""[^#=]*?\brules\b["'\s]*+=|\s*+["']?policy["']?\s*+=""")
# Each is found by reading the file down to it. Past so many rules, a fault is told without its line.
MAX_HEADERS = 200


def find_rule_lines(text: str) -> tuple[int, ...]:
    """The line of each rule of ``policy.rules``, counted from 1, in order; ``text`` is valid TOML.

    Rules in one ``rules = [...]`` all begin at the line of that key.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    found = tuple(_find_headers(lines))
    return found or tuple(_find_list(lines, _count_rules(text)))


def _find_headers(lines: list[str]) -> Iterator[int]:
    """The lines of ``[[policy.rules]]``."""
    candidates = [number for number, line in enumerate(lines, start=1) if _HEADER.match(line)]
    known = 0
    for number in candidates[:MAX_HEADERS]:
        count = _count_rules("\n".join(lines[:number]))
        if count == known + 1:
            yield number
            known = count


def _find_list(lines: list[str], count: int) -> Iterator[int]:
    for number, line in enumerate(lines, start=1):
        if _LIST.match(line) and _is_whole("\n".join(lines[: number - 1])):
            yield from [number] * count
            return


def _is_whole(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _count_rules(text: str) -> int:
    """How many rules are in ``text``; none when it ends within a value."""
    try:
        policy = tomllib.loads(text).get("policy")
    except tomllib.TOMLDecodeError:
        return 0
    rules = policy.get("rules") if isinstance(policy, dict) else None
    return len(rules) if isinstance(rules, list) else 0
