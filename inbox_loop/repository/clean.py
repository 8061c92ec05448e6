"""What the store refuses, by the name of its field, before any SQL runs.

U+0000 fits in no text and no jsonb, a lone surrogate in no UTF-8; inside jsonb the server would notice, and abort the
whole transaction. The limits are those of the schema's constraints, said here first, so that a caller hears which field
to mend. What reads mail cleans its texts; whoever else calls is told.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

from psycopg.types.json import Jsonb

from inbox_loop.errors import InvalidValue
from inbox_loop.ref import normal_ref
from inbox_loop.task import (
    MAX_BODY_BYTES,
    MAX_KEY_CHARACTERS,
    MAX_LABEL_CHARACTERS,
    MAX_LABELS,
    MAX_NOTE_CHARACTERS,
    MAX_SOURCE_BYTES,
    MAX_TITLE_CHARACTERS,
    NewTask,
    TaskDraft,
)

MAX_ACTOR_CHARACTERS = 200
# Postgres's bigint.
MAX_NUMBER = 2**63 - 1
MAX_LIMIT = 10_000
MAX_DEPTH = 20


def check_text(field: str, text: str) -> None:
    """Raise ``InvalidValue`` when ``text`` has U+0000 or a lone surrogate in it."""
    if "\x00" in text:
        raise InvalidValue(f"{field} has U+0000 in it")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidValue(f"{field} has a lone surrogate in it") from None  # its message would quote the text


def check_title(title: str) -> None:
    """Raise ``InvalidValue`` unless ``title`` is 1 to 1000 characters, and not blanks alone."""
    check_text("title", title)
    if not title.strip() or len(title) > MAX_TITLE_CHARACTERS:
        raise InvalidValue(f"title is 1 to {MAX_TITLE_CHARACTERS} characters and not blank")


def check_body(body: str) -> None:
    """Raise ``InvalidValue`` unless ``body`` is at most 1 MiB of UTF-8."""
    check_text("body", body)
    if len(body.encode()) > MAX_BODY_BYTES:
        raise InvalidValue("body is at most 1 MiB of UTF-8")


def check_labels(labels: Sequence[str]) -> None:
    """Raise ``InvalidValue`` unless ``labels`` are at most 50, each of 1 to 100 characters."""
    for label in labels:
        check_text("labels", label)
    if len(labels) > MAX_LABELS or not all(1 <= len(label) <= MAX_LABEL_CHARACTERS for label in labels):
        raise InvalidValue(f"labels are at most {MAX_LABELS}, each of 1 to {MAX_LABEL_CHARACTERS} characters")


def check_actor(actor: str) -> None:
    """Raise ``InvalidValue`` unless ``actor`` is 1 to 200 characters."""
    check_text("actor", actor)
    if not 1 <= len(actor) <= MAX_ACTOR_CHARACTERS:
        raise InvalidValue(f"actor is 1 to {MAX_ACTOR_CHARACTERS} characters")


def check_idempotency_key(key: str) -> None:
    """Raise ``InvalidValue`` unless ``key`` is 1 to 200 characters."""
    check_text("idempotency_key", key)
    if not 1 <= len(key) <= MAX_KEY_CHARACTERS:
        raise InvalidValue(f"idempotency_key is 1 to {MAX_KEY_CHARACTERS} characters")


def check_number(field: str, number: int) -> None:
    """Raise ``InvalidValue`` unless ``number`` is one that a task could have."""
    if not 1 <= number <= MAX_NUMBER:
        raise InvalidValue(f"{field} is 1 to {MAX_NUMBER}")


def check_limit(limit: int) -> None:
    """Raise ``InvalidValue`` unless ``limit`` is the size of a page."""
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidValue(f"limit is 1 to {MAX_LIMIT}")


def check_note(field: str, text: str) -> None:
    """Raise ``InvalidValue`` unless ``text``, which goes into an activity, is at most 10,000 characters."""
    check_text(field, text)
    if len(text) > MAX_NOTE_CHARACTERS:
        raise InvalidValue(f"{field} is at most {MAX_NOTE_CHARACTERS} characters")


def check_source(source: Mapping[str, object]) -> None:
    """Raise ``InvalidValue`` unless ``source`` can be stored as jsonb and is at most 1 MiB of JSON."""
    check_json("source", source)
    if len(json.dumps(source, ensure_ascii=False).encode()) > MAX_SOURCE_BYTES:
        raise InvalidValue("source is at most 1 MiB of JSON")


def check_json(field: str, value: object, *, depth: int = 1) -> None:
    """Raise ``InvalidValue`` when ``value``, nested at most 20 deep, can't be stored as jsonb."""
    if depth > MAX_DEPTH:
        raise InvalidValue(f"a value is nested more than {MAX_DEPTH} deep")
    match value:
        case str():
            check_text(field, value)
        case Mapping():
            for key, inner in value.items():
                _check_json_key(field, key)
                check_json(f"{field}.{key}", inner, depth=depth + 1)
        case list() | tuple():
            for inner in value:
                check_json(field, inner, depth=depth + 1)
        case None | bool():
            return
        case int() if -MAX_NUMBER <= value <= MAX_NUMBER:
            return
        case float() if math.isfinite(value):
            return
        case _:
            raise InvalidValue(f"{field} has a value that JSON has no form for, or a number over 63 bits")


def _check_json_key(field: str, key: object) -> None:
    if not isinstance(key, str):
        raise InvalidValue(f"{field} has a key that is not text")
    check_text(f"a key of {field}", key)


def draft_items(drafts: Sequence[TaskDraft], *, project: str | None = None) -> Jsonb:
    """The drafts as ``task_upsert_batch_by_external_ref`` takes them; raises ``InvalidValue``.

    ``project`` is for drafts that name none.
    """
    return Jsonb([draft_fields(draft, project=project) for draft in drafts])


def draft_fields(draft: TaskDraft, *, project: str | None = None) -> dict[str, object]:
    """The draft's fields under the names that SQL knows them by; raises ``InvalidValue``."""
    check_text("external_ref", draft.external_ref)
    return {"external_ref": draft.external_ref, **_common_fields(draft, project=project)}


def new_task_fields(new: NewTask) -> dict[str, object]:
    """The new task's fields under the names that SQL knows them by; raises ``InvalidValue``."""
    if new.parent is not None:
        check_number("parent", new.parent)
    return {"parent": new.parent, **_common_fields(new)}


def _common_fields(task: TaskDraft | NewTask, *, project: str | None = None) -> dict[str, object]:
    check_title(task.title)
    check_body(task.body)
    check_labels(task.labels)
    check_text("project", task.project or "")
    check_source(task.source)
    return {
        "title": task.title,
        "body": task.body,
        "project": project if task.project is None else task.project,
        "labels": list(task.labels),
        "container_ref": None if task.container_ref is None else normal_ref("container_ref", task.container_ref),
        "source": dict(task.source),
    }
