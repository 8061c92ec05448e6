"""The server's own book-keeping, for proving that something wrote nothing."""

from __future__ import annotations

from dataclasses import dataclass

from inbox_loop.repository.database import Database
from inbox_loop.repository.statements import Statements

_SQL = Statements("upkeep")


@dataclass(frozen=True, slots=True)
class WritePosition:
    """How far the whole server has written. Two equal positions: nothing was written in between, by anyone."""

    wal_bytes: int
    next_transaction: int


def find_write_position(database: Database) -> WritePosition:
    """Where the server's writing stands now."""
    (row,) = database.rows(_SQL["find_write_position"])
    return WritePosition(row["wal_bytes"], row["next_transaction"])


def vacuum(database: Database) -> None:
    """Settle the tables, so that reading them later need not clear up after earlier writes.

    Reading a page with dead row versions on it may prune it, which is WAL that a pure read is not to blame for.
    """
    with database.connection() as connection:
        connection.execute(_SQL["vacuum"])
