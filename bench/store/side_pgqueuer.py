"""pgqueuer: a job enqueued with a ``dedupe_key``, by its calls that are not async.

A key that is taken is skipped, which does not say by which job. (Its default is to raise, which takes longer.)
"""

from __future__ import annotations

import asyncio
import json
import os

import psycopg
from pgqueuer.db import PsycopgDriver, SyncPsycopgDriver  # type: ignore[import-not-found] # for this process alone
from pgqueuer.queries import Queries, SyncQueries  # type: ignore[import-not-found] # likewise
from store.answer import answer
from store.content import BODY, SOURCE, TITLE


class PgQueuer:
    """One entrypoint; each ref is a job for it."""

    def __init__(self, queries: SyncQueries) -> None:
        self._queries = queries

    def create(self, ref: str) -> None:
        """Enqueue a job."""
        if self._enqueue(ref) is None:
            raise RuntimeError("no job was made")

    def find(self, ref: str) -> None:
        """Enqueue a job that waits already."""
        if self._enqueue(ref) is not None:
            raise RuntimeError("a second job was made")

    def _enqueue(self, ref: str) -> object:
        payload = json.dumps({"title": TITLE, "body": BODY, "source": SOURCE}).encode()
        (job,) = self._queries.enqueue("work", payload, dedupe_key=ref, on_conflict="skip")
        return job


async def install(url: str) -> None:
    """Make the schema, with the default durability."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await Queries(PsycopgDriver(connection)).install()


def main() -> None:
    """Make the schema and serve."""
    url = os.environ["BENCH_URL"]
    asyncio.run(install(url))
    with psycopg.connect(url, autocommit=True) as connection:
        answer(PgQueuer(SyncQueries(SyncPsycopgDriver(connection))))


if __name__ == "__main__":
    main()
