"""``inbox-loop auth login``: sign in to a mailbox."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from inbox_loop.commands.options import ConfigOption, find_mailbox, read_settings
from inbox_loop.commands.show import print_line
from inbox_loop.commands.wiring import sign_in_to

CLIENT_FILE = "client.json"
_WAIT_SECONDS = 600.0


def log_in(
    context: typer.Context,
    *,
    mailbox: Annotated[str, typer.Option("--mailbox", help="The mailbox to sign in to.", metavar="NAME")],
    client_secrets: Annotated[
        Path | None,
        typer.Option(
            "--client-secrets",
            help=f"The OAuth client's JSON from Google Cloud. Default: {CLIENT_FILE} beside the token file.",
            metavar="FILE",
        ),
    ] = None,
    port: Annotated[
        int, typer.Option("--port", help="Local port that Google's answer comes to. 0: any free one.", min=0, max=65535)
    ] = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address to open.")] = False,
    config: ConfigOption = None,
) -> None:
    """Sign in to a mailbox with a browser, and keep the sign-in in its token file.

    Without a browser on this machine: choose a --port, forward it by ssh -L from the machine that has one, and open
    the printed address there. A running daemon takes a new sign-in up by itself.
    """
    settings = read_settings(context, config)
    token_file = find_mailbox(settings, mailbox).token_file
    sign_in_to(
        client_secrets or token_file.with_name(CLIENT_FILE),
        token_file,
        port=port,
        open_browser=not no_browser,
        timeout_seconds=_WAIT_SECONDS,
        show_url=lambda url: print_line(f"Open this address to sign in: {url}"),
    )
    print_line(f"Signed in. The sign-in is kept in {token_file}.")
