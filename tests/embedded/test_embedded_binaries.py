"""Which Postgres is run, for which data; and what is said when there is none."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fixtures.embedded import Server, UserProcess, query

from inbox_loop.embedded import binaries as module
from inbox_loop.embedded.binaries import Binaries, choose_binaries, find_binaries
from inbox_loop.embedded.folders import Place
from inbox_loop.embedded.server import use_embedded
from inbox_loop.errors import EmbeddedUnavailable

StartUser = Callable[..., UserProcess]

PLACE = Place(Path("/var/lib/somewhere"))
WHEEL = Binaries(Path("/wheel/bin"), "18.6")
SYSTEM = Binaries(Path("/usr/lib/postgresql/15/bin"), "15.18")


@pytest.fixture(name="no_wheel")
def _no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the standard library can be imported."""
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if "site-packages" not in entry])


def test_without_data_the_first_found_is_taken() -> None:
    assert choose_binaries((WHEEL, SYSTEM), (), PLACE) == WHEEL


def test_data_of_an_older_version_keeps_its_version_while_the_machine_has_it() -> None:
    assert choose_binaries((WHEEL, SYSTEM), (15,), PLACE) == SYSTEM


def test_with_data_of_both_versions_the_first_found_is_taken() -> None:
    assert choose_binaries((WHEEL, SYSTEM), (18, 15), PLACE) == WHEEL


def test_data_whose_version_is_missing_is_an_error_and_not_an_empty_start() -> None:
    with pytest.raises(
        EmbeddedUnavailable, match=r"postgres-17 needs PostgreSQL 17, and this machine has 18, 15"
    ) as told:
        choose_binaries((WHEEL, SYSTEM), (17,), PLACE)
    assert "Install PostgreSQL 17" in told.value.hint


def test_a_place_knows_the_versions_of_its_data(tmp_path: Path) -> None:
    for name in ("postgres-9", "postgres-15", "postgres-18", "postgres-19.new", "postgres-x"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "PG_VERSION").touch()
    (tmp_path / "postgres-20").mkdir()
    assert Place(tmp_path).list_majors() == (18, 15, 9)


@pytest.mark.usefixtures("no_wheel")
def test_no_postgres_at_all_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "_SYSTEM", tmp_path)
    with pytest.raises(EmbeddedUnavailable, match="no Postgres to run") as told:
        find_binaries(Place(tmp_path))
    assert "pip install 'inbox-loop[embedded]'" in told.value.hint
    assert "database.url" in told.value.hint


@pytest.mark.usefixtures("no_wheel")
def test_a_postgres_older_than_15_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = tmp_path / "14" / "bin"
    fake.mkdir(parents=True)
    for name in ("initdb", "postgres"):
        (fake / name).write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 14.1'\n")
        (fake / name).chmod(0o755)
    monkeypatch.setattr(module, "_SYSTEM", tmp_path)
    with pytest.raises(EmbeddedUnavailable, match="no Postgres to run"):
        find_binaries(Place(tmp_path))


@pytest.mark.usefixtures("no_wheel")
def test_a_postgres_that_does_not_run_here_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "18" / "bin"
    broken.mkdir(parents=True)
    for name in ("initdb", "postgres"):
        (broken / name).write_bytes(b"made for another machine")
        (broken / name).chmod(0o755)
    monkeypatch.setattr(module, "_SYSTEM", tmp_path)
    with pytest.raises(EmbeddedUnavailable, match="does not run on this machine"):
        find_binaries(Place(tmp_path))


@pytest.mark.usefixtures("no_wheel")
def test_the_system_s_postgres_serves_where_the_wheel_is_missing(new_folder: Path) -> None:
    if not list(Path("/usr/lib/postgresql").glob("1[5-9]/bin/postgres")):
        pytest.skip("this machine has no Postgres of its own")
    with use_embedded(new_folder) as url:
        assert query(url, "show server_version_num") >= "150000"
        assert query(url, "select current_database()") == "inbox_loop"
    server = Server(new_folder)
    server.wait_until_gone()
    assert server.state == "shut down"


def test_data_of_another_version_is_told_to_whoever_starts(made_folder: Path, start_user: StartUser) -> None:
    place = Place(made_folder)
    (major,) = place.list_majors()
    place.data(major).rename(place.data(99))
    try:
        answer = start_user(made_folder).answer
    finally:
        place.data(99).rename(place.data(major))
    assert answer["code"] == "embedded.unavailable"
    assert "needs PostgreSQL 99" in answer["error"]
