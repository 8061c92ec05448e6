"""A LISTEN client, as anybody could write one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

Session = psycopg.Connection[Any]


@contextmanager
def listener(url: str) -> Iterator[Session]:
    """A session that listens for new tasks."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("listen inbox_loop_tasks")
        yield connection


def heard(session: Session, *, count: int, seconds: float = 20) -> list[dict[str, Any]]:
    """The next ``count`` announcements; fewer when they do not come in time. 0 seconds asks for what is there."""
    notifies = session.notifies(timeout=seconds, stop_after=count)
    return [json.loads(each.payload) for each in notifies]
