"""A crowd: many sessions, each sent its script before any answer is read, so that all are at it in the same moment.

One thread does it. Threads of Python queue for their interpreter, and would seldom meet in the server.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import psycopg
from psycopg.pq import DiagnosticField, ExecStatus
from support.rivals import Connection

LOST_RACE = frozenset({"40001", "40P01", "55P03"})
MAX_LOSSES = 20
GATE = "select pg_advisory_xact_lock_shared(1)"
"""In a script: wait here until everybody has been sent theirs."""

Row = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What one session said to its script."""

    rows: tuple[Row, ...]
    """Those of all its statements, in order, as text; none of a script that failed."""
    losses: int
    """How often the script had to run again because it lost a race (SQLSTATE 40001, 40P01, 55P03)."""


class Crowd:
    """So many sessions, and one that keeps the gate. Any error but a lost race is raised as psycopg's."""

    def __init__(self, connections: Sequence[Connection]) -> None:
        self._gate, *self._sessions = connections

    def ask(self, scripts: Sequence[str]) -> list[Answer]:
        """Run a script in each session at once, again where it lost a race, as callers are told to; what each said."""
        waiting = dict(enumerate(scripts))
        answers: dict[int, Answer] = {}
        self._gate.execute("select pg_advisory_lock(1)")
        for losses in range(MAX_LOSSES):
            for place, script in waiting.items():
                self._sessions[place].pgconn.send_query(script.encode())
            if losses == 0:
                self._gate.execute("select pg_advisory_unlock(1)")
            said = {place: self._read(place) for place in waiting}
            answers |= {place: Answer(rows, losses) for place, rows in said.items() if rows is not None}
            waiting = {place: f"rollback; {scripts[place]}" for place, rows in said.items() if rows is None}
            if not waiting:
                return [answers[place] for place in range(len(scripts))]
        raise AssertionError(f"lost {MAX_LOSSES} races in a row")

    def _read(self, place: int) -> tuple[Row, ...] | None:
        """All that a session has to say; None when it lost a race."""
        rows: list[Row] = []
        lost = False
        while (result := self._sessions[place].pgconn.get_result()) is not None:
            state = (result.error_field(DiagnosticField.SQLSTATE) or b"").decode()
            if result.status == ExecStatus.FATAL_ERROR and state not in LOST_RACE:
                raise psycopg.errors.lookup(state)(result.error_message.decode())
            lost = lost or state in LOST_RACE
            rows += [
                tuple(_text(result.get_value(row, column)) for column in range(result.nfields))
                for row in range(result.ntuples)
            ]
        return None if lost else tuple(rows)


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()
