"""The address of a message in Gmail's web page. Pure: nothing is opened."""

from __future__ import annotations

from urllib.parse import quote


def gmail_url(account: str, thread_id: str) -> str:
    """A link a person can open to see the thread, signed in as ``account``.

    The account is named by its address, because ``/u/0/`` is another one for everybody. ``#all`` shows the thread
    wherever it is filed. Gmail documents no link by id; this form is what its page has understood for years.
    """
    return f"https://mail.google.com/mail/?authuser={quote(account, safe='@')}#all/{quote(thread_id, safe='')}"
