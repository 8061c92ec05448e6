"""Every setting: its key, its default, its limits and its meaning.

Lives here: the models, as values that never change. Not here: where they are read from (``commands/configuration.py``).
"""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr
from pydantic_core import PydanticCustomError

from inbox_loop.globs import MAX_GLOB_CHARACTERS
from inbox_loop.rules import Priority, Verdict
from inbox_loop.task import MAX_LABEL_CHARACTERS, MAX_LABELS

_DURATION = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SIZE = re.compile(r"(?P<number>\d{1,15})\s*(?P<unit>[KM]?)", re.IGNORECASE)
_BYTES = {"": 1, "k": 1024, "m": 1024 * 1024}


def _duration(value: object) -> object:
    """Read "90s", "30m", "24h", "14d" or "2w"; anything else is left for pydantic to judge."""
    match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        return value
    try:
        return timedelta(**{_UNITS[match["unit"]]: float(match["number"])})
    except OverflowError:
        return timedelta.max  # refused for being too long


def _size(value: object) -> object:
    """Read "500K" or "10M", as Gmail's search does, and digits; what is no text is left for pydantic to judge."""
    if not isinstance(value, str):
        return value
    match = _SIZE.fullmatch(value.strip())
    if match is None:
        raise PydanticCustomError("size", 'must be a number of bytes or a text such as "500K" or "10M"')
    return int(match["number"]) * _BYTES[match["unit"].lower()]


def _one_or_more(value: object) -> object:
    """A text alone is a list of one."""
    return (value,) if isinstance(value, str) else value


# Longer than anyone looks back, and short enough for a moment so long ago to be one.
LONGEST = timedelta(days=36_500)
Duration = Annotated[timedelta, BeforeValidator(_duration), Field(gt=timedelta(), le=LONGEST)]
SLUG_PATTERN = r"^[a-z0-9][a-z0-9_-]{0,62}$"
Slug = Annotated[str, Field(pattern=SLUG_PATTERN)]
Size = Annotated[int, BeforeValidator(_size), Field(ge=1)]
Glob = Annotated[str, Field(min_length=1, max_length=MAX_GLOB_CHARACTERS)]
Globs = Annotated[tuple[Glob, ...], BeforeValidator(_one_or_more), Field(min_length=1)]

# Google's table of quota units, November 2026. One copy of it asks 60 for messages.get in full: costs are settings.
METHOD_COSTS = {
    "getProfile": 1,
    "history.list": 2,
    "labels.list": 1,
    "messages.attachments.get": 20,
    "messages.get": 20,
    "messages.list": 5,
    "threads.get": 40,
}


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class DatabaseSettings(_Section):
    """Where tasks and ledger are kept."""

    url: SecretStr = SecretStr("embedded")
    """"embedded" for a private Postgres that starts and ends by itself, or a postgresql:// URL."""
    data_folder: Path | None = Field(default=None, examples=["/srv/inbox-loop"])
    """Where the private Postgres keeps its data. Default: the user's data folder; /var/lib/inbox-loop for root."""


class GmailSettings(_Section):
    """How Gmail is asked."""

    api_endpoint: str = "https://gmail.googleapis.com"
    """Base URL of the API. Another one is for tests and stand-ins."""
    units_per_minute: int = Field(default=6000, ge=60)
    """Quota units a mailbox may use in a minute: 6000 for a Google project made since May 2026, else 15000."""
    method_costs: dict[str, Annotated[int, Field(ge=0)]] = Field(default_factory=dict)
    """Quota units by method where they differ from Google's table, for example {"messages.get" = 60}."""
    max_in_flight: int = Field(default=4, ge=1, le=16)
    """Calls to one mailbox at the same time."""
    timeout_seconds: float = Field(default=30.0, gt=0, le=600)
    """How long to wait for Gmail's next bytes."""
    max_message_bytes: int = Field(default=25 * 1024 * 1024, ge=1024 * 1024)
    """Of a larger message only the headers are read. It becomes a task all the same, which says so."""


class ReadingSettings(_Section):
    """What reading one message may cost. A message that needs more goes to quarantine, and the rest goes on."""

    cpu_seconds: float = Field(default=10.0, ge=1, le=600)
    """Longest time on the processor."""
    memory_megabytes: int = Field(default=1024, ge=256)
    """Most memory of the process that reads, its programs included."""


class PollSettings(_Section):
    """When mailboxes are looked at."""

    interval_seconds: float = Field(default=30.0, ge=1)
    """Time between two polls of a mailbox."""
    jitter_seconds: float = Field(default=3.0, ge=0)
    """Up to so much is added to each interval, so that many mailboxes do not poll in step."""
    deadline_seconds: float = Field(default=120.0, gt=0)
    """Longest time for one poll; what is left over is for the next."""
    reconcile_every: Duration = timedelta(hours=24)
    """Time between two comparisons of Gmail's listing with the ledger."""
    reconcile_window: Duration = timedelta(days=14)
    """How far back such a comparison looks."""
    gone_after_seconds: float = Field(default=600.0, ge=0)
    """A message Gmail answers 404 for is tried again for so long, then recorded as gone."""


