"""Rivals: several connections that do something at the same moment, and what each of them got."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import TypeVar

import psycopg

T = TypeVar("T")
Connection = psycopg.Connection[tuple[object, ...]]
LOST_RACE = (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected, psycopg.errors.LockNotAvailable)
PATIENCE_SECONDS = 30.0


@contextmanager
def open_connections(url: str, count: int) -> Iterator[list[Connection]]:
    """So many connections to one database, in autocommit."""
    with ExitStack() as stack:
        yield [stack.enter_context(psycopg.connect(url, autocommit=True)) for _ in range(count)]


def race(connections: Sequence[Connection], rounds: int, work: Callable[[Connection, int, int], T]) -> list[list[T]]:
    """Let each do ``work(connection, rival, round)``, all starting a round together; the results by round."""
    gate = threading.Barrier(len(connections), timeout=PATIENCE_SECONDS)

    def run(rival: int) -> list[T]:
        results = []
        try:
            for number in range(rounds):
                gate.wait()
                results.append(work(connections[rival], rival, number))
        except BaseException:
            gate.abort()
            raise
        return results

    with ThreadPoolExecutor(len(connections)) as pool:
        futures = [pool.submit(run, rival) for rival in range(len(connections))]
    failures = [error for future in futures if (error := future.exception()) is not None]
    for failure in sorted(failures, key=lambda error: isinstance(error, threading.BrokenBarrierError)):
        raise failure
    return [list(results) for results in zip(*(future.result() for future in futures), strict=True)]


def until_it_counts(connection: Connection, isolation: psycopg.IsolationLevel, work: Callable[[], T]) -> tuple[T, int]:
    """Run ``work`` in a transaction, again after each lost race, as callers are told to; its answer and the losses."""
    connection.isolation_level = isolation
    for losses in range(20):
        try:
            with connection.transaction():
                return work(), losses
        except LOST_RACE:
            continue
    raise AssertionError("lost twenty races in a row")


def wait_until_blocked(watcher: Connection, blocked: Connection | None = None) -> None:
    """Return as soon as the server has ``blocked``, or anybody in the database, wait for a lock."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    query = """
        select count(*)
          from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock' and (%(pid)s::int is null or pid = %(pid)s)
    """
    pid = None if blocked is None else blocked.info.backend_pid
    while watcher.execute(query, {"pid": pid}).fetchone() == (0,):
        if time.monotonic() > deadline:
            raise AssertionError("nobody ever had to wait for a lock")
        time.sleep(0.005)
