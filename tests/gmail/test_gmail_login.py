"""Signing in through a browser, with the simulator's consent page and a browser that follows redirects."""

from __future__ import annotations

import json
import socket
import stat
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from fixtures.gmail import ADDRESS

from inbox_loop.errors import NeedsAuth, UsageError
from inbox_loop.gmail.auth import SCOPE, Credentials
from inbox_loop.gmail.bounds import Bounds
from inbox_loop.gmail.login import sign_in
from inbox_loop.simulator.server import Simulator


class Browser:
    """Opens pages in threads of its own, as a person would in a browser."""

    def __init__(self) -> None:
        self.pages: list[str] = []
        self._threads: list[threading.Thread] = []

    def open(self, url: str) -> None:
        """Open the page and go where it leads."""
        self.pages.append(url)
        thread = threading.Thread(target=self._follow, args=(url,))
        thread.start()
        self._threads.append(thread)

    def open_in_place_of(self, answer: str) -> Callable[[str], None]:
        """Go straight back, with ``answer`` for a query in which STATE stands for the state."""

        def go_back(url: str) -> None:
            asked = parse_qs(urlsplit(url).query)
            self.open(f"{asked['redirect_uri'][0]}?{answer.replace('STATE', asked['state'][0])}")

        return go_back

    def close(self) -> None:
        """Wait until every page is there."""
        for thread in self._threads:
            thread.join(10)

    @staticmethod
    def _follow(url: str) -> None:
        with urllib.request.urlopen(url, timeout=10) as page:
            page.read()


@pytest.fixture
def browser() -> Iterator[Browser]:
    opened = Browser()
    yield opened
    opened.close()


@pytest.fixture
def client_file(simulator: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # oauthlib refuses a token endpoint without TLS; the simulator has none.
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")
    simulator.account(ADDRESS)
    return simulator.client_file(tmp_path / "client.json")


def start(client_file: Path, token_file: Path, show_url: Callable[[str], None], **changed: object) -> None:
    options = {"port": 0, "open_browser": False, "timeout_seconds": 10.0, **changed}
    sign_in(client_file, token_file, show_url=show_url, **options)  # type: ignore[arg-type]  # changed by name


def test_a_sign_in_is_saved_for_its_owner_alone_and_works(
    client_file: Path, tmp_path: Path, browser: Browser, bounds: Bounds, simulator: Simulator
) -> None:
    token_file = tmp_path / "token.json"

    start(client_file, token_file, browser.open)

    assert stat.S_IMODE(token_file.stat().st_mode) == 0o600
    token = Credentials(token_file, timeout_seconds=5.0, mailbox="desk").find_token(bounds)
    assert simulator.tokens.find_address(token) == ADDRESS
    assert json.loads(token_file.read_text(encoding="utf-8"))["token_uri"] == f"{simulator.url}/token"


def test_offline_access_and_a_new_consent_are_asked_for_and_no_more_than_reading(
    client_file: Path, tmp_path: Path, browser: Browser
) -> None:
    start(client_file, tmp_path / "token.json", browser.open)

    asked = parse_qs(urlsplit(browser.pages[0]).query)
    assert (asked["access_type"], asked["prompt"], asked["scope"]) == (["offline"], ["consent"], [SCOPE])
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["redirect_uri"][0].startswith("http://127.0.0.1:")


@pytest.mark.parametrize(
    "answer", ["error=access_denied&state=STATE", "code=4/x&state=forged", "code=4/unknown&state=STATE", "nothing=1"]
)
def test_a_sign_in_that_is_refused_or_forged_leaves_the_old_file(
    client_file: Path, tmp_path: Path, browser: Browser, answer: str
) -> None:
    token_file = tmp_path / "token.json"
    token_file.write_text("old", encoding="utf-8")

    with pytest.raises(NeedsAuth):
        start(client_file, token_file, browser.open_in_place_of(answer))

    assert token_file.read_text(encoding="utf-8") == "old"


def test_a_sign_in_to_less_than_was_asked_for_is_told(client_file: Path, tmp_path: Path, browser: Browser) -> None:
    def leave_the_box_unticked(url: str) -> None:
        browser.open(url.replace("gmail.readonly", "userinfo.email"))

    with pytest.raises(NeedsAuth, match="not agreed to"):
        start(client_file, tmp_path / "token.json", leave_the_box_unticked)


def test_nobody_finishing_the_sign_in_ends_it(client_file: Path, tmp_path: Path) -> None:
    shown: list[str] = []

    with pytest.raises(NeedsAuth, match="within"):
        start(client_file, tmp_path / "token.json", shown.append, timeout_seconds=0.05)
    assert len(shown) == 1


def test_a_port_in_use_is_told(client_file: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(UsageError, match="in use"):
        start(client_file, tmp_path / "token.json", print, port=taken.getsockname()[1])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "not JSON"),
        ("[]", "Desktop"),
        ('{"web": {}}', "Desktop"),
        ('{"installed": {"client_id": "c"}}', "lacks client_secret, auth_uri, token_uri"),
        (
            '{"installed": {"client_id": "c", "client_secret": "s", "auth_uri": "a", "token_uri": "http://t.example"}}',
            "must not be sent",
        ),
    ],
)
def test_a_client_file_of_the_wrong_kind_is_told(tmp_path: Path, content: str, said: str) -> None:
    client_file = tmp_path / "client.json"
    client_file.write_text(content, encoding="utf-8")

    with pytest.raises(UsageError, match=said) as caught:
        start(client_file, tmp_path / "token.json", print)
    assert "Desktop app" in caught.value.hint


def test_a_missing_client_file_or_folder_is_told_before_anybody_is_asked(client_file: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be read"):
        start(tmp_path / "none.json", tmp_path / "token.json", print)
    with pytest.raises(UsageError, match="no folder"):
        start(client_file, tmp_path / "none" / "token.json", print)
