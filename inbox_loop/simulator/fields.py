"""Partial answers: the ``fields`` parameter.

Lives here: reading a mask such as ``messages(id,threadId),payload/headers`` and cutting an answer down to it.
"""

from __future__ import annotations

import re
from typing import Any

from inbox_loop.simulator.problems import invalid_argument

_TOKEN = re.compile(r"[A-Za-z0-9_*]+|[(),/]")

Mask = dict[str, Any]
"""Name -> the mask below it; an empty mask keeps everything."""


def parse_mask(text: str) -> Mask:
    """Read a mask; raises a 400 when it can't be read."""
    tokens = _TOKEN.findall(text.replace(" ", ""))
    if "".join(tokens) != text.replace(" ", ""):
        raise invalid_argument(f"Invalid field selection {text}")
    mask, rest = _parse_list(tokens, text)
    if rest:
        raise invalid_argument(f"Invalid field selection {text}")
    return mask


def apply_mask(answer: Any, mask: Mask) -> Any:  # noqa: ANN401 - any JSON value
    """The parts of ``answer`` that ``mask`` names."""
    if not mask or "*" in mask:
        return answer
    if isinstance(answer, list):
        return [apply_mask(item, mask) for item in answer]
    if isinstance(answer, dict):
        return {name: apply_mask(value, mask[name]) for name, value in answer.items() if name in mask}
    return answer


def _parse_list(tokens: list[str], text: str) -> tuple[Mask, list[str]]:
    mask: Mask = {}
    while True:
        tokens = _parse_path(tokens, text, mask)
        if not tokens or tokens[0] != ",":
            return mask, tokens
        tokens = tokens[1:]


def _parse_path(tokens: list[str], text: str, mask: Mask) -> list[str]:
    """Read ``a/b/c(…)`` into ``mask``; the tokens after it."""
    if not tokens or tokens[0] in "(),/":
        raise invalid_argument(f"Invalid field selection {text}")
    below: Mask = {}
    rest = tokens[1:]
    if rest and rest[0] == "/":
        rest = _parse_path(rest[1:], text, below)
    elif rest and rest[0] == "(":
        below, rest = _parse_list(rest[1:], text)
        if not rest or rest[0] != ")":
            raise invalid_argument(f"Invalid field selection {text}")
        rest = rest[1:]
    mask[tokens[0]] = {**mask.get(tokens[0], {}), **below}
    return rest
