"""DBOS: a workflow enqueued under a workflow id, by its client, which runs nothing itself.

An id that is taken answers with the workflow that has it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from dbos import DBOSClient  # type: ignore[import-not-found] # installed for this process alone
from store.answer import answer
from store.content import BODY, SOURCE, TITLE


class Dbos:
    """One workflow; each ref is a run of it."""

    def __init__(self, client: DBOSClient) -> None:
        self._client = client

    def create(self, ref: str) -> None:
        """Enqueue a run."""
        options = {"workflow_name": "work", "queue_name": "bench", "workflow_id": ref}
        self._client.enqueue(options, TITLE, BODY, SOURCE)

    def find(self, ref: str) -> None:
        """Enqueue a run that waits already."""
        self.create(ref)


def main() -> None:
    """Make the schema and serve."""
    url = os.environ["BENCH_URL"]
    subprocess.run(
        [Path(sys.executable).with_name("dbos"), "migrate", "--sys-db-url", url], check=True, stdout=sys.stderr
    )
    client = DBOSClient(system_database_url=url, system_database_pool_size=1)
    try:
        answer(Dbos(client))
    finally:
        client.destroy()


if __name__ == "__main__":
    main()
