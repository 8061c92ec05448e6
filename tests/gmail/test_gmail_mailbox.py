"""Profile, history and listing through Google's client, against the simulator."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from fixtures.gmail import ADDRESS
from structlog.testing import capture_logs

from inbox_loop.errors import (
    DeadlineExceeded,
    GmailParked,
    GmailRefused,
    GmailThrottled,
    GmailUnreachable,
    HistoryExpired,
    InboxLoopError,
    NeedsAuth,
    Stopped,
)
from inbox_loop.gmail.mailbox import GoogleMailbox
from inbox_loop.loop.ports import GmailMailbox, MessageId, Usage
from inbox_loop.simulator.faults import Fault, Kind
from inbox_loop.simulator.server import Simulator

MAIL = b"From: Ada <ada@example.com>\r\nSubject: Hello\r\n\r\nIs the heating on?\r\n"


def ids(messages: tuple[MessageId, ...]) -> set[str]:
    return {each.message_id for each in messages}


def all_history(mailbox: GoogleMailbox, start: int) -> tuple[set[str], set[str], int, int]:
    """Ids added and arrived, the position reached, and the number of pages."""
    added: set[str] = set()
    arrived: set[str] = set()
    page, pages = None, 0
    while True:
        got = mailbox.list_history(start, page)
        added |= ids(got.added)
        arrived |= ids(got.arrived)
        pages += 1
        if got.next_page is None:
            return added, arrived, got.history_id, pages
        page = got.next_page


def test_it_is_what_the_loop_asks_for(mailbox: GoogleMailbox) -> None:
    as_the_loop_sees_it: GmailMailbox = mailbox
    assert as_the_loop_sees_it.usage() == Usage(0, 0)


def test_the_profile_names_the_address_and_the_position(simulator: Simulator, mailbox: GoogleMailbox) -> None:
    simulator.account(ADDRESS).deliver(MAIL)

    profile = mailbox.find_profile()

    assert (profile.address, profile.history_id) == (ADDRESS, simulator.account(ADDRESS).history_id)
    assert mailbox.usage() == Usage(api_calls=1, quota_units=1)


def test_history_names_what_is_new_and_what_came_back(simulator: Simulator, mailbox: GoogleMailbox) -> None:
    account = simulator.account(ADDRESS)
    rescued = account.deliver(MAIL, labels=("SPAM",)).message_id
    restored = account.deliver(MAIL, labels=("TRASH",)).message_id
    archived = account.deliver(MAIL, labels=("UNREAD",)).message_id
    starred = account.deliver(MAIL).message_id
    start = account.history_id
    new = account.deliver(MAIL, labels=("Filed by a rule",)).message_id
    account.relabel(rescued, remove=("SPAM",))
    account.relabel(restored, remove=("TRASH",))
    account.relabel(archived, add=("INBOX",))
    account.relabel(starred, add=("STARRED",), remove=("UNREAD",))

    added, arrived, reached, _ = all_history(mailbox, start)

    assert (added, arrived) == ({new}, {rescued, restored, archived})
    assert reached == account.history_id


def test_more_than_500_changes_come_page_by_page_from_one_start(simulator: Simulator, mailbox: GoogleMailbox) -> None:
    account = simulator.account(ADDRESS)
    start = account.history_id
    delivered = {account.deliver(MAIL).message_id for _ in range(1001)}

    added, _, reached, pages = all_history(mailbox, start)

    assert (added, reached) == (delivered, account.history_id)
    assert pages >= 3
    asked = [call.query for call in simulator.calls if call.method == "history.list"]
    assert all(f"startHistoryId={start}" in query and "labelId" not in query for query in asked)


def test_an_expired_start_is_told_as_such_and_the_mailbox_is_healthy(
    simulator: Simulator, mailbox: GoogleMailbox
) -> None:
    account = simulator.account(ADDRESS)
    start = account.history_id
    account.deliver(MAIL)
    account.expire_history()

    with pytest.raises(HistoryExpired):
        mailbox.list_history(start, None)
    assert mailbox.list_history(mailbox.find_profile().history_id, None).added == ()


def test_a_listing_leaves_out_spam_and_trash_and_passes_the_query_on(
    simulator: Simulator, mailbox: GoogleMailbox
) -> None:
    account = simulator.account(ADDRESS)
    kept = account.deliver(MAIL).message_id
    account.deliver(MAIL, labels=("SPAM",))
    account.deliver(MAIL, labels=("TRASH",))
    account.deliver(MAIL.replace(b"ada@", b"bob@"))

    assert ids(mailbox.list_messages("from:ada@example.com", None).messages) == {kept}
    assert len(mailbox.list_messages("", None).messages) == 2


def test_a_listing_of_more_than_500_comes_page_by_page(simulator: Simulator, mailbox: GoogleMailbox) -> None:
    account = simulator.account(ADDRESS)
    delivered = {account.deliver(MAIL).message_id for _ in range(501)}

    first = mailbox.list_messages("", None)
    second = mailbox.list_messages("", first.next_page)

    assert (len(first.messages), len(second.messages), second.next_page) == (500, 1, None)
    assert ids(first.messages) | ids(second.messages) == delivered


# --- tries ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        *(Fault("getProfile", status=status) for status in (500, 502, 503, 504)),
        *(
            Fault("getProfile", kind=kind)
            for kind in ("drop", "reset", "html", "garbage", "truncated", "truncated_gzip")
        ),
        Fault("getProfile", status=429, reason="rateLimitExceeded"),
        Fault("getProfile", status=403, reason="userRateLimitExceeded", retry_after=0.02),
        Fault("getProfile", status=401, reason="authError"),
        Fault("token", status=502),
    ],
    ids=lambda fault: f"{fault.method}-{fault.kind}-{fault.status}",
)
def test_passing_trouble_is_tried_again(simulator: Simulator, mailbox: GoogleMailbox, fault: Fault) -> None:
    simulator.faults.add(fault)

    assert mailbox.find_profile().address == ADDRESS
    assert simulator.faults.waiting == ()


@pytest.mark.parametrize(
    ("fault", "expected", "calls"),
    [
        (Fault("getProfile", status=503, times=None), GmailUnreachable, 4),
        (Fault("getProfile", kind="html", times=None), GmailUnreachable, 4),
        (Fault("getProfile", kind="reset", times=None), GmailUnreachable, 4),
        (Fault("getProfile", status=429, times=None), GmailThrottled, 8),
        (Fault("getProfile", status=403, reason="dailyLimitExceeded", times=None), GmailParked, 1),
        (Fault("getProfile", status=403, reason="insufficientPermissions", times=None), GmailRefused, 1),
        (Fault("getProfile", status=403, reason="accessNotConfigured", times=None), GmailRefused, 1),
        (Fault("getProfile", status=403, reason="domainPolicy", times=None), GmailRefused, 1),
        (Fault("getProfile", status=400, reason="failedPrecondition", times=None), GmailRefused, 1),
        (Fault("getProfile", status=401, reason="authError", times=None), NeedsAuth, 2),
    ],
    ids=lambda value: f"{value.kind}-{value.status}-{value.reason}" if isinstance(value, Fault) else None,
)
def test_lasting_trouble_is_raised_after_its_tries(
    simulator: Simulator,
    open_mailbox: Callable[..., GoogleMailbox],
    fault: Fault,
    expected: type[InboxLoopError],
    calls: int,
) -> None:
    simulator.faults.add(fault)

    with pytest.raises(expected) as caught:
        open_mailbox(backoff_base=0.001).find_profile()

    assert isinstance(caught.value, expected)
    assert sum(call.method == "getProfile" for call in simulator.calls) == calls


def test_a_revoked_sign_in_needs_a_person_and_a_new_one_goes_on_by_itself(
    simulator: Simulator, mailbox: GoogleMailbox, token_file: Path
) -> None:
    mailbox.find_profile()
    simulator.revoke(ADDRESS)

    with pytest.raises(NeedsAuth, match="invalid_grant") as caught:
        mailbox.find_profile()
    assert "auth login --mailbox desk" in caught.value.hint

    simulator.token_file(ADDRESS, token_file)
    assert mailbox.find_profile().address == ADDRESS


def test_an_access_token_that_ends_early_is_renewed_once(simulator: Simulator, mailbox: GoogleMailbox) -> None:
    mailbox.find_profile()
    simulator.tokens.expire_access(ADDRESS)
    simulator.calls.clear()

    mailbox.find_profile()

    assert [call.method for call in simulator.calls] == ["getProfile", "token", "getProfile"]


def test_nobody_listening_is_passing_trouble(open_mailbox: Callable[..., GoogleMailbox]) -> None:
    mailbox = open_mailbox(api_endpoint="http://127.0.0.1:1", backoff_base=0.001)

    with pytest.raises(GmailUnreachable, match="refused"):
        mailbox.find_profile()


def test_a_throttle_is_waited_out_as_told_and_logged_once(
    simulator: Simulator, open_mailbox: Callable[..., GoogleMailbox]
) -> None:
    mailbox = open_mailbox(backoff_base=0.001)
    simulator.faults.add(Fault("getProfile", status=429, retry_after=0.1, times=3))

    with capture_logs() as events:
        mailbox.find_profile()

    asked = [call.at for call in simulator.calls if call.method == "getProfile"]
    assert all(later - earlier >= 0.1 for earlier, later in pairwise(asked))
    assert [(e["event"], e["mailbox"], e["method"], e["wait_seconds"]) for e in events] == [
        ("gmail.throttled", "desk", "getProfile", 0.1)
    ]


def test_a_second_throttle_after_a_success_is_logged_again(simulator: Simulator, mailbox: GoogleMailbox) -> None:
    with capture_logs() as events:
        for _ in range(2):
            simulator.faults.add(Fault("getProfile", status=429))
            mailbox.find_profile()

    assert [event["event"] for event in events] == ["gmail.throttled"] * 2


def test_every_try_counts_as_used(simulator: Simulator, mailbox: GoogleMailbox) -> None:
    simulator.faults.add(Fault("messages.list", status=503))
    mailbox.list_messages("", None)

    assert mailbox.usage() == Usage(api_calls=2, quota_units=10)


# --- the end of a pass -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["hang", "drip"])
def test_a_server_that_never_finishes_is_cut_off_at_the_deadline(
    simulator: Simulator, mailbox: GoogleMailbox, kind: Kind
) -> None:
    simulator.faults.add(Fault("getProfile", kind=kind, seconds=0.02))

    with mailbox.within(0.3), pytest.raises(DeadlineExceeded):
        mailbox.find_profile()
    assert mailbox.find_profile().address == ADDRESS


def test_a_server_that_sends_nothing_is_given_up_after_the_timeout(
    simulator: Simulator, open_mailbox: Callable[..., GoogleMailbox]
) -> None:
    simulator.faults.add(Fault("getProfile", kind="hang", times=None))

    with pytest.raises(GmailUnreachable, match="in time"):
        open_mailbox(timeout_seconds=0.1, backoff_base=0.001).find_profile()


def test_a_stop_cuts_off_a_call_under_way(simulator: Simulator, mailbox: GoogleMailbox, stop: threading.Event) -> None:
    simulator.faults.add(Fault("getProfile", kind="hang"))
    threading.Timer(0.1, stop.set).start()

    with pytest.raises(Stopped):
        mailbox.find_profile()


def test_a_throttle_longer_than_the_pass_is_raised_at_once_and_still_holds_in_the_next(
    simulator: Simulator, mailbox: GoogleMailbox
) -> None:
    simulator.faults.add(Fault("getProfile", status=429, retry_after=3600))

    for _ in range(2):
        with mailbox.within(5), pytest.raises(GmailThrottled) as caught:
            mailbox.find_profile()
        assert caught.value.retry_after == pytest.approx(3600, abs=5)
    assert sum(call.method == "getProfile" for call in simulator.calls) == 1


def test_passing_trouble_that_outlasts_the_pass_ends_it(
    simulator: Simulator, open_mailbox: Callable[..., GoogleMailbox]
) -> None:
    simulator.faults.add(Fault("getProfile", status=503, times=None))
    mailbox = open_mailbox(backoff_base=30.0)

    with mailbox.within(5), pytest.raises(DeadlineExceeded, match="503"):
        mailbox.find_profile()


def test_an_inner_pass_can_not_outlast_the_outer_and_leaving_it_restores_the_outer(
    simulator: Simulator, mailbox: GoogleMailbox
) -> None:
    simulator.faults.add(Fault("getProfile", kind="hang"))

    with mailbox.within(0.2):
        with pytest.raises(DeadlineExceeded), mailbox.within(60):
            mailbox.find_profile()
        with pytest.raises(DeadlineExceeded):
            mailbox.find_profile()
    assert mailbox.find_profile().address == ADDRESS


def test_the_deadline_of_one_thread_is_not_that_of_another(mailbox: GoogleMailbox) -> None:
    answered: list[str] = []
    with mailbox.within(0.0):
        thread = threading.Thread(target=lambda: answered.append(mailbox.find_profile().address))
        thread.start()
        thread.join(5)
    assert answered == [ADDRESS]
