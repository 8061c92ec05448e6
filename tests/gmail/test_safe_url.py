"""Which URLs a secret may be sent to."""

from __future__ import annotations

import pytest

from inbox_loop.gmail.safe_url import is_loopback, is_safe_url


@pytest.mark.parametrize(
    "url",
    [
        "https://oauth2.googleapis.com/token",
        "HTTPS://oauth2.googleapis.com/token",
        "http://127.0.0.1:4000/token",
        "http://127.8.9.1",
        "http://localhost:9",
        "http://LOCALHOST",
        "http://[::1]:9/",
    ],
)
def test_https_is_safe_and_http_on_this_machine(url: str) -> None:
    assert is_safe_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://oauth2.googleapis.com/token",
        "http://10.0.0.1",
        "http://0.0.0.0",
        "http://localhost.example.com",
        "http://127.0.0.1@example.com/",
        "http://127.0.0.1.example.com",
        "ftp://localhost",
        "file:///etc/passwd",
        "localhost:80",
        "https://",
        "http://localhost:x",
        "http://[::1",
        "",
    ],
)
def test_everything_else_is_not(url: str) -> None:
    assert not is_safe_url(url)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_this_machine_has_a_name_and_many_addresses(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "192.168.0.1", "::", "localhost.example.com", "example.com"])
def test_others_are_not_this_machine(host: str) -> None:
    assert not is_loopback(host)
