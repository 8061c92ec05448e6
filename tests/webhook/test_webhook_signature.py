"""The signature: as the scheme's published example has it, and none with a secret that is not one."""

from __future__ import annotations

import base64

import pytest

from inbox_loop.webhook.signature import read_secret, sign

# The example that standardwebhooks.com publishes.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
EVENT_ID = "msg_p5jXN8AQM9LWM0D4loKWxJek"
TIMESTAMP = 1614265330
BODY = b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_published_example_is_signed_as_published() -> None:
    assert sign(read_secret(SECRET), event_id=EVENT_ID, timestamp=TIMESTAMP, body=BODY) == SIGNATURE


@pytest.mark.parametrize(
    "changed", [{"event_id": "msg_another"}, {"timestamp": TIMESTAMP + 1}, {"body": BODY + b" "}], ids=str
)
def test_id_time_and_body_are_all_signed(changed: dict[str, object]) -> None:
    given = {"event_id": EVENT_ID, "timestamp": TIMESTAMP, "body": BODY} | changed
    assert sign(read_secret(SECRET), **given) != SIGNATURE  # type: ignore[arg-type]  # as they came


def secret_of(length: int) -> str:
    return "whsec_" + base64.b64encode(bytes(range(length))).decode()


@pytest.mark.parametrize("length", [24, 32, 64])
def test_a_key_is_24_to_64_bytes(length: int) -> None:
    assert read_secret(secret_of(length)) == bytes(range(length))


@pytest.mark.parametrize(
    "secret",
    ["", "whsec_", secret_of(23), secret_of(65), secret_of(32).removeprefix("whsec_"), "whsec_ not base64 at all, no"],
    ids=["nothing", "prefix alone", "too short", "too long", "no prefix", "no base64"],
)
def test_anything_else_is_refused_and_not_repeated(secret: str) -> None:
    with pytest.raises(ValueError, match=r"^a webhook's secret is whsec_ and 24 to 64 bytes in base64$") as caught:
        read_secret(secret)
    assert caught.value.__cause__ is None
