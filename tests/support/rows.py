"""All that is in a database, to be compared with what is there later or elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg import sql

Connection = psycopg.Connection[tuple[Any, ...]]
Rows = Mapping[str, list[dict[str, Any]]]

_TABLES = """
    select relname::text
      from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'inbox_loop_migrations'
     order by relname
"""


def rows_of(connection: Connection) -> Rows:
    """Every row of every table, by the table's name, each as its columns by name."""
    names = [name for (name,) in connection.execute(_TABLES)]
    query = sql.SQL("select to_jsonb(t) from {} as t order by t::text")
    return {name: [row for (row,) in connection.execute(query.format(sql.Identifier(name)))] for name in names}
