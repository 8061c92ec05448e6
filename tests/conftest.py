"""What holds for every test. Fixtures lie by topic in ``tests/fixtures/``; a new file there is found by itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest_plugins = [f"fixtures.{path.stem}" for path in sorted(Path(__file__).with_name("fixtures").glob("*.py"))]


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test sees the settings it makes itself, never those of whoever runs it."""
    for name in list(os.environ):
        if name.startswith(("INBOX_LOOP_", "PG")):
            monkeypatch.delenv(name)
