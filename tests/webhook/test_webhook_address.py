"""A receiver's URL: what a post needs of it, and which are refused."""

from __future__ import annotations

import pytest

from inbox_loop.webhook.address import read_address


@pytest.mark.parametrize(
    ("url", "secure", "host", "port", "target"),
    [
        ("https://hooks.example.com/inbox", True, "hooks.example.com", 443, "/inbox"),
        ("https://hooks.example.com", True, "hooks.example.com", 443, "/"),
        ("https://hooks.example.com:8443/a?b=c#d", True, "hooks.example.com", 8443, "/a?b=c"),
        ("http://[::1]:8080/a", False, "::1", 8080, "/a"),
        ("http://[::1]/a", False, "::1", 80, "/a"),
    ],
)
def test_a_url_is_taken_apart(*, url: str, secure: bool, host: str, port: int, target: str) -> None:
    address = read_address(url)
    assert (address.secure, address.host, address.port, address.target) == (secure, host, port, target)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://s3cret.example.com/",
        "https:///s3cret",
        "https://user:s3cret@example.com/",
        "https://example.com:port/s3cret",
        "https://example.com/s3cret path",
        "https://example.com/s3cret\r\nx: y",
        "https://example.com/s3crét",
        "https://[s3cret/",
    ],
)
def test_what_can_not_be_posted_to_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ValueError, match=r"^must ") as caught:
        read_address(url)
    assert "s3cr" not in str(caught.value)


def test_an_address_does_not_show_itself() -> None:
    assert "s3cret" not in repr(read_address("https://example.com/s3cret"))
