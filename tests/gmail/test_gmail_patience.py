"""Messages that hang: each uses up its own share of the pass, and the others are read."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from fixtures.gmail import ADDRESS

from inbox_loop.errors import DeadlineExceeded, GmailUnreachable, InboxLoopError, Stopped
from inbox_loop.gmail.bounds import Bounds
from inbox_loop.gmail.mailbox import GoogleMailbox
from inbox_loop.gmail.patience import SHORTEST_SECONDS, Patience, StillWaiting, patience_for_one_read
from inbox_loop.loop.ports import Fetched, MessageId
from inbox_loop.message.model import Message
from inbox_loop.settings import GmailSettings, PollSettings
from inbox_loop.simulator.faults import Fault, Kind
from inbox_loop.simulator.server import Simulator

# The time of the default settings runs so many times faster here.
FASTER = 40
DEADLINE_SECONDS = PollSettings().deadline_seconds / FASTER


@pytest.fixture
def open_fast(
    open_mailbox: Callable[..., GoogleMailbox], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., GoogleMailbox]:
    """Opens the mailbox with the default proportions of all times."""
    monkeypatch.setattr("inbox_loop.gmail.patience.SHORTEST_SECONDS", SHORTEST_SECONDS / FASTER)
    timeout_seconds = GmailSettings().timeout_seconds / FASTER
    return lambda **changed: open_mailbox(timeout_seconds=timeout_seconds, backoff_base=1 / FASTER, **changed)


def deliver(simulator: Simulator, count: int, thread_id: str | None = None) -> list[MessageId]:
    account = simulator.account(ADDRESS)
    raw = b"From: ada@example.com\r\nSubject: Hello\r\n\r\nText.\r\n"
    delivered = (account.deliver(raw, thread_id=thread_id) for _ in range(count))
    return [MessageId(each.message_id, each.thread_id) for each in delivered]


def spoil(simulator: Simulator, messages: list[MessageId], kind: Kind = "hang") -> None:
    for each in messages:
        simulator.faults.add(Fault("messages.get", kind=kind, message_id=each.message_id, times=None, seconds=0.05))


def read(mailbox: GoogleMailbox, wanted: list[MessageId]) -> dict[str, Message | InboxLoopError]:
    with mailbox.within(DEADLINE_SECONDS):
        return {fetched.message_id: fetched.result for fetched in mailbox.fetch_messages(wanted)}


def unread(answers: dict[str, Message | InboxLoopError]) -> set[str]:
    failed = {each for each, result in answers.items() if not isinstance(result, Message)}
    assert all(isinstance(answers[each], GmailUnreachable) for each in failed)
    return failed


@pytest.mark.parametrize("kind", ["hang", "drip"])
@pytest.mark.parametrize(("hanging", "good"), [(4, 3), (8, 30)])
def test_the_oldest_messages_hang_and_all_others_are_read_in_one_pass(
    simulator: Simulator,
    open_fast: Callable[..., GoogleMailbox],
    kind: Kind,
    hanging: int,
    good: int,
) -> None:
    wanted = deliver(simulator, hanging + good)
    spoil(simulator, wanted[:hanging], kind)

    answers = read(open_fast(), wanted)

    assert answers.keys() == {each.message_id for each in wanted}
    assert unread(answers) == {each.message_id for each in wanted[:hanging]}


@pytest.mark.parametrize("max_in_flight", [1, 4])
def test_when_every_message_hangs_the_mailbox_is_unreachable_before_the_pass_is_over(
    simulator: Simulator, open_fast: Callable[..., GoogleMailbox], max_in_flight: int
) -> None:
    wanted = deliver(simulator, 12)
    spoil(simulator, wanted)
    mailbox = open_fast(max_in_flight=max_in_flight)

    answered: list[Fetched] = []
    with mailbox.within(DEADLINE_SECONDS), pytest.raises(GmailUnreachable):
        answered.extend(mailbox.fetch_messages(wanted))

    assert unread({each.message_id: each.result for each in answered}) == {each.message_id for each in answered}
    assert len(answered) == 4


def test_a_thread_that_hangs_is_read_message_by_message(
    simulator: Simulator, open_fast: Callable[..., GoogleMailbox]
) -> None:
    thread_id = deliver(simulator, 1)[0].thread_id
    wanted = deliver(simulator, 4, thread_id)
    simulator.faults.add(Fault("threads.get", kind="hang", times=None))
    spoil(simulator, wanted[:1])

    answers = read(open_fast(), wanted)

    assert answers.keys() == {each.message_id for each in wanted}
    assert unread(answers) == {wanted[0].message_id}


def test_waiting_for_quota_is_not_held_against_a_message(
    simulator: Simulator, open_fast: Callable[..., GoogleMailbox]
) -> None:
    wanted = deliver(simulator, 2)
    units_per_minute = 6000
    mailbox = open_fast(units_per_minute=units_per_minute, method_costs={"messages.get": 100})
    wait_seconds = 100 * 60 / units_per_minute

    with mailbox.within(2 * wait_seconds):
        answers = {fetched.message_id: fetched.result for fetched in mailbox.fetch_messages(wanted)}

    assert answers.keys() == {each.message_id for each in wanted}
    assert unread(answers) == set()


def test_patience_that_runs_out_is_not_the_end_of_the_pass(bounds: Bounds) -> None:
    patience = Patience(0.02)
    with patience.spending(bounds.within(60)) as limited:
        threading.Event().wait(0.03)
    with pytest.raises(StillWaiting), patience.spending(bounds.within(60)) as limited:
        limited.check()

    assert patience.seconds_left <= 0


def test_the_end_of_the_pass_is_not_held_against_a_message(bounds: Bounds, stop: threading.Event) -> None:
    with pytest.raises(DeadlineExceeded), Patience(60).spending(bounds.within(-1)) as limited:
        limited.check()

    stop.set()
    with pytest.raises(Stopped), Patience(60).spending(bounds) as limited:
        limited.check()


def test_each_read_may_take_a_quarter_of_what_is_left_of_its_pass_but_some_seconds_at_least(bounds: Bounds) -> None:
    assert patience_for_one_read(bounds.within(120)).seconds_left == pytest.approx(30, abs=1)
    assert patience_for_one_read(bounds.within(40)).seconds_left == pytest.approx(10, abs=1)
    assert patience_for_one_read(bounds.within(1)).seconds_left == SHORTEST_SECONDS
