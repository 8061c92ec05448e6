"""Work in several threads: how far it runs ahead, and how it ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import closing
from itertools import islice

import pytest

from inbox_loop.errors import GmailRefused, Stopped
from inbox_loop.gmail.bounds import Bounds
from inbox_loop.gmail.in_flight import run_in_flight


def handing_out(items: Iterable[int]) -> Callable[[int], list[int]]:
    waiting = iter(items)
    return lambda count: list(islice(waiting, count))


def test_every_item_gives_its_result(bounds: Bounds) -> None:
    results = run_in_flight(lambda n, _: n * n, handing_out(range(100)), bounds, at_most=4)

    assert sorted(results) == [n * n for n in range(100)]


def test_work_does_not_run_ahead_of_its_reader(bounds: Bounds) -> None:
    begun: list[int] = []

    def work(n: int, _: Bounds) -> int:
        begun.append(n)
        return n

    with closing(run_in_flight(work, handing_out(range(1000)), bounds, at_most=3)) as results:
        for taken in range(1, 6):
            next(results)
            assert len(begun) <= taken + 3


def test_items_that_come_up_late_are_done_side_by_side_and_no_more_of_them_than_allowed(bounds: Bounds) -> None:
    items = [0]
    together = threading.Barrier(3)

    def take(count: int) -> list[int]:
        taken = items[:count]
        del items[:count]
        return taken

    def work(n: int, _: Bounds) -> int:
        if n > 0:
            together.wait(5)  # breaks unless three are under way
        return n

    got: list[int] = []
    with closing(run_in_flight(work, take, bounds, at_most=3)) as results:
        for n in results:
            got.append(n)
            if n == 0:
                items.extend(range(1, 10))

    assert sorted(got) == list(range(10))


def test_the_first_error_ends_work_under_way_and_comes_after_what_was_done(bounds: Bounds) -> None:
    ended: list[type[BaseException]] = []
    waiting = threading.Event()

    def work(n: int, inner: Bounds) -> int:
        if n == 0:
            return n
        if n == 1:
            assert waiting.wait(5)
            raise GmailRefused("no")
        waiting.set()
        try:
            inner.sleep(60)
        except Stopped as error:
            ended.append(type(error))
            raise
        return n

    got: list[int] = []
    with pytest.raises(GmailRefused):
        got.extend(run_in_flight(work, handing_out(range(50)), bounds, at_most=3))

    assert got == [0]
    assert ended
    assert set(ended) == {Stopped}
