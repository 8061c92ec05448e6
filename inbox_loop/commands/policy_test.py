"""``inbox-loop policy test``: what the policy would make of messages. Changes nothing, and needs no Postgres."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from inbox_loop.commands.mailboxes import list_enabled, open_gmail, open_reader
from inbox_loop.commands.options import ConfigOption, JsonOption, MailboxOption, find_mailbox, read_settings
from inbox_loop.commands.policy_mail import list_mail
from inbox_loop.commands.policy_reading import read_policy
from inbox_loop.commands.policy_trial import UNREADABLE, Judge, Trial, note_failure, print_trial_records, print_trials
from inbox_loop.commands.signals import listening
from inbox_loop.errors import EXIT_FINE, EXIT_LOOK, UsageError
from inbox_loop.gmail.wire import Download
from inbox_loop.loop.ports import Fetched
from inbox_loop.message.model import Message
from inbox_loop.settings import MailboxSettings, Settings

# As many as Gmail lists at once.
MOST = 500


def try_policy(
    context: typer.Context,
    *,
    mail: Annotated[
        Path | None,
        typer.Option("--mail", metavar="PATH", help="Mail on disk: an mbox, a Maildir, a folder of .eml, one .eml."),
    ] = None,
    last: Annotated[
        int | None,
        typer.Option("--last", metavar="N", help="The newest N messages of the mailbox, from Gmail.", min=1, max=MOST),
    ] = None,
    mailbox: MailboxOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> int:
    """Show what the policy and its rules would make of messages. Changes nothing.

    Mail on disk is taken as if it had come to the inbox, unless it says otherwise, as a Maildir and Google Takeout do.
    Without --mailbox it is tried for the only mailbox, or for none where there are several. How much one sender sends
    in an hour, and which tasks were deleted, is not looked at. Exit code 1 when a message could not be read.
    """
    if (mail is None) == (last is None):
        raise UsageError("say which messages to test", hint="Either --mail PATH or --last N.")
    settings = read_settings(context, config)
    if mail is not None:
        trials = _try_mail(settings, mail, _find_mailbox(settings, mailbox))
    else:
        trials = _try_newest(settings, _choose_mailbox(settings, mailbox), last or MOST)
    return _show(trials, as_json=as_json)


def _show(trials: Iterator[Trial], *, as_json: bool) -> int:
    shown = list(trials)
    if as_json:
        print_trial_records(shown)
    else:
        print_trials(shown)
    return EXIT_LOOK if any(trial.decision == UNREADABLE for trial in shown) else EXIT_FINE


def _find_mailbox(settings: Settings, name: str | None) -> MailboxSettings | None:
    """The mailbox of this name; without a name the only one that is enabled, or None. Raises ``NoSuchMailbox``."""
    if name is not None:
        return find_mailbox(settings, name)
    enabled = list_enabled(settings)
    return enabled[0] if len(enabled) == 1 else None


def _choose_mailbox(settings: Settings, name: str | None) -> MailboxSettings:
    """As above; raises ``UsageError`` where there is none or more than one to choose from."""
    mailbox = _find_mailbox(settings, name)
    if mailbox is None:
        names = ", ".join(each.name for each in list_enabled(settings)) or "none"
        raise UsageError(f"which mailbox is left open; enabled: {names}", hint="Say which: --mailbox NAME.")
    return mailbox


def _judge_for(settings: Settings, mailbox: MailboxSettings | None) -> Judge:
    policy = read_policy(settings.policy)
    if mailbox is None:
        return Judge(policy, mailbox="", account="", project=None)
    return Judge(policy, mailbox=mailbox.name, account=mailbox.address or "", project=mailbox.project)


def _try_mail(settings: Settings, path: Path, mailbox: MailboxSettings | None) -> Iterator[Trial]:
    judge = _judge_for(settings, mailbox)
    with open_reader(settings.reading) as reader:

        def read(download: Download) -> Message:
            return reader.read(download, _never_end)

        for found in list_mail(path, read, max_message_bytes=settings.gmail.max_message_bytes):
            if isinstance(found.result, Message):
                yield replace(judge.try_message(found.result), message_id=None)  # it was made up
            else:
                yield note_failure(found.result, date=found.date)


def _never_end() -> None:
    """Ends no wait for a reader: a signal ends the command itself."""


def _try_newest(settings: Settings, mailbox: MailboxSettings, count: int) -> Iterator[Trial]:
    judge = _judge_for(settings, mailbox)
    with listening() as requests, open_gmail(settings, mailbox, requests.stop) as gmail:
        listed = gmail.list_messages("", None).messages[:count]
        tried = {each.message_id: _try_fetched(judge, each) for each in gmail.fetch_messages(listed)}
    yield from (tried[each.message_id] for each in listed)


def _try_fetched(judge: Judge, fetched: Fetched) -> Trial:
    if isinstance(fetched.result, Message):
        return judge.try_message(fetched.result)
    return note_failure(fetched.result, message_id=fetched.message_id)
