"""The peers' own Python, made once and kept in the user's cache folder; and our create and find held against theirs.

Each side has its own process, its own database in one server, and one connection.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from figures import Figure, at_least
from stage import new_folder, new_postgres
from store.databases import analyze, new_database
from store.side import Side, running_side
from store.turns import Slice, Times, a_second, ratio, take_turns

OURS = "ours"
PEERS = ("procrastinate", "pgqueuer", "dbos")
SLICE = 100
_VERSIONS = Path(__file__).with_name("peers.txt")


def peers_python(*, install: bool) -> Path | None:
    """The Python that has the peers, installed now if need be and allowed, else None."""
    digest = hashlib.sha256(_VERSIONS.read_bytes() + sys.version.encode()).hexdigest()[:12]
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "inbox-loop-bench" / f"peers-{digest}"
    python, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists():
        if not install:
            return None
        _install(folder, python)
        ready.touch()
    return python


def _install(folder: Path, python: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)  # left by an installation that was interrupted
    print(f"Installing {', '.join(PEERS)} for the comparison ...", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--requirement", _VERSIONS], check=True)


def compare_with_peers(benchmark: str, python: Path, slices: int) -> Iterator[Figure]:
    """Create and find one at a time, all sides in turn."""
    with ExitStack() as stack:
        folder, postgres = stack.enter_context(new_folder()), stack.enter_context(new_postgres())
        pythons = {OURS: Path(sys.executable), **dict.fromkeys(PEERS, python)}
        urls = {side: new_database(postgres, side) for side in pythons}
        sides = {side: stack.enter_context(running_side(side, pythons[side], urls[side], folder)) for side in pythons}
        # Every side has some tasks, and Postgres has looked at their tables.
        for side in sides.values():
            side.take("create", 10 * SLICE)
        for url in urls.values():
            analyze(url)
        for verb in ("create", "find"):
            slices_of = {name: _slice_of(side, verb) for name, side in sides.items()}
            yield from _figures(f"{benchmark} {verb} beside peers", take_turns(slices_of, slices))


def _slice_of(side: Side, verb: str) -> Slice:
    return lambda _number: side.take(verb, SLICE)


def _figures(name: str, times: Times) -> Iterator[Figure]:
    for side in times:
        yield Figure(name, side, a_second(times, side), "tasks/s")
    for peer in PEERS:
        yield at_least(name, f"ours / {peer}, tasks a second", ratio(times, peer, OURS), "x", promised=1)
