"""``inbox-loop auth status``: whether each mailbox has a sign-in."""

from __future__ import annotations

from dataclasses import dataclass

import typer

from inbox_loop.commands.options import ConfigOption, JsonOption, read_settings
from inbox_loop.commands.show import print_records, print_table
from inbox_loop.commands.wiring import find_sign_in_trouble
from inbox_loop.errors import EXIT_FINE, EXIT_PERSON, NeedsAuth
from inbox_loop.settings import MailboxSettings, Settings


@dataclass(frozen=True, slots=True)
class SignIn:
    """Whether a mailbox has a sign-in that can be used, as far as its file tells."""

    mailbox: str
    token_file: str
    trouble: NeedsAuth | None

    def record(self) -> dict[str, object]:
        """As JSON."""
        return {
            "mailbox": self.mailbox,
            "token_file": self.token_file,
            "usable": self.trouble is None,
            "message": str(self.trouble) if self.trouble else None,
            "hint": self.trouble.hint if self.trouble else None,
        }

    def row(self) -> tuple[str, ...]:
        """As a table's row."""
        words = f"{self.trouble} {self.trouble.hint}".strip() if self.trouble else "ready"
        return (self.mailbox, self.token_file, words)


def show_sign_ins(context: typer.Context, *, config: ConfigOption = None, as_json: JsonOption = False) -> int:
    """Look at the token file of every enabled mailbox. Asks nobody; a revoked sign-in shows at the next poll.

    Exit code 3 when one is missing or can't be used.
    """
    sign_ins = find_sign_ins(read_settings(context, config))
    if as_json:
        print_records(sign_in.record() for sign_in in sign_ins)
    else:
        print_table(("MAILBOX", "TOKEN FILE", "SIGN-IN"), (sign_in.row() for sign_in in sign_ins))
    return EXIT_PERSON if any(sign_in.trouble for sign_in in sign_ins) else EXIT_FINE


def find_sign_ins(settings: Settings) -> tuple[SignIn, ...]:
    """The sign-in of every enabled mailbox."""
    return tuple(_find_sign_in(mailbox) for mailbox in settings.mailboxes if mailbox.enabled)


def _find_sign_in(mailbox: MailboxSettings) -> SignIn:
    return SignIn(mailbox.name, str(mailbox.token_file), find_sign_in_trouble(mailbox))
