"""What reading mail costs: messages a second on one core, the slowest of them by name, and mail made to hurt.

Measured is processor time from the bytes of a mail to the decision: taking it apart, decoding, text, quotes, policy.
Gmail, the network and Postgres have no part in it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median

from figures import Figure, at_least, at_most
from mail.corpus import list_corpus
from mail.hostile import list_hostile
from mail.reading import read_and_decide, read_raw_and_decide
from sizes import Sizes

BENCHMARK = "mail"

# Twenty times what Gmail's quota lets one mailbox fetch.
PROMISED_A_SECOND = 100
PROMISED_SECONDS = 2
_WORST = 5
_MILLISECONDS = 1000


def measure(sizes: Sizes) -> Iterator[Figure]:
    """The corpus first, then the hostile mail."""
    took = _time_corpus(sizes.mail_rounds)
    middle = median(took.values())
    yield at_least(
        BENCHMARK, "messages a second, mean", len(took) / sum(took.values()), "/s", promised=PROMISED_A_SECOND
    )
    yield Figure(BENCHMARK, "messages a second, median", 1 / middle, "/s")
    yield Figure(BENCHMARK, f"median of {len(took)}", middle * _MILLISECONDS, "ms")
    for name in sorted(took, key=lambda each: took[each], reverse=True)[:_WORST]:
        yield Figure(BENCHMARK, f"among the slowest: {name}", took[name] * _MILLISECONDS, "ms")
    for hostile in list_hostile():
        seconds = min(_time(partial(read_and_decide, hostile.root)) for _ in range(sizes.rounds))
        yield at_most(BENCHMARK, hostile.name, seconds, "s", promised=PROMISED_SECONDS)


def _time_corpus(rounds: int) -> dict[str, float]:
    """Seconds for each mail of the corpus, the median of ``rounds`` after one that does not count."""
    mail = list_corpus()
    times: dict[str, list[float]] = {name: [] for name in mail}
    for number in range(rounds + 1):
        for name, raw in mail.items():
            seconds = _time(partial(read_raw_and_decide, raw))
            if number:
                times[name].append(seconds)
    return {name: median(found) for name, found in times.items()}


def _time(action: Callable[[], object]) -> float:
    started = time.process_time()
    action()
    return time.process_time() - started
