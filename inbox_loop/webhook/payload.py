"""What is posted: a JSON document that tells of one new task. Pure.

Lives here: its form, which receivers rely on; ``docs/webhook.md`` describes it. The body of the mail and where it came
from are left out: a receiver that needs them asks for the task.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime

from inbox_loop.loop.outbox_ports import Delivery


def render_payload(delivery: Delivery) -> bytes:
    """The document, in UTF-8."""
    task = delivery.task
    document = {
        "id": str(delivery.event_id),
        "topic": delivery.topic,
        "created_at": _moment(delivery.created_at),
        "tenant": delivery.tenant,
        "task": {
            "id": str(task.task_id),
            "number": task.number,
            "project": task.project,
            "title": task.title,
            "status": task.status.value,
            "labels": list(task.labels),
            "external_ref": task.external_ref,
            "container_ref": task.container_ref,
            "created_at": _moment(task.created_at),
        },
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
