"""``python -m inbox_loop.simulator``: a Gmail stand-in with the mail of a file or folder in it.

Lives here: the command's arguments. Its first line on stdout is the URL; it serves until SIGTERM or SIGINT.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from inbox_loop.errors import MailUnavailable
from inbox_loop.simulator.mail import read_mail
from inbox_loop.simulator.server import Simulator


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code."""
    options = _parser().parse_args(arguments)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        _serve(options, stop)
    except MailUnavailable as error:
        sys.stderr.write(f"{error}. {error.hint}\n")
        return error.exit_code
    return 0


def _serve(options: argparse.Namespace, stop: threading.Event) -> None:
    with Simulator(port=options.port, units_per_minute=options.units_per_minute) as simulator:
        account = simulator.account(options.address)
        for mail in read_mail(options.mail) if options.mail else ():
            account.deliver(mail.raw, labels=mail.labels, thread_id=mail.thread_id, internal_date=mail.internal_date)
            if stop.is_set():
                return
        if options.token_file:
            simulator.token_file(options.address, options.token_file)
        sys.stdout.write(f"{simulator.url}\n")
        sys.stdout.flush()
        stop.wait()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m inbox_loop.simulator", description="A Gmail stand-in on loopback.")
    parser.add_argument("--mail", type=Path, help="mbox, Maildir, folder of .eml files, or one .eml, to fill it with")
    parser.add_argument("--token-file", type=Path, help="where to write the sign-in for it, readable by you alone")
    parser.add_argument("--address", default="me@example.com", help="whose mailbox it is (default: %(default)s)")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    parser.add_argument(
        "--units-per-minute", type=int, help="quota units an account may use in a minute (default: all)"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
