"""What a message's headers say of how it came to be: by a person, by a machine in answer, or in bulk.

Lives here: the signs. Not here: what follows from them (``policy.py``).

* Auto-replies, by RFC 3834: ``Auto-Submitted: auto-replied`` or any other value but two. ``no`` stands on ordinary
  mail. ``auto-generated`` is what a machine sends unasked: alerts, orders, web forms. Helpdesks put it on what a person
  answers through them, and Exchange on absence notes; so it is a task, unless it answers a message (In-Reply-To) and
  has a second sign: an empty return path, or ``X-MS-Exchange-Inbox-Rules-Loop`` with the sender's own address. With
  another address, somebody's rule passed the mail on. ``X-Auto-Response-Suppress`` says what the sender does not want
  back, nothing of the mail itself. A read receipt is an auto-reply too.
* Bounces: a delivery report, ``X-Failed-Recipients``, a mailer daemon as sender, or an empty return path.
* Bulk: what goes out by a list (List-Id) or in bulk (Precedence). ``List-Unsubscribe`` alone stands on orders and
  bills as well, so it does not count where Gmail files the message under Updates or Primary.
"""

from __future__ import annotations

from collections.abc import Iterator

from inbox_loop.message.addresses import parse_addresses
from inbox_loop.message.model import Message
from inbox_loop.message.parameters import parse_parameters

_BULK_PRECEDENCE = frozenset({"bulk", "list", "junk"})
_DAEMON = "mailer-daemon"


def senders(message: Message) -> Iterator[str]:
    """The addresses of From, as they are written."""
    return (found.address for found in parse_addresses(message.header("From")))


def is_bounce(message: Message) -> bool:
    """Whether it tells that a message could not be delivered, by a sign that is sure."""
    return (
        _report_type(message) == "delivery-status"
        or bool(message.header("X-Failed-Recipients"))
        or any(address.casefold().partition("@")[0] == _DAEMON for address in senders(message))
    )


def is_auto_reply(message: Message) -> bool:
    """Whether a machine sent it in answer to a message."""
    submitted = parse_parameters(message.header("Auto-Submitted")).value.partition("(")[0].strip()
    return (
        submitted not in ("", "no", "auto-generated")
        or (submitted == "auto-generated" and _is_absence_note(message))
        or _report_type(message) == "disposition-notification"
        or _is_on(message.header("X-Autoreply"))
        or _is_on(message.header("X-Autorespond"))
        or "auto_reply" in precedences(message)
    )


def _is_absence_note(message: Message) -> bool:
    """Of an auto-generated message: whether it answers one by itself, and no person answers through a helpdesk."""
    return bool(message.header("In-Reply-To")) and (has_empty_path(message) or _is_answer_of_a_rule(message))


def _is_answer_of_a_rule(message: Message) -> bool:
    """Whether the sender's own rules made it: Exchange writes down whose rules sent a message or passed it on."""
    owners = {owner.strip().casefold() for owner in message.header_values("X-MS-Exchange-Inbox-Rules-Loop")}
    return any(address.casefold() in owners for address in senders(message))


def has_empty_path(message: Message) -> bool:
    """Whether its return path is empty, so that nobody can answer it."""
    # The first is Gmail's own; any others were in the mail as it came.
    return "".join(message.header("Return-Path").split()) == "<>"


def is_list(message: Message) -> bool:
    """Whether it went out by a list or in bulk, by a sign that stays when a person moves it to another category."""
    return bool(message.header("List-Id")) or not _BULK_PRECEDENCE.isdisjoint(precedences(message))


def _report_type(message: Message) -> str:
    """What a multipart/report reports (RFC 6522); empty for other mail."""
    if message.mime_type != "multipart/report":
        return ""
    return parse_parameters(message.header("Content-Type")).parameters.get("report-type", "").lower()


def _is_on(value: str) -> bool:
    """Whether a header that is a flag is set: senders write ``yes``, or the subject they answered."""
    return value.strip().lower() not in ("", "no", "false", "0")


def precedences(message: Message) -> set[str]:
    """The values of Precedence, in lower case."""
    return {value.strip().lower() for value in message.header_values("Precedence")}
