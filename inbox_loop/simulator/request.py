"""What came in over HTTP, as far as it matters here."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Request:
    """One request. ``query`` is the query string, of a POST that stands for a GET too; ``form`` the body of a POST."""

    verb: str
    path: str
    query: str
    form: str = field(default="", repr=False)
    bearer: str = field(default="", repr=False)
