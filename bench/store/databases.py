"""More databases in a server that runs, one for each side."""

from __future__ import annotations

from urllib.parse import urlsplit

import psycopg
from psycopg import sql


def new_database(postgres: str, name: str) -> str:
    """Make an empty database beside the one that the URL names; its URL."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
    # Its server is named in the query, since it listens at a socket alone.
    return f"postgresql:///{name}?{urlsplit(postgres).query}"


def analyze(url: str) -> None:
    """Settle the tables and let the planner know them, as autovacuum does in its own time."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("vacuum (analyze)")


def find_size(url: str) -> int:
    """Bytes of the database."""
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute("select pg_database_size(current_database())").fetchone()
    assert row is not None
    size: int = row[0]
    return size
