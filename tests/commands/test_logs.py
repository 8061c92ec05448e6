"""The log: one JSON object a line, and never a word of mail, an address or a token in it."""

from __future__ import annotations

import io
import json
import logging
import os
import threading
import uuid
import warnings
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
import structlog
from pydantic import SecretStr

from inbox_loop.commands.logs import configure_logs
from inbox_loop.errors import NeedsAuth
from inbox_loop.settings import LogSettings

SECRET = "kim.secret@example.org"
log = structlog.get_logger()
pytestmark = pytest.mark.usefixtures("logging_restored")


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


def lines_of(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_one_json_object_that_begins_with_moment_level_and_event(stream: io.StringIO) -> None:
    configure_logs(LogSettings(), stream)
    log.info("poll.finished", mailbox="support", created=3)
    (line,) = lines_of(stream)
    assert list(line) == ["timestamp", "level", "event", "mailbox", "created"]
    moment = datetime.fromisoformat(str(line["timestamp"]))
    assert moment.utcoffset() == timedelta()
    assert abs(datetime.now(UTC) - moment) < timedelta(minutes=1)
    assert (line["level"], line["event"], line["mailbox"], line["created"]) == ("info", "poll.finished", "support", 3)


def test_lines_below_the_level_are_not_written_and_a_new_level_holds_for_loggers_in_use(stream: io.StringIO) -> None:
    configure_logs(LogSettings(level="warning"), stream)
    log.info("poll.finished")
    configure_logs(LogSettings(level="info"), stream)
    log.info("poll.finished")
    assert len(lines_of(stream)) == 1


def test_values_are_plain_and_what_is_unknown_becomes_its_type(stream: io.StringIO) -> None:
    configure_logs(LogSettings(), stream)
    log.info(
        "poll.finished",
        at=datetime(2026, 11, 30, 12, tzinfo=timezone(timedelta(hours=2))),
        took=timedelta(seconds=1.5),
        path=Path("/x"),
        task_id=uuid.UUID(int=1),
        url=SecretStr(SECRET),
        headers=[SECRET.encode()],
        error=ValueError(SECRET),
    )
    (line,) = lines_of(stream)
    assert line["at"] == "2026-11-30T10:00:00Z"
    assert line["took"] == 1.5
    assert line["path"] == "/x"
    assert line["task_id"] == "00000000-0000-0000-0000-000000000001"
    assert line["url"] == "<SecretStr>"
    assert line["headers"] == ["<bytes>"]
    assert line["error"] == "ValueError"


def read_a_subject() -> str:
    subject = SECRET
    raise ConnectionResetError(104, f"while reading {subject}")


def raise_with_a_secret() -> None:
    subject = SECRET
    try:
        read_a_subject()
    except ConnectionResetError as error:
        raise ValueError(f"cannot parse {subject}") from error


@pytest.mark.parametrize("form", ["json", "console"])
def test_of_a_foreign_exception_neither_text_nor_variables_are_logged(form: str, stream: io.StringIO) -> None:
    configure_logs(LogSettings.model_validate({"format": form}), stream)
    try:
        raise_with_a_secret()
    except ValueError:
        log.exception("mailbox.failed", mailbox="support")
    text = stream.getvalue()
    assert SECRET not in text
    assert "ValueError" in text
    assert "ConnectionResetError (ECONNRESET)" in text
    assert "raise_with_a_secret" in text


def read_a_mailbox() -> None:
    raise NeedsAuth("the sign-in was revoked")


def test_of_our_own_errors_code_and_text_are_logged(stream: io.StringIO) -> None:
    configure_logs(LogSettings(), stream)
    try:
        read_a_mailbox()
    except NeedsAuth:
        log.exception("mailbox.needs_auth", mailbox="support")
    (line,) = lines_of(stream)
    assert line["error_type"] == "NeedsAuth"
    assert line["error"] == "mailbox.needs_auth"
    assert line["message"] == "the sign-in was revoked"
    assert str(line["error_stack"]).endswith(" read_a_mailbox")


def test_a_librarys_warning_is_one_of_our_lines_without_its_values(stream: io.StringIO) -> None:
    configure_logs(LogSettings(), stream)
    library = logging.getLogger("urllib3.connectionpool")
    library.info("Starting connection for %s", SECRET)
    library.warning("Retrying after %r", SECRET)
    library.error(f"put together before: {SECRET}")
    first, second = lines_of(stream)
    assert (first["event"], first["level"]) == ("library.warned", "warning")
    assert (second["event"], second["level"]) == ("library.failed", "error")
    assert first["library"] == "urllib3.connectionpool"
    assert first["template"] == "Retrying after %r"
    assert "template" not in second
    assert SECRET not in stream.getvalue()


def test_a_library_that_lowers_its_own_level_is_heard_from_warnings_on_all_the_same(stream: io.StringIO) -> None:
    configure_logs(LogSettings(), stream)
    chatty = logging.getLogger("chatty")
    chatty.setLevel(logging.DEBUG)
    chatty.info("read %s", SECRET)
    chatty.warning("failed to read %s", SECRET)
    assert [line["template"] for line in lines_of(stream)] == ["failed to read %s"]


def test_a_librarys_exception_is_logged_without_its_text(stream: io.StringIO) -> None:
    configure_logs(LogSettings(), stream)
    try:
        raise_with_a_secret()
    except ValueError:
        logging.getLogger("apscheduler.executors").exception("Job %s raised", "poll")
    (line,) = lines_of(stream)
    assert line["error_type"] == "ValueError"
    assert SECRET not in stream.getvalue()


@pytest.mark.filterwarnings("default")
def test_a_python_warning_keeps_the_log_json(stream: io.StringIO) -> None:
    configure_logs(LogSettings(), stream)
    warnings.warn(f"about {SECRET}", UserWarning, stacklevel=1)
    assert [line["library"] for line in lines_of(stream)] == ["py.warnings"]
    assert SECRET not in stream.getvalue()


def test_a_thread_that_ends_in_an_error_is_logged_without_the_errors_text(stream: io.StringIO) -> None:
    configure_logs(LogSettings(), stream)
    thread = threading.Thread(target=raise_with_a_secret, name="poller")
    thread.start()
    thread.join()
    (line,) = lines_of(stream)
    assert (line["event"], line["thread"], line["error_type"]) == ("thread.failed", "poller", "ValueError")
    assert SECRET not in stream.getvalue()


def test_columns_can_not_act_on_the_terminal(stream: io.StringIO) -> None:
    configure_logs(LogSettings(format="console"), stream)
    log.info("poll.finished", mailbox="\x1b[31mred\u202e", names=["\x1b]0;title\x07"])
    assert "\x1b" not in stream.getvalue()
    assert "\u202e" not in stream.getvalue()
    assert "poll.finished" in stream.getvalue()


def test_lines_of_many_threads_are_whole(stream: io.StringIO) -> None:
    configure_logs(LogSettings(), stream)
    threads = [
        threading.Thread(target=lambda: [log.info("poll.finished", fill="x" * 500) for _ in range(100)])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lines_of(stream)) == 400


def test_a_reader_that_left_does_not_end_the_program() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w", encoding="utf-8") as stream:
        configure_logs(LogSettings(), stream)
        log.info("poll.finished", number=1)
        os.close(reading)
        log.info("poll.finished", number=2)
        log.info("poll.finished", number=3)


def test_a_full_disk_does_not_end_the_program() -> None:
    class FullDisk(io.StringIO):
        def flush(self) -> None:
            raise OSError(28, "No space left on device")

    configure_logs(LogSettings(), FullDisk())
    log.info("poll.finished")


def test_what_the_pool_says_of_each_attempt_to_connect_is_left_to_our_own_events(stream: io.StringIO) -> None:
    configure_logs(LogSettings(), stream)
    pool = logging.getLogger("psycopg.pool")
    pool.warning("error connecting in %r", "inbox-loop")
    pool.error("a fault of its own")
    (line,) = lines_of(stream)
    assert (line["event"], line["library"]) == ("library.failed", "psycopg.pool")
