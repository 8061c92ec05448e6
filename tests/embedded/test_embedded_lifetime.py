"""How long the private Postgres lives: from its first user to its last, whatever kills whom."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fixtures.embedded import ROOT, Server, UserProcess, answers, complaint, fill, kill, query, wait_until

from inbox_loop.embedded import server as server_module
from inbox_loop.embedded import throwaway
from inbox_loop.embedded.address import Address, record_address
from inbox_loop.embedded.folders import Place
from inbox_loop.embedded.locks import FileLock
from inbox_loop.embedded.server import use_embedded
from inbox_loop.embedded.supervisor import LINGER_SECONDS
from inbox_loop.embedded.throwaway import stop_when_unused, use_throwaway
from inbox_loop.errors import EmbeddedUnavailable

StartUser = Callable[..., UserProcess]

# The supervisor itself, which looks at its logs more often.
_WATCHFUL_SUPERVISOR = f"""
import sys
sys.path.append({str(ROOT)!r})
from inbox_loop.embedded import supervisor
supervisor._LOG_LOOK_SECONDS = 0.1
supervisor.main(sys.argv[1:])
"""


@contextmanager
def broken_settings(folder: Path) -> Iterator[None]:
    """A slip in the data's own settings, which Postgres refuses to start with."""
    place = Place(folder)
    settings = place.data(place.list_majors()[0]) / "postgresql.conf"
    words = settings.read_text()
    settings.write_text(f"{words}\nno_such_setting = 1\n")
    try:
        yield
    finally:
        settings.write_text(words)


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """A process that does nothing for a while."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def list_supervisors(server: Server) -> list[str]:
    """Their process ids."""
    return [line.partition(":")[0] for line in server.list_processes() if "__main__" in line]


def test_the_first_start_makes_database_and_role(new_folder: Path) -> None:
    with use_embedded(new_folder) as url:
        assert query(url, "select current_database(), current_user, session_user") == "inbox_loop|inbox_loop|inbox_loop"
        assert query(url, "select rolsuper, rolcreatedb from pg_roles where rolname = current_user") == "f|t"
        assert (
            query(url, "select pg_encoding_to_char(encoding), datlocprovider from pg_database")
            == "UTF8|b\n" * 3 + "UTF8|b"
        )
        assert query(url, "create extension citext; select 'Ä'::citext = 'ä'") == "t"


def test_the_server_is_durable_and_private(made_folder: Path) -> None:
    with use_embedded(made_folder) as url:
        names = ("fsync", "full_page_writes", "data_checksums", "listen_addresses", "timezone", "log_error_verbosity")
        shown = ", ".join(f"current_setting('{name}')" for name in names)
        assert query(url, f"select {shown}") == "on|on|on||UTC|terse"
        assert not answers(url.replace("user=inbox_loop", "user=nobody_we_know"))
    socket_folder = made_folder / "socket"
    assert socket_folder.stat().st_mode & 0o777 == 0o700


def test_a_statement_that_fails_is_not_logged(made_folder: Path) -> None:
    with use_embedded(made_folder) as url:
        told = complaint(
            url, "create temp table t (id int check (id < 9), note text); insert into t values (10, 'a secret')"
        )
    assert "a secret" in told
    assert "a secret" not in Place(made_folder).postgres_log.read_text()


def test_a_second_user_attaches_and_the_server_survives_the_first(made_folder: Path, start_user: StartUser) -> None:
    first = start_user(made_folder)
    second = start_user(made_folder)
    assert first.url == second.url
    postmaster = Server(made_folder).postmaster
    first.leave()
    time.sleep(LINGER_SECONDS + 0.5)
    assert Server(made_folder).postmaster == postmaster
    assert answers(second.url)


def test_the_server_survives_its_starter_killed(made_folder: Path, start_user: StartUser) -> None:
    first = start_user(made_folder)
    postmaster = query(first.url, "select pg_postmaster_start_time()")
    second = start_user(made_folder)
    assert second.url == first.url
    first.kill()
    assert query(second.url, "select pg_postmaster_start_time()") == postmaster


def test_the_last_user_leaves_no_process_and_clean_data_behind(made_folder: Path, start_user: StartUser) -> None:
    user = start_user(made_folder)
    fill(user.url, rows=2)
    server = Server(made_folder)
    assert any("postgres" in line for line in server.list_processes())
    pids = (server.supervisor, server.postmaster)
    user.leave()
    server.wait_until_gone()
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
    assert server.state == "shut down"
    assert not server.place.address.exists()
    again = start_user(made_folder)
    assert query(again.url, "select count(*) from kept") == "2"


def test_one_command_after_the_other_finds_the_same_server(made_folder: Path) -> None:
    with use_embedded(made_folder) as url:
        started = query(url, "select pg_postmaster_start_time()")
    with use_embedded(made_folder) as url:
        assert query(url, "select pg_postmaster_start_time()") == started


def test_two_uses_in_one_process_count_apart(made_folder: Path) -> None:
    with use_embedded(made_folder) as outer:
        with use_embedded(made_folder) as inner:
            assert inner == outer
        time.sleep(LINGER_SECONDS + 0.5)
        assert answers(outer)


def test_its_only_user_killed_the_server_ends_without_loss(made_folder: Path, start_user: StartUser) -> None:
    user = start_user(made_folder)
    fill(user.url, rows=1000)
    user.kill()
    server = Server(made_folder)
    server.wait_until_gone()
    assert server.state == "shut down"
    again = start_user(made_folder)
    assert query(again.url, "select count(*) from kept") == "1000"


def test_a_killed_supervisor_takes_postgres_along_and_a_user_brings_them_back(
    made_folder: Path, start_user: StartUser
) -> None:
    user = start_user(made_folder)
    fill(user.url, rows=2)
    server = Server(made_folder)
    supervisor, postmaster = server.supervisor, server.postmaster
    kill(supervisor)
    wait_until(lambda: not Path(f"/proc/{postmaster}").exists())
    log = server.place.postgres_log.read_text()
    assert "database system is shut down" in log.partition("received fast shutdown request")[2]
    wait_until(lambda: answers(user.url))
    assert server.supervisor != supervisor
    assert query(user.url, "select count(*) from kept") == "2"
    user.leave()
    server.wait_until_gone()


def test_supervisor_and_user_killed_together_leave_nothing_but_data(made_folder: Path, start_user: StartUser) -> None:
    user = start_user(made_folder)
    fill(user.url, rows=2)
    server = Server(made_folder)
    kill(server.supervisor)
    user.kill()
    server.wait_until_gone()
    assert server.state == "shut down"
    again = start_user(made_folder)
    assert query(again.url, "select count(*) from kept") == "2"


def test_a_user_goes_on_trying_after_a_start_that_the_machine_refused(
    made_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(made_folder)
    with use_embedded(made_folder) as url:
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
        kill(server.supervisor)
        wait_until(lambda: not server.place.address.exists())  # the first thing that a start does
        with FileLock(server.place.start_lock) as start:
            assert start.wait_exclusive(seconds=20)  # it has failed
        assert not server.place.address.exists()
        monkeypatch.undo()
        wait_until(lambda: answers(url), seconds=30)


def test_a_start_that_the_machine_refuses_is_told(made_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(EmbeddedUnavailable, match="could not be started: No such file"), use_embedded(made_folder):
        raise AssertionError("it started")


def test_leaving_does_not_wait_for_a_server_that_is_being_brought_back(
    made_folder: Path, start_user: StartUser
) -> None:
    user = start_user(made_folder)
    assert user.url
    server = Server(made_folder)
    supervisor = server.supervisor
    with stopped(server.postmaster):  # the next supervisor waits for its end, which does not come
        kill(supervisor)
        wait_until(lambda: bool(set(list_supervisors(server)) - {str(supervisor)}), seconds=30)
        user.leave()
        assert len(list_supervisors(server)) == 1
        assert not server.place.address.exists()
    server.wait_until_gone()
    assert server.state == "shut down"


def test_a_start_right_after_a_killed_supervisor_waits_for_its_postgres(
    made_folder: Path, start_user: StartUser
) -> None:
    first = start_user(made_folder)
    fill(first.url, rows=2)
    kill(Server(made_folder).supervisor)
    first.kill()
    second = start_user(made_folder)
    assert query(second.url, "select count(*) from kept") == "2"


def test_a_killed_postgres_is_started_again_for_its_users(made_folder: Path, start_user: StartUser) -> None:
    user = start_user(made_folder)
    fill(user.url, rows=2)
    server = Server(made_folder)
    supervisor, postmaster = server.supervisor, server.postmaster
    kill(postmaster)
    wait_until(lambda: answers(user.url))
    assert server.postmaster != postmaster
    assert server.supervisor == supervisor
    assert query(user.url, "select count(*) from kept") == "2"
    newcomer = start_user(made_folder)
    assert newcomer.url == user.url
    newcomer.leave()
    user.leave()
    server.wait_until_gone()
    assert server.state == "shut down"


def test_what_postgres_said_is_told_when_it_does_not_start(made_folder: Path, start_user: StartUser) -> None:
    with broken_settings(made_folder):
        answer = start_user(made_folder).answer
        assert answer["error"].startswith("Postgres failed: configuration file")
        assert str(Place(made_folder).postgres_log) in answer["hint"]
        Server(made_folder).wait_until_gone()
    assert answers(start_user(made_folder).url)


def test_a_server_that_can_t_start_again_is_tried_until_it_can(made_folder: Path, start_user: StartUser) -> None:
    user = start_user(made_folder)
    assert answers(user.url)
    server = Server(made_folder)
    supervisor = server.supervisor
    with broken_settings(made_folder):
        kill(server.postmaster)
        wait_until(lambda: "Postgres failed" in server.place.supervisor_log.read_text())
        assert not server.place.address.exists()
    wait_until(lambda: answers(user.url))
    assert server.supervisor == supervisor


def test_asked_to_end_the_supervisor_waits_for_its_users_and_does_not_linger(
    made_folder: Path, start_user: StartUser
) -> None:
    """Somebody who comes while it lingers finds the same server; once the end has begun, a new one."""
    user = start_user(made_folder)
    server = Server(made_folder)
    started = query(user.url, "select pg_postmaster_start_time()")
    os.kill(server.supervisor, signal.SIGTERM)
    time.sleep(0.5)
    assert query(user.url, "select pg_postmaster_start_time()") == started
    user.leave()
    newcomer = start_user(made_folder)
    assert query(newcomer.url, "select pg_postmaster_start_time()") != started
    newcomer.leave()
    server.wait_until_gone()
    assert server.state == "shut down"


def test_postgres_asked_to_end_as_well_is_there_for_users_who_are_not_done(
    made_folder: Path, start_user: StartUser
) -> None:
    user = start_user(made_folder)
    server = Server(made_folder)
    assert answers(user.url)
    supervisor, postmaster = server.supervisor, server.postmaster
    for pid in (supervisor, postmaster):  # what systemd does to all processes of a unit
        os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not Path(f"/proc/{postmaster}").exists())
    wait_until(lambda: answers(user.url))
    user.leave()
    server.wait_until_gone()
    assert server.state == "shut down"


def test_four_first_starts_at_once_make_one_server(new_folder: Path, start_user: StartUser) -> None:
    users = [start_user(new_folder) for _ in range(4)]
    assert len({user.url for user in users}) == 1
    started = {query(user.url, "select pg_postmaster_start_time()") for user in users}
    assert len(started) == 1
    supervisors = list_supervisors(Server(new_folder))
    assert len(supervisors) == 1, supervisors


def test_a_first_start_killed_half_way_does_not_spoil_the_next(new_folder: Path, start_user: StartUser) -> None:
    user = start_user(new_folder)
    server = Server(new_folder)
    wait_until(lambda: any(new_folder.glob("postgres-*.new/PG_VERSION")))
    (supervisor,) = list_supervisors(server)
    kill(int(supervisor))
    user.kill()
    server.wait_until_gone()
    assert not server.place.list_majors()
    again = start_user(new_folder)
    assert query(again.url, "select current_database()") == "inbox_loop"
    assert not list(new_folder.glob("*.new"))


def test_a_throwaway_server_leaves_neither_process_nor_folder() -> None:
    with use_throwaway() as url:
        data = Path(query(url.replace("user=inbox_loop", "user=postgres"), "show data_directory"))
        assert data.is_dir()
    assert not data.parent.exists()
    assert not Server(data.parent).list_processes()


def test_logs_are_turned_while_the_server_runs(
    made_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "watchful.py"
    program.write_text(_WATCHFUL_SUPERVISOR)
    monkeypatch.setattr(server_module, "_SUPERVISOR", program)
    place = Place(made_folder)
    with use_embedded(made_folder) as url:
        for path in (place.postgres_log, place.supervisor_log):
            with path.open("ab") as log:
                log.write(b"old\n" * 300_000)
            wait_until(lambda path=path: path.stat().st_size < 1_000_000)  # type: ignore[misc]
            assert path.with_name(f"{path.name}.1").stat().st_size == 1_000_000
        assert answers(url)


def test_a_stop_finds_that_the_supervisor_has_just_ended(made_folder: Path) -> None:
    place = Place(made_folder)
    gone = subprocess.Popen(["true"])
    gone.wait()
    supervisor = FileLock(place.supervisor_lock)
    assert supervisor.try_exclusive()
    record_address(place, Address(url="postgresql:///", supervisor=gone.pid))
    ending = threading.Timer(0.2, supervisor.close)
    ending.start()
    try:
        stop_when_unused(place)
    finally:
        ending.join()
        place.address.unlink()


def test_a_server_that_somebody_starts_right_now_is_not_stopped(
    made_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(made_folder)
    monkeypatch.setattr(throwaway, "STOP_SECONDS", 0.05)
    with FileLock(place.start_lock) as start:
        assert start.try_exclusive()
        with pytest.raises(EmbeddedUnavailable, match="is being started by somebody"):
            stop_when_unused(place)
