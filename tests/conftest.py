"""Fixtures by topic, from tests/fixtures/."""

pytest_plugins = ["fixtures.simulator"]
