"""Folders for a private Postgres, and users of it, that are gone when the test is over."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from embedded_users import UserProcess, reachable_folder

from inbox_loop.embedded.folders import Place
from inbox_loop.embedded.server import use_embedded
from inbox_loop.embedded.throwaway import stop_when_unused


@pytest.fixture
def new_folder() -> Iterator[Path]:
    """A folder that is not there yet."""
    with reachable_folder() as path:
        yield path


@pytest.fixture(scope="session")
def session_folder() -> Iterator[Path]:
    """One folder for all the tests that do not care who made its data."""
    with reachable_folder() as path:
        with use_embedded(path):
            pass
        yield path


@pytest.fixture
def made_folder(session_folder: Path) -> Iterator[Path]:
    """A folder whose data is made, and whose server does not run: starting in it takes a fifth of a second."""
    stop_when_unused(Place(session_folder))
    yield session_folder
    stop_when_unused(Place(session_folder))


@pytest.fixture
def start_user() -> Iterator[Callable[..., UserProcess]]:
    """Start users; those still there at the end are killed."""
    started: list[UserProcess] = []

    def start(folder: Path, *, python: str = sys.executable, uid: int | None = None, **env: str) -> UserProcess:
        started.append(UserProcess(folder, python=python, uid=uid, env=env))
        return started[-1]

    yield start
    for user in started:
        user.kill()