class RuleSettings(_Section):
    """A rule of which messages become tasks. The first that fits decides; docs/policy.md tells how they are written."""

    name: Slug = Field(examples=["billing"])
    """Its name, kept with each task and skip that it decided. No two rules have the same."""
    then: Verdict = Field(examples=["task"])
    """What becomes of a message that all given conditions fit."""
    senders: Globs | None = Field(default=None, alias="from", examples=[["@example.com", "ada@example.net"]])
    """The sender's address, "@domain" or a pattern, in which * is any text and ? one character; a list means any."""
    to: Globs | None = Field(default=None, examples=[["billing@example.com"]])
    """The same for the addresses in To and Cc, of which one must fit."""
    subject: Globs | None = Field(default=None, examples=[["*invoice*", "[bill] *"]])
    """A pattern for the whole subject, whatever the case; a list means any."""
    list_id: Globs | None = Field(default=None, alias="list", examples=[["*.example.net"]])
    """A pattern for the name in List-Id; a list means any. Mail without a List-Id does not fit."""
    label: Globs | None = Field(default=None, examples=[["STARRED"]])
    """A pattern for one of Gmail's label ids, which inbox-loop policy test --json shows; a list means any."""
    has_attachment: bool | None = Field(default=None, examples=[True])
    """Whether there must be an attachment, or none. A message over gmail.max_message_bytes counts as having one."""
    larger_than: Size | None = Field(default=None, examples=["10M"])
    """Gmail's estimate of its size is more, in bytes or such as "500K" or "10M"."""
    smaller_than: Size | None = Field(default=None, examples=["500K"])
    """Gmail's estimate of its size is less, in bytes or such as "500K" or "10M"."""
    project: Slug | None = Field(default=None, examples=["bills"])
    """The project the task goes to instead of the mailbox's; made if it does not exist."""
    labels: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=MAX_LABEL_CHARACTERS)], ...], Field(max_length=MAX_LABELS)
    ] = ()
    """The labels of the task."""
    priority: Priority | None = Field(default=None, examples=["high"])
    """The priority of the task, kept in its source."""


class PolicySettings(_Section):
    """Which messages become tasks."""

    own_addresses: tuple[str, ...] = ()
    """Addresses whose mail never becomes a task, to keep a loop of our own answers from feeding itself."""
    skip_bulk: bool = True
    """Skip newsletters, mailing lists, and what Gmail files under Promotions, Social or Forums."""
    skip_auto_replies: bool = True
    """Skip out-of-office answers, delivery reports and other mail that a machine sent in answer."""
    max_per_sender_per_hour: int = Field(default=200, ge=1)
    """What one sender sends beyond that within an hour is skipped; inbox-loop messages make-task makes tasks of it."""
    rules: tuple[RuleSettings, ...] = ()


class MailboxSettings(_Section):
    """One Gmail mailbox."""

    name: Slug = Field(examples=["support"])
    """Its name in commands and logs."""
    token_file: Path = Field(examples=["support-token.json"])
    """Google's authorized-user JSON, or a service-account key with a "subject". Readable by its owner alone."""
    address: str | None = Field(default=None, examples=["support@example.com"])
    """Its address, checked against the sign-in when given."""
    tenant: Slug = "default"
    """The tenant whose tasks its messages become."""
    project: Slug | None = Field(default=None, examples=["inbox"])
    """The project they go to; made if it does not exist."""
    enabled: bool = True
    """False stops reading it and keeps all that is known of it."""


class OutboxSettings(_Section):
    """How others are told of new tasks."""

    interval_seconds: float = Field(default=0.5, gt=0, le=60)
    """Time between two looks for new tasks to tell of. A look that finds none writes nothing."""
    webhook_url: SecretStr | None = Field(default=None, examples=["https://hooks.example.com/inbox-loop"])
    """Where a JSON document is posted for each new task, at least once. Without it nothing is posted."""
    webhook_secret: SecretStr | None = Field(default=None, examples=["whsec_...your own random bytes in base64..."])
    """What each post is signed with: 24 to 64 random bytes in base64 behind "whsec_". Needed with webhook_url."""
    webhook_timeout_seconds: float = Field(default=10.0, gt=0, le=300)
    """Longest time for one post."""
    webhook_attempts: int = Field(default=16, ge=1, le=100)
    """A post that failed so many times, a growing time apart, is given up; inbox-loop status says so."""


class RetentionSettings(_Section):
    """What is purged for good. Nothing, unless these are set. The ledger of messages is kept."""

    deleted_after: Duration | None = Field(default=None, examples=["90d"])
    """Deleted tasks are purged so long after they were deleted."""
    finished_after: Duration | None = Field(default=None, examples=["365d"])
    """Tasks that are done or cancelled are purged so long after that."""


class LogSettings(_Section):
    """What the logs look like."""

    format: Literal["auto", "json", "console"] = "auto"
    """"auto" is columns on a terminal and JSON everywhere else."""
    level: Literal["debug", "info", "warning", "error"] = "info"
    """The least severe level that is written."""


class Settings(_Section):
    """The whole configuration."""

    database: DatabaseSettings = DatabaseSettings()
    gmail: GmailSettings = GmailSettings()
    reading: ReadingSettings = ReadingSettings()
    poll: PollSettings = PollSettings()
    policy: PolicySettings = PolicySettings()
    outbox: OutboxSettings = OutboxSettings()
    retention: RetentionSettings = RetentionSettings()
    log: LogSettings = LogSettings()
    mailboxes: tuple[MailboxSettings, ...] = ()
