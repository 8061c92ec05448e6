"""``inbox-loop auth status``: whether each mailbox has a sign-in, whose, to what, and since when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import typer

from inbox_loop.commands.options import ConfigOption, JsonOption, read_settings
from inbox_loop.commands.show import in_words, moment, print_error, print_line, print_records, print_table
from inbox_loop.commands.wiring import find_accounts, find_sign_in
from inbox_loop.errors import EXIT_FINE, EXIT_PERSON, InboxLoopError, NeedsAuth
from inbox_loop.gmail.token_file import TokenFile
from inbox_loop.settings import MailboxSettings, Settings

# Of an app that is External and in Testing: https://developers.google.com/identity/protocols/oauth2#expiration
LIFE_IN_TESTING = timedelta(days=7)
_TRAP = (
    "While the OAuth app is External and in Testing, Google ends every sign-in 7 days after it was made. Put the app "
    '"In production", or make it Internal in a Workspace, and sign in once more.'
)
_SCOPE_PREFIX = "https://www.googleapis.com/auth/"
_COLUMNS = ("MAILBOX", "ACCOUNT", "SCOPES", "FILE AGE", "TOKEN FILE", "SIGN-IN")


@dataclass(frozen=True, slots=True)
class SignIn:
    """A mailbox's sign-in, as far as its token file and the database tell."""

    mailbox: MailboxSettings
    found: TokenFile | NeedsAuth
    account: str | None
    """The address it was last read as; None when it was not read yet, or the database can't be asked."""

    @property
    def trouble(self) -> NeedsAuth | None:
        """Why it can't be used."""
        return self.found if isinstance(self.found, NeedsAuth) else None

    @property
    def file(self) -> TokenFile | None:
        """Its token file, when it can be used."""
        return self.found if isinstance(self.found, TokenFile) else None

    @property
    def ends_in_testing_at(self) -> datetime | None:
        """When it would end if its OAuth app is External and in Testing; None for a service account."""
        if self.file is None or self.file.is_service_account:
            return None
        return self.file.changed_at + LIFE_IN_TESTING


def show_sign_ins(context: typer.Context, *, config: ConfigOption = None, as_json: JsonOption = False) -> int:
    """Look at the token file of every enabled mailbox: whose it is, what it allows, how old it is.

    Asks neither Gmail nor Google; a revoked sign-in shows at the next poll. Exit code 3 when one is missing or can't
    be used.
    """
    sign_ins = find_sign_ins(read_settings(context, config))
    if as_json:
        print_records(_record(sign_in) for sign_in in sign_ins)
    else:
        _print_sign_ins(sign_ins, datetime.now(UTC))
    return EXIT_PERSON if any(sign_in.trouble for sign_in in sign_ins) else EXIT_FINE


def find_sign_ins(settings: Settings) -> tuple[SignIn, ...]:
    """The sign-in of every enabled mailbox."""
    accounts = _find_accounts(settings)
    enabled = (mailbox for mailbox in settings.mailboxes if mailbox.enabled)
    return tuple(SignIn(mailbox, find_sign_in(mailbox), accounts.get(mailbox.name)) for mailbox in enabled)


def _find_accounts(settings: Settings) -> Mapping[str, str]:
    """The accounts; none when the database can't be asked, which is said and keeps nobody from looking at files."""
    try:
        return find_accounts(settings)
    except InboxLoopError as trouble:
        print_error(f"accounts are not shown: {trouble}", trouble.hint)
        return {}


def _record(sign_in: SignIn) -> dict[str, object]:
    file, trouble = sign_in.file, sign_in.trouble
    return {
        "mailbox": sign_in.mailbox.name,
        "account": _account(sign_in),
        "token_file": str(sign_in.mailbox.token_file),
        "usable": trouble is None,
        "kind": None if file is None else "service account" if file.is_service_account else "user",
        "scopes": None if file is None else list(file.scopes),
        "file_changed_at": file and file.changed_at,
        "ends_in_testing_at": sign_in.ends_in_testing_at,
        "message": str(trouble) if trouble else None,
        "hint": trouble.hint if trouble else None,
    }


def _account(sign_in: SignIn) -> str | None:
    return sign_in.account or (sign_in.file.subject if sign_in.file else None)


def _print_sign_ins(sign_ins: tuple[SignIn, ...], now: datetime) -> None:
    print_table(_COLUMNS, (_row(sign_in, now) for sign_in in sign_ins))
    endings = [(each.mailbox.name, end) for each in sign_ins if (end := each.ends_in_testing_at) is not None]
    if endings:
        print_line()
        print_line(_TRAP)
    for name, end in endings:
        if end > now:
            print_line(f"{name}: in such an app this sign-in would end at {moment(end)}.")


def _row(sign_in: SignIn, now: datetime) -> tuple[str, ...]:
    file, trouble = sign_in.file, sign_in.trouble
    return (
        sign_in.mailbox.name,
        _account(sign_in) or "-",
        " ".join(scope.removeprefix(_SCOPE_PREFIX) for scope in file.scopes) or "-" if file else "-",
        in_words(max(now - file.changed_at, timedelta())) if file else "-",
        str(sign_in.mailbox.token_file),
        f"{trouble} {trouble.hint}".strip() if trouble else "ready",
    )
