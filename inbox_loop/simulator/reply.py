"""What is sent back, decided before a byte is written.

Lives here: ``Reply`` as a value. Not here: the writing (``http.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from inbox_loop.simulator.problems import ApiProblem

JSON_TYPE = "application/json; charset=UTF-8"


class Manner(Enum):
    """How a reply goes out."""

    WHOLE = auto()
    DRIP = auto()
    """A byte at a time."""
    CUT = auto()
    """Half of the body, then the connection is closed."""
    DROP = auto()
    """The connection is closed without an answer."""
    RESET = auto()
    """The same, by a TCP reset."""
    HANG = auto()
    """Nothing, until the client or the server goes away."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer and the manner of its sending. Status 0 where no answer is sent."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    manner: Manner = Manner.WHOLE
    delay: float = 0.0
    """Seconds to wait first; with DRIP, between two bytes."""

    @classmethod
    def of_problem(cls, problem: ApiProblem) -> Reply:
        """Google's error."""
        return cls(problem.status, problem.body(), headers={**problem.headers, "Content-Type": JSON_TYPE})
