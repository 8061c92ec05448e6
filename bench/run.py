"""Run the benchmarks: all of them, or those that are named. docs/performance.md and README.md tell what they measure.

Exit code 1 when a promise is not kept.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator

import allowance
import idle_poll
import known_mail
import new_mail
from figures import Figure, to_json, to_table
from mail import benchmark as mail
from sizes import FULL, QUICK, Sizes
from store import benchmark as store

from inbox_loop.commands.logs import configure_logs
from inbox_loop.settings import LogSettings

BENCHMARKS: dict[str, Callable[[Sizes], Iterator[Figure]]] = {
    module.BENCHMARK: module.measure for module in (idle_poll, known_mail, allowance, new_mail, mail, store)
}


def main() -> int:
    """Run the command; the exit code."""
    options = _parser().parse_args()
    configure_logs(LogSettings(level="warning"))
    sizes = QUICK if options.quick else FULL
    kept = True
    for name in options.benchmarks or BENCHMARKS:
        figures = list(BENCHMARKS[name](sizes))
        print("\n".join(map(to_json, figures)) if options.json else to_table(figures) + "\n", flush=True)
        kept = kept and all(figure.kept is not False for figure in figures)
    return 0 if kept else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Measure what docs/performance.md and bench/README.md say. Linux only."
    )
    parser.add_argument("benchmarks", nargs="*", metavar="NAME", help=f"default: all of {', '.join(BENCHMARKS)}")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--json", action="store_true", help="one JSON object a figure")
    return parser


if __name__ == "__main__":
    sys.exit(main())
