"""Google's own sign-in libraries run against the simulator's pages."""

from __future__ import annotations

import json
import stat
import threading
import urllib.request
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.auth.exceptions import RefreshError
from google.auth.transport.requests import Request
from google.oauth2.credentials import Credentials
from google_auth_oauthlib.flow import InstalledAppFlow
from googleapiclient.errors import HttpError

from inbox_loop.simulator.faults import Fault
from inbox_loop.simulator.oauth import READ_SCOPE
from inbox_loop.simulator.server import Simulator

ME = "ann@example.com"


def credentials_of(token_file: Path) -> Credentials:
    held = json.loads(token_file.read_text(encoding="utf-8"))
    return Credentials(  # type: ignore[no-untyped-call] # google-auth has no annotation here
        token=None,
        refresh_token=held["refresh_token"],
        token_uri=held["token_uri"],
        client_id=held["client_id"],
        client_secret=held["client_secret"],
    )


def refresh(credentials: Credentials) -> str:
    """Refresh with Google's library; the new access token."""
    credentials.refresh(Request())  # type: ignore[no-untyped-call] # google-auth has no annotation here
    return str(credentials.token)


def test_a_token_file_is_googles_and_readable_by_its_owner_alone(simulator: Simulator, tmp_path: Path) -> None:
    path = simulator.token_file(ME, tmp_path / "token.json")
    held = json.loads(path.read_text(encoding="utf-8"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert held["type"] == "authorized_user"
    assert held["token_uri"] == f"{simulator.url}/token"


def test_the_installed_app_flow_signs_in_with_pkce(
    simulator: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulator.account(ME)
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    flow = InstalledAppFlow.from_client_secrets_file(
        str(simulator.client_file(tmp_path / "client.json")), [READ_SCOPE], autogenerate_code_verifier=True
    )
    visits: list[threading.Thread] = []

    class Browser:
        """Follows the redirects to the flow's own little server, as a browser would."""

        def open(self, url: str, **_: object) -> bool:
            visit = threading.Thread(target=lambda: urllib.request.urlopen(url, timeout=10).close())
            visit.start()
            visits.append(visit)
            return True

    monkeypatch.setattr(webbrowser, "get", lambda _browser: Browser())
    credentials = flow.run_local_server(port=0, timeout_seconds=10, access_type="offline", prompt="consent")
    for visit in visits:
        visit.join()

    assert credentials.refresh_token
    assert simulator.tokens.find_address(credentials.token) == ME
    assert simulator.tokens.find_address(refresh(credentials)) == ME


def test_a_revoked_sign_in_is_invalid_grant_and_a_new_one_works(simulator: Simulator, tmp_path: Path) -> None:
    old = credentials_of(simulator.token_file(ME, tmp_path / "old.json"))
    access_token = refresh(old)
    simulator.revoke(ME)

    assert simulator.tokens.find_address(access_token) is None
    with pytest.raises(RefreshError, match="invalid_grant"):
        refresh(old)
    refresh(credentials_of(simulator.token_file(ME, tmp_path / "new.json")))


def test_the_revoke_page_ends_the_sign_in(simulator: Simulator, tmp_path: Path) -> None:
    credentials = credentials_of(simulator.token_file(ME, tmp_path / "token.json"))
    data = f"token={credentials.refresh_token}".encode()
    urllib.request.urlopen(f"{simulator.url}/revoke", data=data, timeout=10).close()
    with pytest.raises(RefreshError, match="invalid_grant"):
        refresh(credentials)


def test_an_expired_access_token_is_a_401_that_the_client_mends_by_itself(
    simulator: Simulator, gmail_client: Callable[[str], Any]
) -> None:
    simulator.account(ME)
    profile = gmail_client(ME).users().getProfile(userId="me")
    profile.execute()
    simulator.tokens.expire_access(ME)

    assert profile.execute()["emailAddress"] == ME
    assert [(c.method, c.status) for c in simulator.calls] == [
        ("token", 200),
        ("getProfile", 200),
        ("getProfile", 401),
        ("token", 200),
        ("getProfile", 200),
    ]


@pytest.mark.parametrize(
    "fault",
    [
        Fault("token", status=400, reason="invalid_grant"),
        Fault("token", status=500, reason="internal_failure", times=9),
        Fault("token", kind="html", status=502, times=9),
        Fault("token", kind="html"),
    ],
)
def test_the_token_endpoint_can_fail_for_a_moment(
    simulator: Simulator, tmp_path: Path, fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("google.auth._exponential_backoff.time.sleep", lambda _: None)
    credentials = credentials_of(simulator.token_file(ME, tmp_path / "token.json"))
    simulator.faults.add(fault)
    with pytest.raises((RefreshError, TypeError)):  # a page of HTML with status 200 is a TypeError in google-auth
        refresh(credentials)
    simulator.faults.clear()
    assert simulator.tokens.find_address(refresh(credentials)) == ME


def test_a_service_account_acts_for_the_user_it_names_and_for_no_one_else(simulator: Simulator) -> None:
    jwt = "e30.{}.sig"
    named = "eyJzdWIiOiJhbm5AZXhhbXBsZS5jb20ifQ"  # {"sub":"ann@example.com"}
    for_ann = simulator.tokens.grant(
        {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": jwt.format(named)}
    )
    assert simulator.tokens.find_address(str(for_ann["access_token"])) == ME

    for_nobody = simulator.tokens.grant(
        {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": jwt.format("e30")}
    )
    request = urllib.request.Request(
        f"{simulator.url}/gmail/v1/users/me/profile", headers={"Authorization": f"Bearer {for_nobody['access_token']}"}
    )
    with pytest.raises(urllib.error.HTTPError, match="400"):
        urllib.request.urlopen(request, timeout=10)


def test_a_call_without_a_token_is_googles_401(simulator: Simulator) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{simulator.url}/gmail/v1/users/me/profile", timeout=10)
    with refused.value as answer:
        assert answer.status == 401
        assert json.load(answer)["error"]["errors"][0]["reason"] == "authError"


def test_the_client_is_refused_after_revocation(simulator: Simulator, gmail_client: Callable[[str], Any]) -> None:
    simulator.account(ME)
    profile = gmail_client(ME).users().getProfile(userId="me")
    profile.execute()
    simulator.revoke(ME)
    with pytest.raises((RefreshError, HttpError)):
        profile.execute()
