"""``inbox-loop status``: how the mailboxes are, and the outbox."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import typer

from inbox_loop.commands.mailbox_status import ADVICE, MailboxStatus, Verdict, exit_code_of, judge, stale_after
from inbox_loop.commands.options import ConfigOption, JsonOption, TenantOption, choose_tenants, read_settings
from inbox_loop.commands.outbox_status import judge_outbox, outbox_record, outbox_sentence
from inbox_loop.commands.outbox_tenants import find_outbox_tenants
from inbox_loop.commands.show import in_words, moment, print_line, print_records, print_table
from inbox_loop.commands.wiring import find_sign_in_trouble, open_database
from inbox_loop.loop.ledger import MessageState
from inbox_loop.repository.database import Database
from inbox_loop.repository.health import list_mailbox_health
from inbox_loop.repository.outbox import PostgresOutbox
from inbox_loop.repository.tenants import check_tenant
from inbox_loop.settings import Settings

_COLUMNS = ("MAILBOX", "TENANT", "STATE", "LAST GOOD POLL", "PENDING", "TASKS", "SKIPPED", "QUARANTINED", "GONE")
_BY_LAST_ERROR = frozenset({Verdict.FAILING, Verdict.NEEDS_PERSON})


def show_status(
    context: typer.Context, *, tenant: TenantOption = None, config: ConfigOption = None, as_json: JsonOption = False
) -> int:
    """Show how every mailbox is, configured or only in the database: last good poll, backlog, quarantine.

    And the outbox: how many new tasks are still to be told of, and how many deliveries were given up; without --tenant,
    those of every tenant in the database. With --json, there is a line for each mailbox, and
    a last one of another kind, whose only field is "outbox".

    What is known comes from the database: a running daemon speaks of its mailboxes once a minute; a single poll that
    finds nothing writes nothing. So a mailbox that no daemon ever spoke of, or that single polls have gone on with
    since, is "no daemon", which is no error; one whose daemon fell silent is "silent", and its last error is past.

    Exit code 0: all is well. 1: a mailbox has messages in quarantine, was never read, fails, is silent, or its last
    good poll is too long ago; or a new task has waited for more than 15 minutes to be announced. With a webhook also: a
    new task has waited for so long to be delivered, or a delivery was given up. 3: a mailbox waits for a person to sign
    in. 4: the database can't be reached.
    """
    settings = read_settings(context, config)
    now = datetime.now(UTC)
    tenants = choose_tenants(settings, tenant)
    with open_database(settings) as database:
        statuses = [status for each in tenants for status in _find_statuses(database, settings, each, now)]
        state = PostgresOutbox(database).find_outbox_state(find_outbox_tenants(database, tenant))
    outbox = judge_outbox(state, settings.outbox, now)
    if as_json:
        print_records([*(_record(status, now) for status in statuses), outbox_record(outbox)])
    else:
        _print_statuses(statuses, now)
        print_line(outbox_sentence(outbox))
    return exit_code_of(statuses) or outbox.exit_code


def _find_statuses(database: Database, settings: Settings, tenant: str, now: datetime) -> Iterator[MailboxStatus]:
    check_tenant(database, tenant)
    health = {each.name: each for each in list_mailbox_health(database, tenant)}
    configured = {each.name: each for each in settings.mailboxes if each.tenant == tenant}
    limit = stale_after(settings.poll)
    for name in sorted(configured.keys() | health.keys()):
        mailbox = configured.get(name)
        trouble = find_sign_in_trouble(mailbox) if mailbox and mailbox.enabled else None
        verdict = judge(mailbox, health.get(name), trouble, now=now, stale_after=limit)
        yield MailboxStatus(tenant, name, verdict, trouble, health.get(name))


def _record(status: MailboxStatus, now: datetime) -> dict[str, object]:
    health = status.health
    return {
        "mailbox": status.name,
        "tenant": status.tenant,
        "state": status.verdict,
        "sign_in": str(status.trouble) if status.trouble else None,
        "cursor": str(health.cursor) if health and health.cursor is not None else None,
        "cursor_moved_at": health and health.cursor_moved_at,
        "last_good_poll_at": health and health.last_good_poll_at,
        "last_good_poll_age_seconds": _age_seconds(status, now),
        "last_error": health and health.last_error,
        "heartbeat_at": health and health.beat_at,
        "messages": {state.value: status.count(state) for state in MessageState},
    }


def _age_seconds(status: MailboxStatus, now: datetime) -> int | None:
    if status.health is None or status.health.last_good_poll_at is None:
        return None
    return max(0, round((now - status.health.last_good_poll_at).total_seconds()))


def _print_statuses(statuses: list[MailboxStatus], now: datetime) -> None:
    if not statuses:
        print_line("No mailbox is configured, and the database knows none.")
        return
    print_table(_COLUMNS, (_row(status, now) for status in statuses))
    for status in statuses:
        if advice := _advice(status):
            print_line(f"{status.name}: {advice}")


def _row(status: MailboxStatus, now: datetime) -> tuple[str, ...]:
    states = (
        MessageState.PENDING,
        MessageState.TASK,
        MessageState.SKIPPED,
        MessageState.QUARANTINED,
        MessageState.GONE,
    )
    age = _age_seconds(status, now)
    ago = "-" if age is None else f"{in_words(timedelta(seconds=age))} ago"
    return (status.name, status.tenant, status.verdict, ago, *(str(status.count(state)) for state in states))


def _advice(status: MailboxStatus) -> str:
    """What to do about it; empty when nothing is."""
    if status.trouble is not None:
        return f"{status.trouble} {status.trouble.hint}".strip()
    told = (_fact(status), ADVICE.get(status.verdict, ""))
    return " ".join(each for each in told if each)


def _fact(status: MailboxStatus) -> str:
    """What the daemon said that led to the verdict, or since when it says nothing; empty when neither did."""
    health = status.health
    if health is None or health.beat_at is None:
        return ""
    if status.verdict in {Verdict.SILENT, Verdict.NO_DAEMON}:
        return f"No daemon has spoken of it since {moment(health.beat_at)}."
    return f"{health.last_error}." if health.last_error and status.verdict in _BY_LAST_ERROR else ""
