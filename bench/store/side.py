"""A side in a process of its own, with a database of its own: started, asked for a slice at a time, ended.

The other end is ``answer.py``.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

BENCH = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Side:
    """A running side."""

    process: subprocess.Popen[str]
    log: Path

    def take(self, verb: str, count: int) -> float:
        """Let it ``create`` or ``find`` so many tasks, one at a time; seconds a task."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{verb} {count}\n")
        self.process.stdin.flush()
        return float(self.read_line()) / count

    def read_line(self) -> str:
        """Its next answer; raises ``RuntimeError`` with the end of its log when it has ended."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.log.stem} ended: {self.log.read_text(encoding='utf-8')[-2000:]}")
        return line


@contextmanager
def running_side(name: str, python: Path, url: str, folder: Path) -> Iterator[Side]:
    """Start ``side_<name>.py`` under ``python`` and wait until it is ready; what it logs goes into ``folder``."""
    log = folder / f"{name}.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [python, "-m", f"store.side_{name}"],
            cwd=BENCH,
            env={"PATH": os.environ["PATH"], "HOME": str(folder), "BENCH_URL": url},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    with process:
        side = Side(process, log)
        try:
            side.read_line()
            yield side
        finally:
            process.terminate()
