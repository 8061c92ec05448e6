"""``docs/reasons.md``: why a message made no task, in the words of ``inbox-loop messages explain``. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from inbox_loop.commands.docs_markdown import code, head, prose, table
from inbox_loop.commands.explanation import QUARANTINE_REASONS, SKIPPED_REASONS, WAITING_REASONS, advise
from inbox_loop.loop.ledger import MessageState
from inbox_loop.loop.retry import NOT_FOUND

_INTRODUCTION = """
Every message that was ever seen has one row in the ledger. Its state is `pending`, `task`, `skipped`, `quarantined` or
`gone`; a row that is not a task has its reason beside it. To see them:

```sh
inbox-loop messages list --state skipped
inbox-loop messages explain MESSAGE_ID
inbox-loop messages retry MESSAGE_ID      # read again what could not be read
inbox-loop messages make-task MESSAGE_ID  # a task of a skipped message, whatever speaks against it
```
"""

_SKIPPED = """
## Skipped

The message was read, or its labels were, and it makes no task.

"""

_QUARANTINED = """
## In quarantine

The message could not be turned into a task. It is kept for a person, does not hold up the others, and makes
`inbox-loop status` exit with 1.

"""

_WAITING = """
## Not read yet, or gone

The message is tried again, with growing waits, for as long as it takes.

"""


def render_reasons_page() -> str:
    """The whole page."""
    return "".join(
        [
            head("Why a message made no task", "`inbox_loop/commands/explanation.py`"),
            _INTRODUCTION,
            _SKIPPED,
            _render_reasons(SKIPPED_REASONS, MessageState.SKIPPED),
            _QUARANTINED,
            _render_reasons(QUARANTINE_REASONS, MessageState.QUARANTINED),
            _WAITING,
            _render_reasons(WAITING_REASONS, MessageState.PENDING),
            f"\nA message that stays `{NOT_FOUND}` for `poll.gone_after_seconds` is recorded as gone. ",
            f"What to do then: {prose(advise(MessageState.GONE, NOT_FOUND))}\n",
        ]
    )


def _render_reasons(reasons: Mapping[str, str], state: MessageState) -> str:
    rows = ((code(reason), prose(words), prose(advise(state, reason))) for reason, words in reasons.items())
    return table(("reason", "in words", "what to do"), rows)
