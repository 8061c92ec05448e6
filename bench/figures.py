"""What a benchmark comes to: figures, each with the promise it is held against, if there is one.

Lives here: the value, and how it is printed. Not here: what is measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass

_HEADINGS = ("BENCHMARK", "FIGURE", "VALUE", "UNIT", "PROMISE", "")


@dataclass(frozen=True, slots=True)
class Figure:
    """One number. ``promise`` says what it must be, in words; ``kept`` is None where nothing is promised."""

    benchmark: str
    name: str
    value: float
    unit: str
    promise: str = ""
    kept: bool | None = None


def exactly(benchmark: str, name: str, value: float, unit: str, *, promised: float) -> Figure:
    """A figure that must be this very number."""
    return Figure(benchmark, name, value, unit, f"= {promised:g}", value == promised)


def at_least(benchmark: str, name: str, value: float, unit: str, *, promised: float) -> Figure:
    """A figure that must not be lower."""
    return Figure(benchmark, name, value, unit, f">= {promised:g}", value >= promised)


def at_most(benchmark: str, name: str, value: float, unit: str, *, promised: float) -> Figure:
    """A figure that must not be higher."""
    return Figure(benchmark, name, value, unit, f"<= {promised:g}", value <= promised)


def to_json(figure: Figure) -> str:
    """One line of JSON."""
    return json.dumps(asdict(figure))


def to_table(figures: Iterable[Figure]) -> str:
    """Columns of plain text."""
    rows = [_HEADINGS, *(_cells(figure) for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    return "\n".join(_line(row, widths) for row in rows)


def _cells(figure: Figure) -> tuple[str, ...]:
    verdict = {None: "", True: "kept", False: "BROKEN"}[figure.kept]
    return (figure.benchmark, figure.name, _digits(figure.value), figure.unit, figure.promise, verdict)


def _digits(value: float) -> str:
    """Three digits that mean something."""
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:.3g}"


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    align = ("<", "<", ">", "<", "<", "<")
    cells = (f"{cell:{side}{width}}" for cell, side, width in zip(row, align, widths, strict=True))
    return "  ".join(cells).rstrip()
