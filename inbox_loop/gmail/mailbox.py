"""One Gmail mailbox, as the loop sees it.

Lives here: ``GoogleMailbox``, which keeps the promises of ``loop/ports.GmailMailbox``. Not here: tries and quota
(``calls.py``), reading of messages (``reading.py``), and Google's dicts (``wire.py``).
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

from inbox_loop.gmail.auth import Credentials
from inbox_loop.gmail.bounds import Bounds
from inbox_loop.gmail.calls import Calls
from inbox_loop.gmail.in_flight import run_in_flight
from inbox_loop.gmail.large import PAGE_SIZE, find_large
from inbox_loop.gmail.plan import LargeMessages, plan_reads
from inbox_loop.gmail.quota import Quota, method_costs
from inbox_loop.gmail.reading import ReadDownload, Reader
from inbox_loop.gmail.session import Call, Sessions
from inbox_loop.gmail.turns import Turns
from inbox_loop.gmail.wire import read_history_page, read_listing_page, read_profile
from inbox_loop.loop.ports import Fetched, GmailMailbox, HistoryPage, ListingPage, MessageId, Profile, Usage
from inbox_loop.settings import GmailSettings

# Each listens to what the others miss; see wire.read_history_page.
HISTORY_TYPES = ["messageAdded", "labelAdded", "labelRemoved"]


@dataclass(slots=True)
class _Pass:
    """A pass of one thread: when it ends, and what it has learnt."""

    bounds: Bounds
    large: LargeMessages | None = None
    """None until messages are fetched."""


class GoogleMailbox(GmailMailbox):
    """Reads one mailbox through Google's client. Thread-safe; quota and sign-in are shared by its threads.

    ``stop`` ends every wait and every call under way within a fraction of a second, with ``Stopped``. ``read_download``
    makes messages of what was downloaded.
    """

    def __init__(
        self,
        name: str,
        credentials: Credentials,
        settings: GmailSettings,
        stop: threading.Event,
        *,
        read_download: ReadDownload,
        backoff_base: float = 1.0,
    ) -> None:
        costs = method_costs(settings.method_costs)
        self._sessions = Sessions(settings.api_endpoint, settings.timeout_seconds)
        self._calls = Calls(
            name,
            sessions=self._sessions,
            credentials=credentials,
            quota=Quota(settings.units_per_minute, dearest=max(costs.values())),
            costs=costs,
            backoff_base=backoff_base,
        )
        self._credentials = credentials
        self._max_message_bytes = settings.max_message_bytes
        self._reader = Reader(self._calls, max_message_bytes=settings.max_message_bytes, read_download=read_download)
        self._costs = costs
        self._max_in_flight = settings.max_in_flight
        self._unbounded = Bounds(deadline=None, stops=(stop,))
        self._of_thread = threading.local()

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Bound a pass of this thread: inside, no call lasts past ``seconds`` from now; then ``DeadlineExceeded``."""
        outer = self._pass()
        self._of_thread.current = _Pass(outer.bounds.within(seconds))
        try:
            yield
        finally:
            self._of_thread.current = outer

    def find_sign_in(self) -> str:
        """A fingerprint of the sign-in in use, another one after a new sign-in. Asks nobody; raises ``NeedsAuth``."""
        return self._credentials.find_sign_in()

    def find_profile(self) -> Profile:
        """Address and current historyId (1 unit)."""
        return read_profile(self._calls.execute(Call("getProfile"), self._pass().bounds))

    def list_history(self, start: int, page: str | None) -> HistoryPage:
        """One page of changes strictly after ``start`` (2 units); raises ``HistoryExpired``.

        Not filtered by label: Google's filter drops mail that a rule of the user archived or labelled at once.
        """
        arguments = {
            "startHistoryId": str(start),
            "historyTypes": HISTORY_TYPES,
            "maxResults": PAGE_SIZE,
            "pageToken": page,
        }
        return read_history_page(self._calls.execute(Call("history.list", arguments), self._pass().bounds))

    def list_messages(self, query: str, page: str | None) -> ListingPage:
        """One page, at most 500 ids, of the messages that match ``query`` (5 units); spam and trash are left out."""
        arguments = {"q": query or None, "maxResults": PAGE_SIZE, "pageToken": page}
        return read_listing_page(self._calls.execute(Call("messages.list", arguments), self._pass().bounds))

    def fetch_messages(self, wanted: Sequence[MessageId]) -> Iterator[Fetched]:
        """Read them by the cheapest calls, several in flight; one ``Fetched`` for each id, in any order.

        Reads ahead by no more than what is in flight. A message that hangs uses no more than its share of the pass,
        and answers ``GmailUnreachable``. An error that is raised is about the whole mailbox; what was not yielded
        before it is for another pass. The first fetch of a pass asks for what is too large (5 units).
        """
        if not wanted:
            return
        current = self._pass()
        if current.large is None:
            current.large = find_large(self._calls, self._max_message_bytes, current.bounds)
        turns = Turns(plan_reads(wanted, self._costs, current.large))
        results = run_in_flight(self._reader.read, turns.take, current.bounds, at_most=self._max_in_flight)
        with closing(results):
            for answers in results:
                turns.put_first(answers.left_over)
                for fetched in answers.fetched:
                    turns.note(fetched)
                    yield fetched

    def usage(self) -> Usage:
        """Calls sent and quota units used so far, failed tries included."""
        return self._calls.usage()

    def close(self) -> None:
        """Close the connections; calls under way end first."""
        self._sessions.close()

    def _pass(self) -> _Pass:
        """The pass that this thread is in; a new one without an end when it is in none."""
        current: _Pass | None = getattr(self._of_thread, "current", None)
        return current or _Pass(self._unbounded)
