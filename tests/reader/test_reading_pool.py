"""Messages are read in other processes, and what one of them may cost has an end. Real processes throughout."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from support.downloads import large, leaf, plain, slow, whole
from support.processes import cpu_seconds, is_running, reading_processes
from support.waiting import wait_until

from inbox_loop.errors import ReaderUnavailable, ReadingInterrupted, Stopped, UnreadableMessage
from inbox_loop.gmail.wire import WholeMessage, drop_content, read_download
from inbox_loop.reader.limits import ReadingLimits
from inbox_loop.reader.pool import MOST_PROCESSES, ReadingPool

MEBIBYTE = 1024 * 1024
LIMITS = ReadingLimits(cpu_seconds=20, memory_bytes=1024 * MEBIBYTE)
LITTLE_TIME = replace(LIMITS, cpu_seconds=0.5)
LITTLE_MEMORY = replace(LIMITS, memory_bytes=100 * MEBIBYTE)


def go_on() -> None:
    """The check of a pass that is not over."""


@pytest.fixture
def open_pool() -> Iterator[Callable[[ReadingLimits], ReadingPool]]:
    """Opens pools; fails when one leaves a process behind."""
    with ExitStack() as stack:
        yield lambda limits: stack.enter_context(closing(ReadingPool(limits)))
    assert reading_processes() == set()


@pytest.fixture
def pool(open_pool: Callable[[ReadingLimits], ReadingPool]) -> ReadingPool:
    """One with limits that nothing here comes near."""
    return open_pool(LIMITS)


def reason_of(pool: ReadingPool, download: WholeMessage) -> str:
    with pytest.raises(UnreadableMessage) as caught:
        pool.read(download, go_on)
    return caught.value.reason


# --- reading -------------------------------------------------------------------------------------------------------


def test_a_message_is_read_as_it_would_be_in_place(pool: ReadingPool) -> None:
    html = whole(leaf(b"<p>See <a href='https://example.org/x'>this</a></p>", "text/html"))
    for download in (plain("hello \x00\N{SNOWMAN}"), html, drop_content(html.answer)):
        assert pool.read(download, go_on) == read_download(download)


def test_the_trouble_with_a_message_is_told_as_it_would_be_in_place(pool: ReadingPool) -> None:
    assert reason_of(pool, whole({"parts": [leaf(b"x")] * 2001})) == "too_many_parts"
    assert reason_of(pool, plain("hello", message_id="no id")) == "no_id"


def test_no_process_is_started_before_there_is_something_to_read(open_pool: Callable[..., ReadingPool]) -> None:
    open_pool(LIMITS)
    assert reading_processes() == set()


def test_many_threads_share_few_processes_and_each_gets_its_own_message(pool: ReadingPool) -> None:
    with ThreadPoolExecutor(8) as threads:
        read = list(threads.map(lambda n: pool.read(plain(f"number {n}", f"{n:x}"), go_on), range(200)))

    assert [each.text for each in read] == [f"number {n}" for n in range(200)]
    assert [each.message_id for each in read] == [f"{n:x}" for n in range(200)]
    assert 1 <= len(reading_processes()) <= MOST_PROCESSES


def test_a_process_is_kept_for_the_next_message_and_ends_with_the_pool() -> None:
    with closing(ReadingPool(LIMITS)) as pool:
        pool.read(plain("one"), go_on)
        first = reading_processes()
        pool.read(plain("two"), go_on)
        assert reading_processes() == first
    assert not any(is_running(pid) for pid in first)


def test_a_reading_process_has_none_of_the_programs_environment(
    pool: ReadingPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INBOX_LOOP_DATABASE__URL", "postgresql://secret@example.org/x")
    pool.read(plain("hello"), go_on)

    (pid,) = reading_processes()
    names = {each.split(b"=")[0] for each in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0") if each}
    assert names <= {b"PYTHONPATH", b"LANG", b"LD_LIBRARY_PATH"}


# --- limits --------------------------------------------------------------------------------------------------------


def test_a_message_that_takes_too_long_is_given_up_and_the_next_is_read(
    open_pool: Callable[[ReadingLimits], ReadingPool],
) -> None:
    pool = open_pool(LITTLE_TIME)
    pool.read(plain("before"), go_on)

    assert reason_of(pool, slow()) == "took_too_long"
    assert pool.read(plain("after"), go_on).text == "after"


def test_the_time_of_a_message_starts_anew_with_each(open_pool: Callable[[ReadingLimits], ReadingPool]) -> None:
    pool = open_pool(LITTLE_TIME)
    pool.read(plain("hello"), go_on)
    (pid,) = reading_processes()

    while cpu_seconds(pid) < 2 * LITTLE_TIME.cpu_seconds:
        pool.read(slow(parts=10), go_on)
    assert reading_processes() == {pid}


def test_a_process_that_comes_to_a_standstill_is_no_message_s_fault(
    open_pool: Callable[[ReadingLimits], ReadingPool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inbox_loop.reader.process.PATIENCE", 2)
    pool = open_pool(LITTLE_TIME)
    pool.read(plain("before"), go_on)
    (pid,) = reading_processes()
    os.kill(pid, signal.SIGSTOP)

    assert pool.read(plain("hello"), go_on).text == "hello"
    assert pid not in reading_processes()


def test_a_message_that_takes_too_much_memory_is_given_up_and_the_next_is_read(
    open_pool: Callable[[ReadingLimits], ReadingPool],
) -> None:
    pool = open_pool(LITTLE_MEMORY)
    pool.read(plain("before"), go_on)

    assert reason_of(pool, large(40 * MEBIBYTE)) == "took_too_much_memory"
    assert pool.read(plain("after"), go_on).text == "after"


def test_a_fault_of_the_program_is_the_messages_trouble_and_is_told_without_its_text(pool: ReadingPool) -> None:
    broken = WholeMessage("a secret", {})  # type: ignore[arg-type]  # what must never happen
    with capture_logs() as logs:
        assert reason_of(pool, broken) == "reader_crashed"

    (line,) = logs
    assert (line["event"], line["log_level"]) == ("reading.crashed", "error")
    assert re.fullmatch(r"Reading the message failed \(AttributeError in wire\.py, line \d+\)\.", line["error"])
    assert pool.read(plain("after"), go_on).text == "after"


def test_what_can_not_be_said_in_a_reply_is_the_messages_trouble(pool: ReadingPool) -> None:
    odd = plain("hello")
    assert reason_of(pool, WholeMessage({**odd.answer, "labelIds": ["\ud800"]}, {})) == "reader_crashed"


def test_an_answer_nested_too_deep_to_be_passed_on_is_unreadable(pool: ReadingPool) -> None:
    payload = leaf(b"x")
    for _ in range(50_000):
        payload = {"parts": [payload]}
    assert reason_of(pool, whole(payload)) == "too_deep"
    while "parts" in payload:  # taken apart from outside, as Python would exhaust its own stack
        payload = payload["parts"][0]


# --- ends ----------------------------------------------------------------------------------------------------------


def test_a_stop_ends_the_reading_of_a_message_that_takes_long(pool: ReadingPool) -> None:
    stop = threading.Event()

    def check() -> None:
        if stop.is_set():
            raise Stopped("stopped")

    timer = threading.Timer(1, stop.set)
    timer.start()
    began = time.monotonic()
    with pytest.raises(Stopped):
        pool.read(slow(), check)
    assert time.monotonic() - began < 4
    assert reading_processes() == set()
    timer.join()


def test_a_stop_ends_the_wait_for_a_free_process(pool: ReadingPool) -> None:
    over = threading.Event()

    def check() -> None:
        if over.is_set():
            raise Stopped("stopped")

    def read_slow() -> None:
        with pytest.raises(Stopped):
            pool.read(slow(), check)

    with ThreadPoolExecutor(MOST_PROCESSES) as threads:
        busy = [threads.submit(read_slow) for _ in range(MOST_PROCESSES)]
        wait_until(lambda: len(reading_processes()) == MOST_PROCESSES)
        over.set()
        with pytest.raises(Stopped):
            pool.read(plain("hello"), check)
        assert [each.result() for each in busy] == [None] * MOST_PROCESSES


def test_what_a_terminal_or_systemd_sends_to_all_processes_does_not_end_a_reading_one(pool: ReadingPool) -> None:
    pool.read(plain("before"), go_on)
    (pid,) = reading_processes()
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(pid, each)

    assert pool.read(plain("after"), go_on).text == "after"
    assert reading_processes() == {pid}


def test_an_idle_process_that_was_killed_is_no_message_s_fault(pool: ReadingPool) -> None:
    pool.read(plain("before"), go_on)
    (pid,) = reading_processes()
    os.kill(pid, signal.SIGKILL)

    assert pool.read(plain("after"), go_on).text == "after"
    assert pid not in reading_processes()


def test_a_process_that_is_killed_over_each_try_was_interrupted_and_says_nothing_of_the_message(
    pool: ReadingPool,
) -> None:
    over = threading.Event()

    def kill_all() -> None:
        while not over.wait(0.05):
            for pid in reading_processes():
                if cpu_seconds(pid) > 0.5:
                    os.kill(pid, signal.SIGKILL)

    with ThreadPoolExecutor(1) as threads:
        killing = threads.submit(kill_all)
        with pytest.raises(ReadingInterrupted):
            pool.read(slow(), go_on)
        over.set()
        killing.result()


@pytest.mark.parametrize("python", ["/bin/false", "/bin/echo", "/nowhere/python"])
def test_where_no_process_can_be_started_no_message_is_blamed(
    pool: ReadingPool, monkeypatch: pytest.MonkeyPatch, python: str
) -> None:
    monkeypatch.setattr(sys, "executable", python)
    with pytest.raises(ReaderUnavailable):
        pool.read(plain("hello"), go_on)


def test_a_process_at_work_when_the_pool_is_closed_answers_and_ends() -> None:
    pool = ReadingPool(LIMITS)
    with ThreadPoolExecutor(1) as threads:
        under_way = threads.submit(pool.read, slow(parts=100), go_on)
        wait_until(lambda: any(cpu_seconds(pid) > 0.3 for pid in reading_processes()))
        pool.close()
        assert "no play" in under_way.result().text
    assert reading_processes() == set()
