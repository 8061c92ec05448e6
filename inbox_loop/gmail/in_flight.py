"""Several pieces of work at the same time, their results as they come.

Lives here: threads, how many, and how they end. Not here: what the work is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from inbox_loop.gmail.bounds import Bounds

Item = TypeVar("Item")
Result = TypeVar("Result")


def run_in_flight(
    work: Callable[[Item, Bounds], Result],
    take: Callable[[int], Sequence[Item]],
    bounds: Bounds,
    *,
    at_most: int,
) -> Generator[Result, None, None]:
    """The result of ``work`` for each item, in the order in which they are done.

    ``take`` hands over the next items, as many as are asked for while it has them; it is asked again after each
    result, so that the reader of the results may have more items for it. At most ``at_most`` results are ever waiting
    or under way, so a slow reader holds the work back. The first error ends the rest and is raised, after the results
    that were done before it. However this ends, the reader turning away included, no thread is left.
    """
    cancelled = threading.Event()
    inner = bounds.or_when(cancelled)
    with ThreadPoolExecutor(max_workers=at_most, thread_name_prefix="gmail") as threads:
        under_way: set[Future[Result]] = {threads.submit(work, item, inner) for item in take(at_most)}
        try:
            while under_way:
                done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                for read, future in enumerate(sorted(done, key=_failed), start=1):
                    yield future.result()
                    room = at_most - len(under_way) - (len(done) - read)
                    under_way |= {threads.submit(work, item, inner) for item in take(room)}
        finally:
            cancelled.set()
            threads.shutdown(cancel_futures=True)


def _failed(future: Future[Result]) -> bool:
    return future.exception() is not None
