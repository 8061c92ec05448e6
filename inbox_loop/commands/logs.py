"""The log: one JSON object a line on standard error, or columns on a terminal.

Lives here: setting up structlog, and letting the warnings of libraries through it. Not here: which events there
are (``events.py``), and what may stand in a line (``plain_values.py``).

Never in a line, at any level: a subject, a body, an address, a token, or the text of an exception that is not ours.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from inbox_loop.commands.plain_values import error_fields, plain
from inbox_loop.commands.show import escape
from inbox_loop.commands.streams import write
from inbox_loop.settings import LogSettings

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
log = structlog.get_logger()


def configure_logs(settings: LogSettings, stream: TextIO | None = None) -> None:
    """Send every log line of this process to ``stream`` (standard error when None). May be called again."""
    target = sys.stderr if stream is None else stream
    columns = settings.format == "console" or (settings.format == "auto" and target.isatty())
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="timestamp"),
            _make_plain,
            *(_columns(coloured=target.isatty()) if columns else (_render_json,)),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[settings.level]),
        logger_factory=_LineLoggerFactory(target),
        cache_logger_on_first_use=False,  # else a logger would keep its level when the settings are read again
    )
    _let_libraries_through(max(logging.WARNING, _LEVELS[settings.level]))
    threading.excepthook = _record_thread_failure
    sys.unraisablehook = _record_ignored_failure


class _LineLogger:
    """Writes whole lines, one at a time, from any thread."""

    def __init__(self, stream: TextIO, lock: threading.Lock) -> None:
        self._stream = stream
        self._lock = lock

    def msg(self, line: str) -> None:
        # A full disk must not stop the work that is logged, and there is no other place to tell of it.
        with self._lock, suppress(OSError):
            write(self._stream, line + "\n")

    debug = info = warning = error = critical = msg


class _LineLoggerFactory:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()

    def __call__(self, *_: object) -> _LineLogger:
        return _LineLogger(self._stream, self._lock)


def _make_plain(_logger: WrappedLogger, _method: str, event_dict: EventDict) -> EventDict:
    error = _exception_of(event_dict.pop("exc_info", None))
    event_dict.pop("stack_info", None)
    fields = {key: plain(value) for key, value in event_dict.items()}
    return fields | (error_fields(error) if error is not None else {})


def _exception_of(exc_info: object) -> BaseException | None:
    """The exception that ``exc_info`` speaks of, in each form a logger accepts."""
    match exc_info:
        case BaseException():
            return exc_info
        case (_, BaseException() as error, _):
            return error
        case None | False:
            return None
        case _:
            return sys.exc_info()[1]


def _render_json(_logger: WrappedLogger, _method: str, event_dict: MutableMapping[str, Any]) -> str:
    first = {key: event_dict.pop(key) for key in ("timestamp", "level", "event")}
    return json.dumps(first | dict(event_dict))


def _columns(*, coloured: bool) -> tuple[Processor, ...]:
    return (_escape_texts, structlog.dev.ConsoleRenderer(colors=coloured, pad_event_to=22))


def _escape_texts(_logger: WrappedLogger, _method: str, event_dict: EventDict) -> EventDict:
    return {key: escape(value if isinstance(value, str) else json.dumps(value)) for key, value in event_dict.items()}


class _LibraryHandler(logging.Handler):
    """Writes a library's warning as one of our events.

    A library's finished message may quote a URL, an answer or an exception. Its template can't, as long as there are
    values apart from it; a message without such values may have been put together already, and is left out.
    """

    def emit(self, record: logging.LogRecord) -> None:
        fields = {"library": record.name, "line": record.lineno, "exc_info": record.exc_info or None}
        if record.args:
            fields["template"] = str(record.msg)
        if record.levelno >= logging.ERROR:
            log.error("library.failed", **fields)
        else:
            log.warning("library.warned", **fields)


def _let_libraries_through(level: int) -> None:
    # The handler has the level as well, for libraries that set their own loggers to a lower one.
    logging.basicConfig(handlers=[_LibraryHandler(level)], level=level, force=True)
    logging.captureWarnings(capture=True)
    # It warns at every attempt to connect again, once a second and more; our own events say that the database is away.
    logging.getLogger("psycopg.pool").setLevel(max(logging.ERROR, level))


def _record_thread_failure(failure: threading.ExceptHookArgs) -> None:
    """Python's own hook would print the exception's text."""
    log.error("thread.failed", thread=failure.thread.name if failure.thread else None, exc_info=failure.exc_value)


def _record_ignored_failure(failure: Any) -> None:  # noqa: ANN401 - sys.UnraisableHookArgs exists for type checkers only
    """Likewise, for what went wrong where nothing can be raised (a finalizer)."""
    error: BaseException | None = failure.exc_value
    log.error("finalizer.failed", exc_info=error)
