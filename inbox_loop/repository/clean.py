"""Text that Postgres can't store, refused by the name of its field before any SQL runs.

U+0000 fits in no text and no jsonb, a lone surrogate in no UTF-8. Inside jsonb the server would notice, and abort the
whole transaction. What reads mail cleans its texts; whoever else calls is told which field to mend.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from psycopg.types.json import Jsonb

from inbox_loop.errors import InvalidValue
from inbox_loop.task import TaskDraft


def check_text(field: str, text: str) -> None:
    """Raise ``InvalidValue`` when ``text`` has U+0000 or a lone surrogate in it."""
    if "\x00" in text:
        raise InvalidValue(f"{field} has U+0000 in it")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidValue(f"{field} has a lone surrogate in it") from None  # its message would quote the text


def check_json(field: str, value: object) -> None:
    """Raise ``InvalidValue`` when ``value``, nested as it may be, can't be stored as jsonb."""
    match value:
        case str():
            check_text(field, value)
        case Mapping():
            for key, inner in value.items():
                if not isinstance(key, str):
                    raise InvalidValue(f"{field} has a key that is not text")
                check_text(f"a key of {field}", key)
                check_json(f"{field}.{key}", inner)
        case list() | tuple():
            for inner in value:
                check_json(field, inner)
        case None | bool() | int():
            return
        case float() if math.isfinite(value):
            return
        case _:
            raise InvalidValue(f"{field} has a value that JSON has no form for")


def draft_items(drafts: Sequence[TaskDraft], *, project: str | None = None) -> Jsonb:
    """The drafts as ``task_upsert_batch_by_external_ref`` takes them; raises ``InvalidValue``.

    ``project`` is for drafts that name none.
    """
    return Jsonb([draft_fields(draft, project=project) for draft in drafts])


def draft_fields(draft: TaskDraft, *, project: str | None = None) -> dict[str, object]:
    """The draft's fields under the names that SQL knows them by; raises ``InvalidValue``."""
    fields: dict[str, object] = {
        "external_ref": draft.external_ref,
        "title": draft.title,
        "body": draft.body,
        "project": project if draft.project is None else draft.project,
        "labels": list(draft.labels),
        "container_ref": draft.container_ref,
        "source": dict(draft.source),
    }
    for field, value in fields.items():
        check_json(field, value)
    return fields
