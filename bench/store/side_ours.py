"""Our side: ``TaskStore.upsert_task``, which answers with the task, new or not."""

from __future__ import annotations

import os

from store.answer import answer
from store.content import BODY, SOURCE, TITLE

from inbox_loop.repository.database import Database
from inbox_loop.repository.migrate import migrate
from inbox_loop.repository.tasks import TaskStore
from inbox_loop.repository.tenants import ensure_tenant
from inbox_loop.task import TaskDraft, UpsertOutcome

TENANT = "bench"


class Ours:
    """The store of one tenant."""

    def __init__(self, store: TaskStore) -> None:
        self._store = store

    def create(self, ref: str) -> None:
        """Upsert a new ref."""
        self._upsert(ref, UpsertOutcome.CREATED)

    def find(self, ref: str) -> None:
        """Upsert a known ref."""
        self._upsert(ref, UpsertOutcome.FOUND)

    def _upsert(self, ref: str, expected: UpsertOutcome) -> None:
        upserted = self._store.upsert_task(TaskDraft(ref, TITLE, body=BODY, source=SOURCE), actor="bench")
        if upserted.outcome is not expected:
            raise RuntimeError(f"expected {expected}: {upserted.outcome}")


def main() -> None:
    """Make the schema and serve."""
    with Database(os.environ["BENCH_URL"], pool_size=1) as database:
        migrate(database)
        ensure_tenant(database, TENANT, [])
        answer(Ours(TaskStore(database, tenant=TENANT)))


if __name__ == "__main__":
    main()
