"""A command under way, whose log lines can be waited for."""

from __future__ import annotations

import json
import subprocess
import threading

END_SECONDS = 30


class Running:
    """A command under way, whose log lines can be waited for."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.events: list[dict[str, object]] = []
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, name="log-reader")
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            event = json.loads(line) if line.startswith("{") else {"event": "", "text": line}
            with self._news:
                self.events.append(event)
                self._news.notify_all()
        with self._news:
            self._news.notify_all()

    def wait_for(self, event: str, *, count: int = 1, seconds: float = END_SECONDS) -> dict[str, object]:
        """The ``count``-th line of this event; fails when it does not come in time."""

        def found() -> list[dict[str, object]]:
            return [each for each in self.events if each["event"] == event]

        with self._news:
            assert self._news.wait_for(lambda: len(found()) >= count, timeout=seconds), f"no {event}: {self.events}"
            return found()[count - 1]

    def end(self) -> int:
        """Wait for the end; the exit code."""
        code = self.process.wait(END_SECONDS)
        self._reader.join(END_SECONDS)
        return code
