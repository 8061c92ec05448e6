"""What Postgres's errors mean: SQLSTATE and constraint name become an error of our tree.

Rules: decided by code and name alone, never by the text of a message. What Postgres says in DETAIL can hold a whole
row, mail included, so none of it is passed on, and callers raise the answer ``from None``.

A test compares ``CONSTRAINTS`` with the schema: every named constraint has its line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import psycopg

from inbox_loop.errors import (
    DatabaseConflict,
    DatabaseOutdated,
    DatabaseRefused,
    DatabaseUnreachable,
    IdempotencyConflict,
    IllegalMove,
    InboxLoopError,
    InvalidRef,
    InvalidValue,
    NoSuchMailbox,
    NoSuchProject,
    NoSuchTask,
    NoSuchTenant,
    RefTaken,
)
from inbox_loop.ref import MAX_LENGTH, UNIT_OF_WORK_RULE

# A transaction that ended with one of these did nothing, and may well succeed when it runs again.
SERIALIZATION_FAILURE = "40001"
DEADLOCK_DETECTED = "40P01"
LOCK_NOT_AVAILABLE = "55P03"
LOST_RACE = frozenset({SERIALIZATION_FAILURE, DEADLOCK_DETECTED, LOCK_NOT_AVAILABLE})

NOT_NULL_VIOLATION = "23502"

# The server ends a session whose open transaction nobody goes on with.
IDLE_IN_TRANSACTION = "25P03"

MIGRATE = "Bring the schema up to date: inbox-loop db migrate"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a broken constraint means to a person."""

    error: type[InboxLoopError]
    sentence: str
    hint: str = ""


def _invalid(sentence: str) -> Meaning:
    return Meaning(InvalidValue, sentence)


_NO_TENANT = Meaning(NoSuchTenant, "the database has no such tenant", "Check mailboxes.tenant or --tenant.")
_NO_TASK = Meaning(NoSuchTask, "the tenant has no such task")
_NO_MAILBOX = Meaning(NoSuchMailbox, "the database has no such mailbox")
_NAME = "is 1 to 63 lower-case letters, digits, hyphens and underscores, and starts with a letter or digit"
# Two writers met where our own statements never let them meet; the second one does nothing and may try again.
_MET = Meaning(DatabaseConflict, "another writer was there first", "Try again.")

CONSTRAINTS: Mapping[str, Meaning] = {
    "tenants_pk": _MET,
    "tenants_slug_uq": _MET,
    "tenants_slug_ck": _invalid(f"a tenant's name {_NAME}"),
    "task_counters_pk": _MET,
    "task_counters_tenant_fk": _NO_TENANT,
    "task_counters_next_number_ck": _invalid("a task number is 1 or more"),
    "projects_pk": _MET,
    "projects_name_uq": _MET,
    "projects_tenant_fk": _NO_TENANT,
    "projects_name_ck": _invalid(f"a project's name {_NAME}"),
    "tasks_pk": _MET,
    "tasks_number_uq": _MET,
    "tasks_tenant_external_ref_uq": Meaning(RefTaken, "another live task holds this external_ref"),
    "tasks_tenant_fk": _NO_TENANT,
    "tasks_project_fk": Meaning(
        NoSuchProject, "the tenant has no such project", "Name a project that exists, or leave it out."
    ),
    "tasks_parent_fk": _NO_TASK,
    "tasks_title_ck": _invalid("title is 1 to 1000 characters"),
    "tasks_body_ck": _invalid("body is at most 1 MiB of UTF-8"),
    "tasks_status_ck": _invalid("status is open, in_progress, done, blocked or cancelled"),
    "tasks_completed_ck": _invalid("completed_at is for tasks that are done or cancelled"),
    "tasks_labels_ck": _invalid("labels are at most 50, each of 1 to 100 characters"),
    "tasks_external_ref_length_ck": Meaning(
        InvalidRef, f"external_ref is 1 to {MAX_LENGTH} characters", UNIT_OF_WORK_RULE
    ),
    "tasks_external_ref_form_ck": Meaning(
        InvalidRef, "external_ref is trimmed, in NFC, and without control characters", UNIT_OF_WORK_RULE
    ),
    "tasks_container_ref_length_ck": Meaning(InvalidRef, f"container_ref is 1 to {MAX_LENGTH} characters"),
    "tasks_source_ck": _invalid("source is a JSON object"),
    "task_activity_pk": _MET,
    "task_activity_task_fk": _NO_TASK,
    "task_activity_kind_ck": _invalid("the kind of an activity is 1 to 40 lower-case letters"),
    "task_activity_actor_ck": _invalid("actor is 1 to 200 characters"),
    "task_activity_detail_ck": _invalid("the detail of an activity is a JSON object"),
    "notifications_pk": _MET,
    "notifications_task_fk": _NO_TASK,
    "notifications_topic_ck": _invalid("the topic of a notification is 1 to 60 lower-case letters and dots"),
    "notifications_payload_ck": _invalid("the payload of a notification is a JSON object"),
    "notifications_attempts_ck": _invalid("attempts are 0 or more"),
    "notifications_ended_ck": _invalid("a notification is delivered, or given up, and not both"),
    "idempotency_keys_pk": _MET,
    "idempotency_keys_task_fk": _NO_TASK,
    "idempotency_keys_key_ck": _invalid("idempotency_key is 1 to 200 characters"),
    "idempotency_keys_content_hash_ck": _invalid("a content hash is 32 bytes"),
    "mailboxes_pk": _MET,
    "mailboxes_name_uq": _MET,
    "mailboxes_address_uq": _MET,
    "mailboxes_tenant_fk": _NO_TENANT,
    "mailboxes_name_ck": _invalid(f"a mailbox's name {_NAME}"),
    "mailboxes_address_ck": _invalid("a mailbox's address is 3 to 320 characters"),
    "mailboxes_cursor_ck": _invalid("a cursor is a whole number, 0 or more"),
    "mailboxes_sign_in_ck": _invalid("the fingerprint of a sign-in is 1 to 200 characters"),
    "mailbox_health_pk": _MET,
    "mailbox_health_tenant_fk": _NO_TENANT,
    "mailbox_health_mailbox_ck": _invalid(f"a mailbox's name {_NAME}"),
    "mailbox_health_daemon_ck": _invalid("a daemon's name is 1 to 200 characters"),
    "mailbox_health_last_error_ck": _invalid("last_error is at most 2000 characters"),
    "messages_pk": _MET,
    "messages_mailbox_fk": _NO_MAILBOX,
    "messages_task_fk": _NO_TASK,
    "messages_message_id_ck": _invalid("a message id is 1 to 64 characters"),
    "messages_thread_id_ck": _invalid("a thread id is 1 to 64 characters"),
    "messages_state_ck": _invalid("state is pending, task, skipped, quarantined or gone"),
    "messages_reason_ck": _invalid("a reason is 1 to 200 characters"),
    "messages_found_by_ck": _invalid("found_by is poll, backfill or reconcile"),
    "messages_attempts_ck": _invalid("attempts are 0 or more"),
    "messages_revision_ck": _invalid("revision is 1 or more"),
    "messages_rule_ck": _invalid("the name of a rule is 1 to 63 characters"),
    "messages_sender_ck": _invalid("a sender is 1 to 320 characters"),
    "messages_settled_ck": _invalid("a message is settled unless it is pending"),
    "inbox_loop_migrations_pk": _MET,
}

