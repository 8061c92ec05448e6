"""procrastinate: a job deferred with a ``queueing_lock``, by its calls that are not async.

A lock that is taken raises ``AlreadyEnqueued``, which does not say by which job.
"""

from __future__ import annotations

import os

from procrastinate import App, SyncPsycopgConnector  # type: ignore[import-not-found] # installed for this process alone
from procrastinate.exceptions import AlreadyEnqueued  # type: ignore[import-not-found] # likewise
from store.answer import answer
from store.content import BODY, SOURCE, TITLE


class Procrastinate:
    """One task; each ref is a job of it."""

    def __init__(self, app: App) -> None:
        self._app = app

    def create(self, ref: str) -> None:
        """Defer a job."""
        self._app.configure_task("work", queue="bench", queueing_lock=ref).defer(title=TITLE, body=BODY, source=SOURCE)

    def find(self, ref: str) -> None:
        """Defer a job that waits already."""
        try:
            self.create(ref)
        except AlreadyEnqueued:
            return
        raise RuntimeError("a second job was made")


def main() -> None:
    """Make the schema and serve."""
    app = App(connector=SyncPsycopgConnector(conninfo=os.environ["BENCH_URL"], min_size=1, max_size=1))
    with app.open():
        app.schema_manager.apply_schema()
        answer(Procrastinate(app))


if __name__ == "__main__":
    main()
