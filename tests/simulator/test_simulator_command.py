"""``python -m inbox_loop.simulator``: its URL first, its mail in it, and a clean end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "inbox_loop.simulator"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_the_mail_it_was_given_until_it_is_told_to_end(tmp_path: Path, number: int) -> None:
    mbox = tmp_path / "mail.mbox"
    mbox.write_bytes(b"From a Mon Nov 30 09:08:07 2026\nSubject: one\n\nx\n\nFrom b Mon Nov 30 09:09:07 2026\n\ny\n")
    token_file = tmp_path / "token.json"
    arguments = ["--mail", str(mbox), "--token-file", str(token_file), "--address", "ann@example.com"]

    with subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            held = json.loads(token_file.read_text(encoding="utf-8"))
            grant = {"grant_type": "refresh_token", "refresh_token": held["refresh_token"]}
            with urllib.request.urlopen(
                held["token_uri"], data=urllib.parse.urlencode(grant).encode(), timeout=10
            ) as answer:
                access_token = json.load(answer)["access_token"]
            request = urllib.request.Request(
                f"{url}/gmail/v1/users/me/profile", headers={"Authorization": f"Bearer {access_token}"}
            )
            with urllib.request.urlopen(request, timeout=10) as answer:
                profile = json.load(answer)
        finally:
            process.send_signal(number)
        assert process.wait(timeout=10) == 0
    assert (profile["emailAddress"], profile["messagesTotal"]) == ("ann@example.com", 2)


def test_missing_mail_is_one_sentence_and_a_hint(tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "--mail", str(tmp_path / "none")], capture_output=True, text=True, timeout=20, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "There is no" in done.stderr
    assert "Traceback" not in done.stderr
