"""Faults on demand: what a server does wrong in the field, once or as often as asked for.

Lives here: ``Fault``, the list of those waiting, and what each makes of a reply. Not here: the sockets (``http.py``).
"""

from __future__ import annotations

import gzip
import json
import threading
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Literal

from inbox_loop.simulator.problems import ApiProblem
from inbox_loop.simulator.quota import UNIT_COSTS
from inbox_loop.simulator.reply import JSON_TYPE, Manner, Reply

Kind = Literal[
    "status", "delay", "drop", "drip", "garbage", "html", "truncated", "truncated_gzip", "reset", "hang", "wrong_id"
]
WRONG_ID = "1000000000000bad"


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of trouble, for calls that match.

    ``method`` is a name of ``quota.UNIT_COSTS``, ``token``, or ``*`` for all of the API. ``status`` with ``reason``
    answers Google's error; ``delay`` and ``drip`` take ``seconds`` (before the answer; between two bytes).
    """

    method: str
    kind: Kind = "status"
    status: int = 0
    """HTTP status of ``status``, ``html`` and ``garbage``; 0 is 503 for the first and 200 for the others."""
    reason: str = "backendError"
    message: str = "The service is currently unavailable."
    retry_after: float | None = None
    """Seconds for a Retry-After header."""
    address: str | None = None
    message_id: str | None = None
    """Only for this message, or the thread of this id."""
    times: int | None = 1
    """How many calls it hits; None for all."""
    skip: int = 0
    """How many matching calls pass before the first hit."""
    seconds: float = 0.1

    def matches(self, method: str, address: str | None, entity_id: str | None) -> bool:
        """Whether a call is one this fault is for."""
        return (
            (self.method == method or (self.method == "*" and method in UNIT_COSTS))
            and self.address in (None, address)
            and self.message_id in (None, entity_id)
        )


class Faults:
    """Faults waiting to happen; safe between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Fault] = []

    def add(self, fault: Fault) -> None:
        """Have this happen from now on."""
        with self._lock:
            self._waiting.append(fault)

    def clear(self) -> None:
        """Nothing goes wrong from now on."""
        with self._lock:
            self._waiting.clear()

    @property
    def waiting(self) -> tuple[Fault, ...]:
        """Those that have not hit as often as they should."""
        with self._lock:
            return tuple(self._waiting)

    def take(self, method: str, address: str | None, entity_id: str | None) -> Fault | None:
        """The first fault for this call, used up by one; None when all is well."""
        with self._lock:
            for n, fault in enumerate(self._waiting):
                if not fault.matches(method, address, entity_id):
                    continue
                if fault.skip:
                    self._waiting[n] = replace(fault, skip=fault.skip - 1)
                    continue
                if fault.times == 1:
                    del self._waiting[n]
                elif fault.times is not None:
                    self._waiting[n] = replace(fault, times=fault.times - 1)
                return fault
        return None


_NO_ANSWER = {"drop": Manner.DROP, "reset": Manner.RESET, "hang": Manner.HANG}
_NO_JSON = {
    "garbage": Reply(200, b"\x00\xff{not json", headers={"Content-Type": JSON_TYPE}),
    "html": Reply(
        200,
        b"<!DOCTYPE html><html><title>Sign in to the network</title><body>Please wait.</body></html>",
        headers={"Content-Type": "text/html; charset=UTF-8"},
    ),
}


def replaces_answer(fault: Fault) -> bool:
    """Whether the call never reaches the mailbox."""
    return fault.kind == "status" or fault.kind in _NO_ANSWER or fault.kind in _NO_JSON


def faulty_reply(fault: Fault) -> Reply:
    """The reply in place of the true one."""
    if fault.kind in _NO_ANSWER:
        return Reply(0, b"", manner=_NO_ANSWER[fault.kind])
    if fault.kind in _NO_JSON:
        return replace(_NO_JSON[fault.kind], status=fault.status or 200)
    status = fault.status or 503
    headers = {} if fault.retry_after is None else {"Retry-After": f"{fault.retry_after:g}"}
    if fault.method == "token":
        body = json.dumps({"error": fault.reason, "error_description": fault.message}).encode()
        return Reply(status, body, headers={**headers, "Content-Type": JSON_TYPE})
    return Reply.of_problem(ApiProblem(status, fault.reason, fault.message, headers=headers))


def spoil(fault: Fault, reply: Reply) -> Reply:
    """What the fault makes of a true reply."""
    match fault.kind:
        case "delay":
            return replace(reply, delay=fault.seconds)
        case "drip":
            return replace(reply, manner=Manner.DRIP, delay=fault.seconds)
        case "truncated":
            return replace(reply, manner=Manner.CUT)
        case "truncated_gzip":
            packed = gzip.compress(reply.body)
            return replace(
                reply, body=packed[: len(packed) // 2], headers={**reply.headers, "Content-Encoding": "gzip"}
            )
        case "wrong_id" if reply.status == HTTPStatus.OK:
            answer = json.loads(reply.body)
            return replace(reply, body=json.dumps({**answer, "id": WRONG_ID}).encode())
    return reply
