"""From a request to a reply, without a socket.

Lives here: the order of checks (path, token, fault, quota, endpoint) and the record of calls. Not here: the sign-in
pages (``signin.py``), reading requests and writing replies (``http.py``), starting and stopping (``server.py``).
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from inbox_loop.simulator.calls import Call
from inbox_loop.simulator.faults import Fault, Faults, faulty_reply, replaces_answer, spoil
from inbox_loop.simulator.fields import apply_mask, parse_mask
from inbox_loop.simulator.oauth import Tokens
from inbox_loop.simulator.parameters import Parameters
from inbox_loop.simulator.problems import ApiProblem, delegation_denied, failed_precondition, unauthenticated
from inbox_loop.simulator.quota import UNIT_COSTS, UnitWindow, throttled
from inbox_loop.simulator.reply import JSON_TYPE, Reply
from inbox_loop.simulator.request import Request
from inbox_loop.simulator.routes import Target, find_target
from inbox_loop.simulator.signin import SignIn
from inbox_loop.simulator.spool import Spool
from inbox_loop.simulator.store import Account


@dataclass(frozen=True, slots=True)
class Answer:
    """A true answer of the API, as handed to an observer: the method's short name and the JSON value."""

    method: str
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The reply to one request, and what the record says of it."""

    method: str
    reply: Reply
    address: str | None = None
    entity_id: str | None = None
    units: int = 0
    is_throttled: bool = False


class App:
    """The simulator's state and its answers; safe between threads."""

    def __init__(self, spool: Spool, *, units_per_minute: int | None, observe: Callable[[Answer], None] | None) -> None:
        self.faults = Faults()
        self.tokens = Tokens(time.monotonic)
        self.calls: list[Call] = []
        self.units_per_minute = units_per_minute
        self._accounts: dict[str, Account] = {}
        self._sign_in = SignIn(self.tokens, lambda: next(iter(self._accounts), "me@example.com"))
        self._spool = spool
        self._observe = observe
        self._windows: dict[str, UnitWindow] = {}
        self._throttles = 0
        self._lock = threading.Lock()

    def account(self, address: str) -> Account:
        """The mailbox of this address, made when it is new."""
        with self._lock:
            if address not in self._accounts:
                self._windows[address] = UnitWindow()
                self._accounts[address] = Account(address, self._spool, lambda: datetime.now(UTC))
            return self._accounts[address]

    def reply(self, request: Request) -> Reply:
        """Answer one request and add it to the record."""
        began = time.monotonic()
        outcome = self._outcome(request, began)
        call = Call(
            method=outcome.method,
            address=outcome.address,
            entity_id=outcome.entity_id,
            query=request.query if outcome.address else "",  # a sign-in's query holds codes
            units=outcome.units,
            status=outcome.reply.status,
            at=began,
            seconds=time.monotonic() - began,
            is_throttled=outcome.is_throttled,
        )
        self.calls.append(call)
        return outcome.reply

    def _outcome(self, request: Request, now: float) -> _Outcome:
        page = self._sign_in.find_page(request.path)
        if page is not None:
            return self._with_fault(page, None, None, lambda: _Outcome(page, self._sign_in.reply(page, request)))
        try:
            target = find_target(request.verb, request.path)
        except ApiProblem as problem:
            return _Outcome("unknown", Reply.of_problem(problem))
        method, entity_id = target.route.method, target.ids[0] if target.ids else None
        try:
            account = self._authorized(request, target)
        except ApiProblem as problem:
            return _Outcome(method, Reply.of_problem(problem), entity_id=entity_id)
        return self._with_fault(
            method, account.address, entity_id, lambda: self._within_quota(request, target, account, now)
        )

    def _authorized(self, request: Request, target: Target) -> Account:
        """The mailbox the token opens; raises Gmail's 401, 403 or 400."""
        address = self.tokens.find_address(request.bearer)
        if address is None:
            raise unauthenticated()
        if not address:
            raise failed_precondition()
        if target.user not in ("me", address):
            raise delegation_denied(target.user)
        return self.account(address)

    def _with_fault(
        self, method: str, address: str | None, entity_id: str | None, answer: Callable[[], _Outcome]
    ) -> _Outcome:
        """The true answer, or what a fault that waits for this call makes of it."""
        fault: Fault | None = self.faults.take(method, address, entity_id)
        if fault is None:
            return answer()
        if replaces_answer(fault):
            return _Outcome(method, faulty_reply(fault), address, entity_id)
        outcome = answer()
        return _Outcome(
            method, spoil(fault, outcome.reply), address, entity_id, outcome.units, is_throttled=outcome.is_throttled
        )

    def _within_quota(self, request: Request, target: Target, account: Account, now: float) -> _Outcome:
        method, entity_id = target.route.method, target.ids[0] if target.ids else None
        units, limit = UNIT_COSTS[method], self.units_per_minute
        if limit is not None:
            wait = self._windows[account.address].spend(units, limit=limit, now=now)
            if wait > 0:
                self._throttles += 1
                problem = throttled(wait, count=self._throttles, moment=datetime.now(UTC))
                return _Outcome(method, Reply.of_problem(problem), account.address, entity_id, is_throttled=True)
        try:
            reply = self._answer(request, target, account)
        except ApiProblem as problem:
            reply = Reply.of_problem(problem)
        return _Outcome(method, reply, account.address, entity_id, units)

    def _answer(self, request: Request, target: Target, account: Account) -> Reply:
        parameters = Parameters.parse(request.query, target.route.parameters)
        mask = parse_mask(parameters.text("fields")) if parameters.text("fields") else {}
        body = apply_mask(target.route.endpoint(account, target.ids, parameters), mask)
        if self._observe is not None:
            self._observe(Answer(target.route.method, body))
        return Reply(200, json.dumps(body).encode(), headers={"Content-Type": JSON_TYPE})
