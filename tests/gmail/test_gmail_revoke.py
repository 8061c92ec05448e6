"""Giving a sign-in back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fixtures.gmail import ADDRESS

from inbox_loop.errors import GmailUnreachable, NeedsAuth, UsageError
from inbox_loop.gmail.auth import Credentials
from inbox_loop.gmail.bounds import Bounds
from inbox_loop.gmail.revoke import revoke_sign_in
from inbox_loop.simulator.server import Simulator


def revoke(token_file: Path) -> None:
    revoke_sign_in(token_file, mailbox="desk", timeout_seconds=5.0)


def test_a_revoked_sign_in_is_dead_at_google_and_gone_here(
    simulator: Simulator, token_file: Path, tmp_path: Path, bounds: Bounds
) -> None:
    copy = simulator.token_file(ADDRESS, tmp_path / "copy.json")
    copy.write_bytes(token_file.read_bytes())

    revoke(token_file)

    assert not token_file.exists()
    with pytest.raises(NeedsAuth, match="invalid_grant"):
        Credentials(copy, timeout_seconds=5.0, mailbox="desk").find_token(bounds)


def test_a_sign_in_that_is_dead_already_is_deleted(simulator: Simulator, token_file: Path) -> None:
    simulator.revoke(ADDRESS)

    revoke(token_file)

    assert not token_file.exists()


def test_a_sign_in_stays_when_google_can_not_be_told(token_file: Path) -> None:
    held = json.loads(token_file.read_text(encoding="utf-8"))
    token_file.write_text(json.dumps({**held, "token_uri": "http://127.0.0.1:1/token"}), encoding="utf-8")

    with pytest.raises(GmailUnreachable):
        revoke(token_file)
    assert token_file.exists()


def test_a_file_that_can_not_be_deleted_is_told_after_the_revocation(
    simulator: Simulator, token_file: Path, bounds: Bounds
) -> None:
    with token_file.open("rb") as held:
        # Another name of the file that not even root may delete.
        undeletable = Path(f"/dev/fd/{held.fileno()}")
        with pytest.raises(UsageError, match="has revoked the sign-in, but") as caught:
            revoke(undeletable)

    assert caught.value.hint.endswith(f"rm {undeletable}")
    assert any(call.method == "revoke" for call in simulator.calls)
    with pytest.raises(NeedsAuth, match="invalid_grant"):
        Credentials(token_file, timeout_seconds=5.0, mailbox="desk").find_token(bounds)


def test_the_key_of_a_service_account_is_not_ours_to_revoke(token_file: Path) -> None:
    held = json.loads(token_file.read_text(encoding="utf-8"))
    account = {**held, "type": "service_account", "client_email": "r@example.com", "private_key": "k", "subject": "d"}
    token_file.write_text(json.dumps(account), encoding="utf-8")

    with pytest.raises(UsageError, match="service account"):
        revoke(token_file)
    assert token_file.exists()