# Names that our functions give to what they refuse. No constraint of a table is called so.
REFUSALS: Mapping[str, Meaning] = {
    "tasks_known_ck": _NO_TASK,
    "tasks_live_ck": Meaning(IllegalMove, "the task is deleted", "Restore it first."),
    "task_activity_note_ck": _invalid("a summary or reason is at most 10000 characters"),
    "tasks_status_move_ck": Meaning(IllegalMove, "the task's status does not allow this step"),
    "idempotency_keys_content_ck": Meaning(
        IdempotencyConflict, "the idempotency key stands for another task", "Use a new key for a new task."
    ),
}

# By SQLSTATE, exact or by its class (the first two characters).
_STATES: Mapping[str, Meaning] = {
    "08": Meaning(DatabaseUnreachable, "the connection to Postgres was lost"),
    "25006": Meaning(
        DatabaseUnreachable, "Postgres only allows reads here", "Name the primary, not a standby, in database.url."
    ),
    "28": Meaning(DatabaseUnreachable, "Postgres did not accept the user or password of database.url"),
    "42501": Meaning(
        DatabaseRefused, "the database user lacks a right that is needed, or the row belongs to another tenant"
    ),
    "42704": Meaning(DatabaseOutdated, "something this program needs is missing from the database", MIGRATE),
    "42883": Meaning(DatabaseOutdated, "a function this program needs is missing from the database", MIGRATE),
    "42P01": Meaning(DatabaseOutdated, "a table this program needs is missing from the database", MIGRATE),
    "42703": Meaning(DatabaseOutdated, "a column this program needs is missing from the database", MIGRATE),
    "54": Meaning(InvalidValue, "a value is larger than Postgres can take"),
    "53": Meaning(DatabaseUnreachable, "Postgres has run out of connections, memory or disk"),
    "57014": Meaning(DatabaseUnreachable, "Postgres took too long to answer"),
    "57": Meaning(DatabaseUnreachable, "Postgres is shutting down or starting up"),
    "58": Meaning(DatabaseUnreachable, "Postgres has trouble with its files"),
    "22": Meaning(InvalidValue, "a value is not of the kind its field takes"),
}


def lost_race(error: psycopg.Error) -> bool:
    """Whether running the whole transaction again is the answer."""
    return error.sqlstate in LOST_RACE


def lost_connection(error: psycopg.Error) -> bool:
    """Whether the server is gone or going, as opposed to having answered."""
    if error.sqlstate is None:
        return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return error.sqlstate.startswith(("08", "57P")) or error.sqlstate == IDLE_IN_TRANSACTION


def typed_error(error: psycopg.Error) -> InboxLoopError:
    """The error of our tree that ``error`` stands for. Raise it ``from None``: see the rules above."""
    if error.sqlstate is None:
        if lost_connection(error):
            return DatabaseUnreachable("the connection to Postgres was lost")
        return DatabaseRefused("a value could not be sent to Postgres")
    if lost_race(error):
        return DatabaseConflict("other writers were faster in every attempt", hint="Try again in a moment.")
    meaning = _meaning(error.sqlstate, error.diag.constraint_name, error.diag.column_name)
    return meaning.error(meaning.sentence, hint=meaning.hint)


def _meaning(state: str, constraint: str | None, column: str | None) -> Meaning:
    named = CONSTRAINTS.get(constraint or "") or REFUSALS.get(constraint or "")
    if named is not None:
        return named
    if state == NOT_NULL_VIOLATION:
        return _invalid(f"{column} is missing")
    unknown = Meaning(DatabaseRefused, f"Postgres refused a statement with SQLSTATE {state}")
    return _STATES.get(state) or _STATES.get(state[:2]) or unknown
