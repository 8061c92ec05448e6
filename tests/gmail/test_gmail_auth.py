"""The sign-in in use, against the simulator's token endpoint."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from fixtures.gmail import ADDRESS
from structlog.testing import capture_logs

from inbox_loop.errors import DeadlineExceeded, GmailUnreachable, NeedsAuth, Stopped
from inbox_loop.gmail.auth import Credentials
from inbox_loop.gmail.bounds import Bounds
from inbox_loop.gmail.mailbox import GoogleMailbox
from inbox_loop.gmail.token_file import TokenFile
from inbox_loop.simulator.faults import Fault, Kind
from inbox_loop.simulator.server import Simulator


@pytest.fixture
def credentials(token_file: Path) -> Credentials:
    return Credentials(token_file, timeout_seconds=5.0, mailbox="desk")


def token_calls(simulator: Simulator) -> int:
    return sum(call.method == "token" for call in simulator.calls)


def change(path: Path, **changed: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changed}), encoding="utf-8")


def test_a_token_is_asked_for_once_and_kept(simulator: Simulator, credentials: Credentials, bounds: Bounds) -> None:
    assert credentials.find_token(bounds) == credentials.find_token(bounds)
    assert token_calls(simulator) == 1


def test_a_token_in_the_file_spares_the_first_question(simulator: Simulator, token_file: Path, bounds: Bounds) -> None:
    held = simulator.tokens.issue_access_token(ADDRESS)
    change(token_file, token=held, expiry=(datetime.now(UTC) + timedelta(hours=1)).isoformat())

    assert Credentials(token_file, timeout_seconds=5.0, mailbox="desk").find_token(bounds) == held
    assert token_calls(simulator) == 0


def test_a_token_about_to_end_is_renewed(simulator: Simulator, credentials: Credentials, bounds: Bounds) -> None:
    simulator.tokens.lifetime_seconds = 0
    first = credentials.find_token(bounds)

    assert credentials.find_token(bounds) != first


def test_eight_threads_with_a_rejected_token_make_one_renewal(
    simulator: Simulator, credentials: Credentials, bounds: Bounds
) -> None:
    old = credentials.find_token(bounds)
    simulator.faults.add(Fault("token", kind="delay", seconds=0.1))
    together = threading.Barrier(8)

    def ask(_: int) -> str:
        together.wait(5)
        return credentials.find_token(bounds, rejected=old)

    with ThreadPoolExecutor(8) as threads:
        new = set(threads.map(ask, range(8)))

    assert len(new) == 1
    assert old not in new
    assert token_calls(simulator) == 2


def test_eight_threads_with_a_revoked_sign_in_ask_once_and_are_all_told(
    simulator: Simulator, credentials: Credentials, bounds: Bounds
) -> None:
    simulator.revoke(ADDRESS)
    simulator.faults.add(Fault("token", kind="delay", seconds=0.2))
    simulator.faults.add(Fault("token", status=400, reason="invalid_grant", times=None))
    together = threading.Barrier(8)

    def ask(_: int) -> NeedsAuth:
        together.wait(5)
        with pytest.raises(NeedsAuth) as caught:
            credentials.find_token(bounds)
        return caught.value

    with ThreadPoolExecutor(8) as threads:
        told = list(threads.map(ask, range(8)))

    assert all("auth login --mailbox desk" in error.hint and "7 days" in error.hint for error in told)
    assert token_calls(simulator) == 1


@pytest.mark.parametrize(
    "fault",
    [
        Fault("token", status=500, reason="internal_failure"),
        Fault("token", status=502, reason="bad_gateway"),
        Fault("token", status=503),
        Fault("token", status=400, reason="temporarily_unavailable"),
        *(Fault("token", kind=kind) for kind in ("html", "garbage", "drop", "reset", "truncated", "truncated_gzip")),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.status}",
)
def test_passing_trouble_at_the_token_endpoint_keeps_the_sign_in(
    simulator: Simulator, credentials: Credentials, bounds: Bounds, token_file: Path, fault: Fault
) -> None:
    before = token_file.read_bytes()
    # A connection that closes at once is tried a second time by httplib2 itself.
    simulator.faults.add(fault)
    simulator.faults.add(fault)

    with pytest.raises(GmailUnreachable):
        credentials.find_token(bounds)

    simulator.faults.clear()
    assert credentials.find_token(bounds)
    assert token_file.read_bytes() == before


def test_nobody_at_the_token_endpoint_is_passing_trouble(token_file: Path, bounds: Bounds) -> None:
    change(token_file, token_uri="http://127.0.0.1:1/token")

    with pytest.raises(GmailUnreachable):
        Credentials(token_file, timeout_seconds=5.0, mailbox="desk").find_token(bounds)


@pytest.mark.parametrize("kind", ["hang", "drip"])
def test_a_token_endpoint_that_never_finishes_is_cut_off_at_the_deadline(
    simulator: Simulator, credentials: Credentials, bounds: Bounds, kind: Kind
) -> None:
    simulator.faults.add(Fault("token", kind=kind, seconds=0.02))

    with pytest.raises(DeadlineExceeded):
        credentials.find_token(bounds.within(0.2))


def test_a_stop_ends_the_wait_for_a_token(
    simulator: Simulator, credentials: Credentials, bounds: Bounds, stop: threading.Event
) -> None:
    simulator.faults.add(Fault("token", kind="hang"))
    threading.Timer(0.1, stop.set).start()

    with pytest.raises(Stopped):
        credentials.find_token(bounds)


def test_a_new_sign_in_on_disk_is_used_without_a_restart(
    simulator: Simulator, credentials: Credentials, bounds: Bounds, token_file: Path
) -> None:
    credentials.find_token(bounds)
    simulator.revoke(ADDRESS)
    with pytest.raises(NeedsAuth):
        credentials.find_token(bounds, rejected=credentials.find_token(bounds))

    simulator.token_file(ADDRESS, token_file)

    assert simulator.tokens.find_address(credentials.find_token(bounds)) == ADDRESS


def test_a_new_sign_in_on_disk_has_another_fingerprint_and_a_renewed_token_has_not(
    simulator: Simulator, open_mailbox: Callable[..., GoogleMailbox], token_file: Path
) -> None:
    mailbox = open_mailbox()
    first = mailbox.find_sign_in()
    assert not simulator.calls

    mailbox.find_profile()
    assert mailbox.find_sign_in() == first

    simulator.token_file("another@example.com", token_file)
    assert mailbox.find_sign_in() != first

    token_file.unlink()
    with pytest.raises(NeedsAuth, match="no token file"):
        mailbox.find_sign_in()


def test_a_fingerprint_waits_for_no_renewal(
    simulator: Simulator, credentials: Credentials, bounds: Bounds, stop: threading.Event
) -> None:
    simulator.faults.add(Fault("token", kind="hang"))
    with ThreadPoolExecutor(1) as threads:
        renewal = threads.submit(credentials.find_token, bounds)
        try:
            assert credentials.find_sign_in() == credentials.find_sign_in()
            assert not renewal.done()
        finally:
            stop.set()
        with pytest.raises(Stopped):
            renewal.result(5)


def test_a_file_that_becomes_readable_by_others_is_not_used_any_more(
    credentials: Credentials, bounds: Bounds, token_file: Path
) -> None:
    credentials.find_token(bounds)
    change(token_file, scopes=[])
    token_file.chmod(0o644)

    with pytest.raises(NeedsAuth, match="other users"):
        credentials.find_token(bounds)


def test_a_file_taken_away_ends_the_use_of_its_tokens(
    credentials: Credentials, bounds: Bounds, token_file: Path
) -> None:
    credentials.find_token(bounds)
    token_file.unlink()

    with pytest.raises(NeedsAuth, match="no token file"):
        credentials.find_token(bounds)


def test_a_missing_file_is_trouble_of_the_first_use_and_a_sign_in_ends_it(
    simulator: Simulator, tmp_path: Path, bounds: Bounds
) -> None:
    path = tmp_path / "later.json"
    credentials = Credentials(path, timeout_seconds=5.0, mailbox="desk")
    for _ in range(2):
        with pytest.raises(NeedsAuth, match="no token file"):
            credentials.find_token(bounds)

    simulator.token_file(ADDRESS, path)

    assert simulator.tokens.find_address(credentials.find_token(bounds)) == ADDRESS


def test_an_answer_without_a_refresh_token_changes_nothing_on_disk(
    credentials: Credentials, bounds: Bounds, token_file: Path
) -> None:
    before = token_file.read_bytes()
    credentials.find_token(bounds)

    assert token_file.read_bytes() == before


def test_a_replaced_refresh_token_is_saved_and_the_rest_of_the_file_kept(
    rotating_token_endpoint: str, token_file: Path, bounds: Bounds
) -> None:
    change(token_file, token_uri=rotating_token_endpoint, note="mine")
    credentials = Credentials(token_file, timeout_seconds=5.0, mailbox="desk")

    token = credentials.find_token(bounds)

    saved = json.loads(token_file.read_text(encoding="utf-8"))
    assert (saved["refresh_token"], saved["token"], saved["note"]) == ("rotated-1", token, "mine")
    assert credentials.find_token(bounds) == token
    assert Credentials(token_file, timeout_seconds=5.0, mailbox="desk").find_token(bounds) == token


def test_a_replaced_refresh_token_that_can_not_be_saved_goes_on_in_memory_and_is_told(
    rotating_token_endpoint: str, token_file: Path, bounds: Bounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(token_file, token_uri=rotating_token_endpoint)
    credentials = Credentials(token_file, timeout_seconds=5.0, mailbox="desk")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.replace", refuse)
    with capture_logs() as events:
        assert credentials.find_token(bounds) == credentials.find_token(bounds)

    assert [(event["event"], event["mailbox"], event["reason"]) for event in events] == [
        ("mailbox.token_not_saved", "desk", "Permission denied")
    ]


def test_a_sign_in_made_during_a_renewal_is_not_written_over(
    rotating_token_endpoint: str, token_file: Path, bounds: Bounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(token_file, token_uri=rotating_token_endpoint)
    credentials = Credentials(token_file, timeout_seconds=5.0, mailbox="desk")
    ask = Credentials._ask_for_token  # noqa: SLF001  # the moment between question and answer has no other name

    def sign_in_meanwhile(self: Credentials, file: TokenFile, bounds: Bounds) -> None:
        ask(self, file, bounds)
        change(token_file, refresh_token="signed in anew")

    monkeypatch.setattr(Credentials, "_ask_for_token", sign_in_meanwhile)
    credentials.find_token(bounds)

    assert json.loads(token_file.read_text(encoding="utf-8"))["refresh_token"] == "signed in anew"


def test_no_secret_is_printed(credentials: Credentials, bounds: Bounds, token_file: Path) -> None:
    held = json.loads(token_file.read_text(encoding="utf-8"))
    token = credentials.find_token(bounds)

    printed = repr(credentials)
    assert all(secret not in printed for secret in (held["refresh_token"], held["client_secret"], token))


def test_a_service_account_reads_for_its_subject(
    simulator: Simulator,
    token_file: Path,
    open_mailbox: Callable[..., GoogleMailbox],
) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    account = {
        "type": "service_account",
        "client_email": "robot@project.example.com",
        "private_key": key.decode(),
        "private_key_id": "1",
        "token_uri": f"{simulator.url}/token",
        "subject": ADDRESS,
    }
    token_file.write_text(json.dumps(account), encoding="utf-8")

    assert open_mailbox().find_profile().address == ADDRESS


def test_a_damaged_key_of_a_service_account_is_told_without_the_key(token_file: Path, bounds: Bounds) -> None:
    key = "-----BEGIN PRIVATE KEY-----\nhush-hush\n-----END PRIVATE KEY-----\n"
    change(token_file, type="service_account", client_email="r@example.com", private_key=key, subject=ADDRESS)

    with pytest.raises(NeedsAuth, match="damaged") as caught:
        Credentials(token_file, timeout_seconds=5.0, mailbox="desk").find_token(bounds)
    assert "hush" not in f"{caught.value} {caught.value.hint} {caught.value.__cause__}"
