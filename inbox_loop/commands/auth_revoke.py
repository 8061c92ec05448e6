"""``inbox-loop auth revoke``: give a mailbox's sign-in back."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from inbox_loop.commands.options import ConfigOption, find_mailbox, read_settings
from inbox_loop.commands.show import print_line
from inbox_loop.commands.wiring import revoke_sign_in_of
from inbox_loop.errors import EXIT_FINE, EXIT_LOOK, UsageError


def revoke(
    context: typer.Context,
    *,
    mailbox: Annotated[str, typer.Option("--mailbox", help="The mailbox to sign out of.", metavar="NAME")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask first.")] = False,
    config: ConfigOption = None,
) -> int:
    """Let Google forget a mailbox's sign-in, and delete its token file.

    Google ends every sign-in of this account with the same OAuth client, on other machines as well. What is known of
    the mailbox stays: after a new sign-in it goes on from its cursor. Exit code 1 when you answer no.
    """
    settings = read_settings(context, config)
    chosen = find_mailbox(settings, mailbox)
    if not (yes or _is_agreed_to(mailbox)):
        print_line("Nothing was changed.")
        return EXIT_LOOK
    revoke_sign_in_of(chosen, timeout_seconds=settings.gmail.timeout_seconds)
    print_line(f"Signed out of {mailbox}. {chosen.token_file} is deleted.")
    return EXIT_FINE


def _is_agreed_to(mailbox: str) -> bool:
    if not sys.stdin.isatty():
        raise UsageError("There is no terminal to ask on.", hint="Say that you are sure: --yes.")
    return typer.confirm(f"Sign out of {mailbox} and delete its token file?")
