"""The token file: who may read it, what shape it has, and how it is replaced."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from inbox_loop.errors import NeedsAuth
from inbox_loop.gmail.token_file import TokenFile, find_stamp, read_token_file, save_token_file

SECRET = "hush-hush"
USER = {
    "client_id": "c",
    "client_secret": SECRET,
    "refresh_token": SECRET,
    "token_uri": "https://oauth2.googleapis.com/token",
}
SERVICE = {
    "type": "service_account",
    "client_email": "robot@example.com",
    "private_key": SECRET,
    "token_uri": "https://oauth2.googleapis.com/token",
    "subject": "desk@example.com",
}


def write(path: Path, content: object, mode: int = 0o600) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    path.chmod(mode)
    return path


def read(path: Path) -> TokenFile:
    return read_token_file(path, mailbox="desk")


def trouble_with(path: Path) -> NeedsAuth:
    with pytest.raises(NeedsAuth) as caught:
        read(path)
    assert SECRET not in f"{caught.value} {caught.value.hint}"
    return caught.value


@pytest.mark.parametrize(("content", "is_service"), [(USER, False), (SERVICE, True)])
def test_both_shapes_are_read(tmp_path: Path, content: dict[str, Any], *, is_service: bool) -> None:
    file = read(write(tmp_path / "t.json", content))

    assert file.is_service_account is is_service
    assert file.token_uri == content["token_uri"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o660, 0o777])
def test_a_file_open_to_others_is_refused_with_the_command_that_closes_it(tmp_path: Path, mode: int) -> None:
    path = write(tmp_path / "a token.json", USER, mode)

    trouble = trouble_with(path)

    assert trouble.hint == f"chmod 600 '{path}'"


def test_a_missing_file_is_answered_with_the_command_that_signs_in(tmp_path: Path) -> None:
    assert trouble_with(tmp_path / "none.json").hint.endswith("inbox-loop auth login --mailbox desk")


def test_a_folder_or_a_pipe_is_no_token_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)

    assert "not a file" in str(trouble_with(tmp_path / "pipe"))
    assert "Is a directory" in str(trouble_with(tmp_path))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (f"{SECRET} {{", "not JSON"),
        ("[1]", "not a JSON object"),
        ({"installed": {"client_secret": SECRET}}, "not a sign-in"),
        ({key: value for key, value in USER.items() if key != "refresh_token"}, "lacks refresh_token"),
        ({**USER, "refresh_token": ""}, "lacks refresh_token"),
        ({**USER, "client_id": 7}, "lacks client_id"),
        ({**USER, "token_uri": "file:///etc/passwd"}, "token_uri"),
        ({**USER, "token_uri": "http://oauth2.googleapis.com/token"}, "token_uri"),
        ({**SERVICE, "token_uri": "http://10.0.0.1/token"}, "token_uri"),
        ({key: value for key, value in SERVICE.items() if key != "subject"}, "lacks subject"),
    ],
)
def test_a_wrong_shape_is_named_without_its_secrets(tmp_path: Path, content: object, said: str) -> None:
    trouble = trouble_with(write(tmp_path / "t.json", content))

    assert said in str(trouble)
    assert trouble.hint


def test_a_token_in_the_file_is_used_only_with_its_end(tmp_path: Path) -> None:
    def token(**extra: object) -> tuple[str, datetime] | None:
        return read(write(tmp_path / "t.json", {**USER, **extra})).access_token

    assert token(token="t", expiry="2026-11-30T12:00:00.123Z") == ("t", datetime(2026, 11, 30, 12, 0, 0, 123000, UTC))
    assert token(token="t", expiry="2026-11-30T12:00:00") == ("t", datetime(2026, 11, 30, 12, tzinfo=UTC))
    assert token(token="t") is token(token="t", expiry="soon") is token(expiry="2026-11-30T12:00:00Z") is None


@pytest.mark.parametrize(
    ("content", "identity"),
    [(USER, {"client_id", "refresh_token"}), (SERVICE, {"type", "client_email", "subject"})],
)
def test_the_fingerprint_changes_with_what_identifies_the_sign_in_and_with_nothing_else(
    tmp_path: Path, content: dict[str, Any], identity: set[str]
) -> None:
    first = read(write(tmp_path / "t.json", content)).fingerprint
    both = {**SERVICE, **USER, "type": "authorized_user", **content, "token": "t", "scopes": ["s"]}

    telling = {
        key
        for key in both
        if read(write(tmp_path / "t.json", {**both, key: "https://other.example.com"})).fingerprint != first
    }

    assert telling == identity


def test_the_fingerprint_is_short_and_moving_a_letter_between_its_parts_changes_it(tmp_path: Path) -> None:
    first = read(write(tmp_path / "t.json", {**USER, "client_id": "ab", "refresh_token": "c"})).fingerprint
    other = read(write(tmp_path / "t.json", {**USER, "client_id": "a", "refresh_token": "bc"})).fingerprint

    assert re.fullmatch("[0-9a-f]{16}", first)
    assert first != other


def test_what_is_printed_of_a_token_file_holds_no_secret(tmp_path: Path) -> None:
    assert SECRET not in repr(read(write(tmp_path / "t.json", USER)))


def test_a_saved_file_is_whole_closed_to_others_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    path = write(tmp_path / "t.json", USER)
    before = find_stamp(path)

    stamp = save_token_file(path, {**USER, "refresh_token": "new"})

    assert json.loads(path.read_text(encoding="utf-8"))["refresh_token"] == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]
    assert find_stamp(path) == stamp != before


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    target = write(tmp_path / "real.json", USER)
    link = tmp_path / "t.json"
    link.symlink_to(target)

    save_token_file(link, {**USER, "client_id": "new"})

    assert link.is_symlink()
    assert json.loads(target.read_text(encoding="utf-8"))["client_id"] == "new"


def test_content_that_can_not_be_written_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = write(tmp_path / "t.json", USER)

    with pytest.raises(TypeError):
        save_token_file(path, {**USER, "token": object()})

    assert json.loads(path.read_text(encoding="utf-8")) == USER
    assert list(tmp_path.iterdir()) == [path]


KILLED_IN_THE_MIDDLE = """
import os, signal, sys
from pathlib import Path
from inbox_loop.gmail import token_file

os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
token_file.save_token_file(Path(sys.argv[1]), {"refresh_token": "half"})
"""


def test_a_kill_before_the_new_file_is_on_disk_leaves_the_old_one(tmp_path: Path) -> None:
    path = write(tmp_path / "t.json", USER)

    ended = subprocess.run([sys.executable, "-c", KILLED_IN_THE_MIDDLE, str(path)], check=False, timeout=30)

    assert ended.returncode == -9
    assert read(path).content == USER
    assert {stat.S_IMODE(left.stat().st_mode) for left in tmp_path.iterdir()} == {0o600}
