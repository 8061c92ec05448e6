"""Where the private Postgres may live, and the one clear error for each place where it can't."""

from __future__ import annotations

import grp
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fixtures.embedded import IS_ROOT, Server, UserProcess, answers, query

from inbox_loop.embedded.account import Account, choose_account
from inbox_loop.embedded.binaries import find_binaries
from inbox_loop.embedded.folders import Place, open_log, prepare_place, read_tail, turn_log
from inbox_loop.embedded.locks import FileLock
from inbox_loop.embedded.server import use_embedded
from inbox_loop.embedded.sockets import prepare_socket_folder, remove_socket_folder
from inbox_loop.embedded.throwaway import stop_when_unused
from inbox_loop.errors import EmbeddedUnavailable

StartUser = Callable[..., UserProcess]

only_root = pytest.mark.skipif(not IS_ROOT, reason="needs root, to act for other users")
LONG = "a-folder-with-a-long-name-" * 4


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A short folder for temporary files, which starts empty, and no runtime folder of the user."""
    folder = Path(tempfile.mkdtemp(prefix="run-"))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    yield folder
    shutil.rmtree(folder)


def own_account(folder: Path) -> Account:
    return choose_account(folder / "postgres-18")


def test_a_folder_too_long_for_a_socket_puts_it_into_the_folder_for_temporary_files(new_folder: Path) -> None:
    folder = new_folder / f'{LONG} Jürgen\'s "mail" & 50% more, or so'
    with use_embedded(folder) as url:
        assert answers(url)
        sockets = query(url.replace("user=inbox_loop", "user=postgres"), "show unix_socket_directories").strip('"')
    assert Path(sockets).parent == Path(tempfile.gettempdir())
    assert Path(sockets).stat().st_mode & 0o777 == 0o700
    stop_when_unused(Place(folder))
    assert not Path(sockets).exists()
    assert Server(folder).state == "shut down"


@pytest.mark.parametrize("name", ["with, comma", LONG])
def test_a_name_no_url_or_socket_can_hold_is_not_used_for_the_socket(name: str, tmp_path: Path, runtime: Path) -> None:
    place = Place(tmp_path / name)
    folder = prepare_socket_folder(place, own_account(place.folder))
    assert folder.parent == runtime
    remove_socket_folder(place, folder)
    assert not folder.exists()


def test_the_same_folder_gets_the_same_runtime_folder_again(tmp_path: Path, runtime: Path) -> None:
    place = Place(tmp_path / LONG)
    account = own_account(place.folder)
    first = prepare_socket_folder(place, account)
    assert prepare_socket_folder(place, account) == first
    assert first.parent == runtime
    assert first.stat().st_uid == account.uid


def test_a_runtime_folder_that_somebody_else_made_is_refused(tmp_path: Path, runtime: Path) -> None:
    place = Place(tmp_path / LONG)
    account = own_account(place.folder)
    folder = prepare_socket_folder(place, account)
    assert folder.parent == runtime
    folder.chmod(0o777)
    with pytest.raises(EmbeddedUnavailable, match="should be a private folder") as refused:
        prepare_socket_folder(place, account)
    assert "database.data_folder" in refused.value.hint
    folder.rmdir()
    folder.symlink_to(tmp_path)
    with pytest.raises(EmbeddedUnavailable, match="should be a private folder"):
        prepare_socket_folder(place, account)


@pytest.mark.skipif(IS_ROOT, reason="root's runtime folder is closed to the server account")
def test_an_ordinary_user_s_runtime_folder_comes_first(
    tmp_path: Path, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = runtime / "own"
    own.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(own))
    place = Place(tmp_path / LONG)
    assert prepare_socket_folder(place, own_account(place.folder)).parent == own


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(EmbeddedUnavailable, match="can't be used: File exists") as refused:
        prepare_place(file)
    assert "database.data_folder" in refused.value.hint


def test_a_folder_that_can_t_be_made_is_told() -> None:
    with pytest.raises(EmbeddedUnavailable, match="can't be used"):
        prepare_place(Path("/proc/inbox-loop"))


def test_a_folder_that_everybody_may_write_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(EmbeddedUnavailable, match="every user of this machine") as refused:
        prepare_place(tmp_path)
    assert str(tmp_path / "inbox-loop") in refused.value.hint


@only_root
def test_a_folder_that_a_group_of_users_may_write_is_refused(tmp_path: Path) -> None:
    os.chown(tmp_path, -1, 54321)
    tmp_path.chmod(0o770)
    with pytest.raises(EmbeddedUnavailable, match="written by a group") as refused:
        prepare_place(tmp_path)
    assert f"chmod g-w {tmp_path}" in refused.value.hint
    tmp_path.chmod(0o750)
    assert prepare_place(tmp_path).folder == tmp_path


def test_a_folder_that_only_the_user_s_private_group_may_write_is_fine(tmp_path: Path) -> None:
    user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(os.getegid())
    if group.gr_name != user.pw_name or set(group.gr_mem) - {user.pw_name}:
        pytest.skip("this user has no group of its own")
    os.chown(tmp_path, -1, group.gr_gid)
    tmp_path.chmod(0o770)
    assert prepare_place(tmp_path).folder == tmp_path


def test_the_folder_of_another_user_names_its_owner(tmp_path: Path) -> None:
    if IS_ROOT:
        os.chown(tmp_path, 65534, 65534)
        folder = tmp_path
    else:
        folder = Path("/usr")
    with pytest.raises(EmbeddedUnavailable, match="belongs to the user") as refused:
        prepare_place(folder)
    assert "Run this as" in refused.value.hint


def test_an_existing_folder_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    prepare_place(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o750


def test_a_lock_is_never_taken_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "users.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EmbeddedUnavailable, match="can't be locked"):
        FileLock(tmp_path / "users.lock")
    assert not (tmp_path / "elsewhere").exists()


def test_a_lock_taken_twice_in_one_process_counts_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with FileLock(path) as first, FileLock(path) as second:
        assert first.wait_shared(seconds=0)
        assert not second.try_exclusive()
        assert second.wait_shared(seconds=0)
        first.free()
        assert second.try_exclusive()
        assert not first.wait_exclusive(seconds=0.05)


def test_a_log_and_what_is_kept_of_it_have_two_megabytes_at_most(tmp_path: Path) -> None:
    path, kept = tmp_path / "a.log", tmp_path / "a.log.1"
    kept.write_text("older\n")
    path.write_bytes(b"first\n" + b"old\n" * 250_000)
    os.close(open_log(path))
    assert path.stat().st_size == 0
    assert kept.read_bytes() == b"old\n" * 250_000


def test_a_log_below_a_megabyte_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"x" * 1_000_000)
    turn_log(path)
    assert path.stat().st_size == 1_000_000
    assert not (tmp_path / "a.log.1").exists()


def test_a_log_is_turned_under_whoever_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    writer = open_log(path)
    os.write(writer, b"old\n" * 300_000)
    turn_log(path)
    os.write(writer, b"new\n")
    os.close(writer)
    assert path.read_text() == "new\n"
    assert (tmp_path / "a.log.1").stat().st_size == 1_000_000
    assert (tmp_path / "a.log.1").stat().st_mode & 0o777 == 0o600


def test_a_log_that_can_t_be_opened_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.mkdir()
    with pytest.raises(EmbeddedUnavailable, match="can't be written: Is a directory"):
        open_log(path)


def test_the_tail_of_a_log_starts_where_it_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("before\nafter\n")
    assert read_tail(path, start=len("before\n")) == "after"
    assert read_tail(tmp_path / "none.log", start=0) == ""


def test_a_full_disk_is_told_before_anything_is_made(new_folder: Path, start_user: StartUser) -> None:
    new_folder.mkdir(mode=0o711)
    size = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m,mode=711", "none", new_folder], check=False)
    if size.returncode != 0:
        pytest.skip("this machine does not let the test mount a small disk")
    try:
        answer = start_user(new_folder).answer
        assert "MB free" in answer["error"]
        assert "Free some space" in answer["hint"]
        assert not list(new_folder.glob("postgres-*"))
    finally:
        Server(new_folder).wait_until_gone()
        subprocess.run(["umount", new_folder], check=True)


def test_something_else_by_the_name_of_the_data_is_left_alone(new_folder: Path) -> None:
    place = prepare_place(new_folder)
    data = place.data(find_binaries(place).major)
    data.mkdir()
    (data / "a-file-of-somebody").touch()
    with pytest.raises(EmbeddedUnavailable, match="is in the way"), use_embedded(new_folder):
        raise AssertionError("it started")
    assert (data / "a-file-of-somebody").exists()
    assert not list(new_folder.glob("*.new"))


@only_root
def test_a_folder_the_server_account_can_t_reach_is_told_and_nothing_is_opened(
    tmp_path: Path, start_user: StartUser
) -> None:
    tmp_path.chmod(0o700)
    answer = start_user(tmp_path / "place").answer
    assert "can't reach" in answer["error"]
    assert "database.data_folder" in answer["hint"]
    assert tmp_path.stat().st_mode & 0o777 == 0o700
    Server(tmp_path / "place").wait_until_gone()
