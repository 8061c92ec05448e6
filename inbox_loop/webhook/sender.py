"""The post: one signed HTTP request, and what came of it as a value.

Lives here: ``Sender``. Not here: how a post is cut off (``connection.py``), and what follows from an answer
(``loop/outbox.py``). The URL and the secret are in no error, log line or repr: both let others in.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from inbox_loop import __version__
from inbox_loop.loop.outbox_ports import Answer, Delivery, Trouble
from inbox_loop.webhook.address import read_address
from inbox_loop.webhook.connection import Bounds, post
from inbox_loop.webhook.payload import render_payload
from inbox_loop.webhook.signature import read_secret, sign

USER_AGENT = f"inbox-loop/{__version__}"

# The hundreds of a status that is a receipt: with one, nothing else of the answer matters.
SUCCESS = 2
# More than anyone is waited for; a longer number would not fit a length of time.
LONGEST_WAIT_SECONDS = 1_000_000

# In this order: what comes earlier is also of a kind that comes later.
_TROUBLES: tuple[tuple[type[Exception], Trouble], ...] = (
    (TimeoutError, Trouble.TIMEOUT),
    (socket.gaierror, Trouble.NAME_UNKNOWN),
    (UnicodeError, Trouble.NAME_UNKNOWN),
    (ssl.SSLCertVerificationError, Trouble.CERTIFICATE),
    (ssl.SSLEOFError, Trouble.CLOSED),
    (ssl.SSLError, Trouble.TLS),
    (ConnectionRefusedError, Trouble.REFUSED),
    (ConnectionError, Trouble.CLOSED),
    (OSError, Trouble.NETWORK),
    (http.client.HTTPException, Trouble.BAD_ANSWER),
)


class Sender:
    """``Post`` over HTTP. ``url`` is as ``read_address`` takes it, ``secret`` as ``read_secret`` does.

    A post ends within ``timeout_seconds``, whatever the receiver does. ``stop`` cuts all posts off.
    """

    def __init__(self, url: str, secret: str, *, timeout_seconds: float, stop: threading.Event) -> None:
        self._address = read_address(url)
        self._context = ssl.create_default_context() if self._address.secure else None
        self._key = read_secret(secret)
        self._timeout_seconds = timeout_seconds
        self._stop = stop

    def send(self, delivery: Delivery, at: datetime) -> Answer | Trouble:
        """Post it and answer what came. Raises ``Stopped``."""
        body = render_payload(delivery)
        timestamp = int(at.timestamp())
        event_id = str(delivery.event_id)
        headers = {
            "content-type": "application/json",
            "user-agent": USER_AGENT,
            "webhook-id": event_id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": sign(self._key, event_id=event_id, timestamp=timestamp, body=body),
            "connection": "close",
        }
        bounds = Bounds(time.monotonic() + self._timeout_seconds, self._stop)
        try:
            status, retry_after = post(self._address, self._context, body, headers, bounds)
        except tuple(kind for kind, _ in _TROUBLES) as error:
            return next(trouble for kind, trouble in _TROUBLES if isinstance(error, kind))
        return Answer(status, None if status // 100 == SUCCESS else read_retry_after(retry_after, at))


def read_retry_after(value: str | None, at: datetime) -> timedelta | None:
    """The wait a receiver asks for, in seconds or until a date; None when it asks for none that makes sense."""
    text = (value or "").strip()
    try:
        if text.isascii() and text.isdecimal():
            return timedelta(seconds=min(int(text), LONGEST_WAIT_SECONDS))
        until = parsedate_to_datetime(text)
    except (TypeError, ValueError, OverflowError):
        return None
    return max(until.replace(tzinfo=until.tzinfo or UTC) - at, timedelta())
