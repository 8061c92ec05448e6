"""The check that runs over every answer of the ``simulator`` fixture notices what Google does not document."""

from __future__ import annotations

from typing import Any

import pytest
from fixtures.simulator import RESPONSES, AnswerCheck

from inbox_loop.simulator.app import Answer
from inbox_loop.simulator.quota import UNIT_COSTS

GOOD: dict[str, dict[str, Any]] = {
    "getProfile": {"emailAddress": "ann@example.com", "messagesTotal": 1, "threadsTotal": 1, "historyId": "12"},
    "messages.get": {"id": "1", "threadId": "1", "payload": {"partId": "", "body": {"size": 1, "data": "eA"}}},
    "history.list": {"history": [{"id": "1", "messages": [{"id": "1"}]}], "historyId": "18446744073709551615"},
}


def test_every_method_of_the_simulator_is_checked() -> None:
    assert set(RESPONSES) == set(UNIT_COSTS)


@pytest.mark.parametrize("method", sorted(GOOD))
def test_a_documented_answer_passes(method: str, answer_check: AnswerCheck) -> None:
    answer_check(Answer(method, GOOD[method]))
    assert answer_check.problems == []
    assert answer_check.checked == 1


@pytest.mark.parametrize(
    ("method", "wrong"),
    [
        ("getProfile", {"historyId": 12}),
        ("getProfile", {"invented": 1}),
        ("getProfile", {"messagesTotal": "1"}),
        ("messages.get", {"payload": {"body": {"data": "a+b/"}}}),
        ("messages.get", {"payload": {"parts": [{"headers": [{"key": "Subject"}]}]}}),
        ("messages.get", {"labelIds": []}),
        ("messages.get", {"internalDate": "2026-11-30"}),
        ("history.list", {"history": [{"id": "1", "messageAdded": []}]}),
    ],
)
def test_an_undocumented_answer_is_noticed(method: str, wrong: dict[str, Any], answer_check: AnswerCheck) -> None:
    answer_check(Answer(method, GOOD[method] | wrong))
    assert len(answer_check.problems) == 1
