"""Which messages are too large to be downloaded, learnt before any of them is.

Lives here: the search for them. Not here: what is read of them (``reading.py``).

One page of a search costs a quarter of one message, however many ids it answers; to ask each message for its size
would double the price of all. A search can lag behind the mail, so an answer's own size is looked at as well.
"""

from __future__ import annotations

from inbox_loop.errors import GmailUnreachable, MessageGone, UnreadableMessage
from inbox_loop.gmail.answers import NoConnection
from inbox_loop.gmail.bounds import Bounds
from inbox_loop.gmail.calls import Calls, accept_any
from inbox_loop.gmail.patience import patience_for_one_read
from inbox_loop.gmail.plan import LargeMessages
from inbox_loop.gmail.session import Call
from inbox_loop.gmail.wire import read_listing_page
from inbox_loop.loop.ports import MessageId

# The most that Google gives at once.
PAGE_SIZE = 500
# Newest first, so that 1,000 large messages are known. Of further ones the size shows in the answer.
MAX_PAGES = 2


def find_large(calls: Calls, larger_than: int, bounds: Bounds) -> LargeMessages:
    """Search for the messages of more than ``larger_than`` bytes (5 units a page, at most two).

    Where the search alone fails, what it has found so far is the answer: no message may wait for it. Raises what
    is about the whole mailbox.
    """
    found: list[MessageId] = []
    patience = patience_for_one_read(bounds)
    token: str | None = None
    try:
        for _ in range(MAX_PAGES):
            call = Call(
                "messages.list",
                {
                    "q": f"larger:{larger_than}",
                    "includeSpamTrash": True,
                    "maxResults": PAGE_SIZE,
                    "pageToken": token,
                },
            )
            page = read_listing_page(calls.execute(call, bounds, accept_any, patience))
            found += page.messages
            token = page.next_page
            if token is None:
                break
    except (GmailUnreachable, MessageGone, UnreadableMessage) as error:
        if isinstance(error, NoConnection):
            raise
    return LargeMessages(
        message_ids=frozenset(each.message_id for each in found),
        thread_ids=frozenset(each.thread_id for each in found),
    )
