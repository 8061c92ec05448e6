"""Query parameters of a call, checked as Gmail checks them.

Lives here: reading numbers, booleans and choices, and refusing what a method does not know.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from urllib.parse import parse_qs

from inbox_loop.simulator.problems import invalid_argument

# Taken by every method; of these only ``fields`` changes an answer here.
COMMON = frozenset({"$.xgafv", "alt", "fields", "key", "prettyPrint", "quotaUser", "uploadType", "upload_protocol"})
_TRUE = {"true", "1"}
_FALSE = {"false", "0"}


class Parameters:
    """The parameters of one call. Reading a bad value raises Gmail's 400."""

    def __init__(self, values: Mapping[str, Sequence[str]], known: Collection[str]) -> None:
        for name in values:
            if name not in known and name not in COMMON:
                raise invalid_argument(f'Invalid JSON payload received. Unknown name "{name}"')
        self._values = values

    @classmethod
    def parse(cls, query: str, known: Collection[str]) -> Parameters:
        """Read a query string."""
        return cls(parse_qs(query, keep_blank_values=True), known)

    def text(self, name: str, default: str = "") -> str:
        """The last value given."""
        return self._values.get(name, [default])[-1]

    def texts(self, name: str) -> tuple[str, ...]:
        """Every value given."""
        return tuple(self._values.get(name, ()))

    def flag(self, name: str) -> bool:
        """A boolean; absent is false."""
        value = self.text(name, "false").lower()
        if value not in _TRUE | _FALSE:
            raise invalid_argument(f"Invalid value at '{name}' (TYPE_BOOL), \"{value}\"")
        return value in _TRUE

    def number(self, name: str, default: int | None = None) -> int:
        """An unsigned integer; without a default it is required."""
        text = self.text(name)
        if not text and default is not None:
            return default
        if not (text.isascii() and text.isdigit()):
            raise invalid_argument(f"Missing or invalid value for parameter {name}: {text!r}")
        return int(text)

    def choice(self, name: str, choices: Collection[str], default: str) -> str:
        """One of ``choices``, in any case."""
        value = self.text(name, default).lower()
        if value not in choices:
            raise invalid_argument(f"Invalid value for parameter {name}: {value!r}")
        return value

    def page_size(self, default: int = 100, largest: int = 500) -> int:
        """``maxResults``; Gmail quietly lowers what is over the largest, and takes 0 for the default."""
        return min(self.number("maxResults", default) or default, largest)
