"""One pass over every mailbox that was asked for: what ``poll`` and ``reconcile`` have in common."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from inbox_loop.commands.endings import exit_code_of, print_endings, run_passes
from inbox_loop.commands.mailboxes import choose_mailboxes, open_mailboxes
from inbox_loop.commands.relay import announce_created
from inbox_loop.commands.signals import listening
from inbox_loop.commands.wiring import open_database
from inbox_loop.loop.mailbox import Mailbox
from inbox_loop.loop.report import PassReport
from inbox_loop.settings import Settings


def pass_over(
    settings: Settings, mailbox: str | None, one_pass: Callable[[Mailbox], PassReport], *, as_json: bool
) -> int:
    """Run ``one_pass`` over one or all configured mailboxes, side by side; print the endings; the exit code."""
    chosen = choose_mailboxes(settings, mailbox)
    with (
        listening() as requests,
        open_database(settings) as database,
        open_mailboxes(settings, chosen, database, requests.stop) as mailboxes,
    ):
        endings = run_passes({name: partial(one_pass, opened) for name, opened in mailboxes.items()})
        announce_created(database)
    print_endings(endings, as_json=as_json)
    return exit_code_of(endings)
