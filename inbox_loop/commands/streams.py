"""Writing to standard output and standard error, whatever they are: any locale, any characters, full or closed.

Lives here: the encoding of both streams, and what becomes of a text that can't be written. Not here: what is written.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from inbox_loop.errors import ResultLost


def use_utf8() -> None:
    """Write UTF-8 under every locale, ``LANG=C`` included; what has no UTF-8 form is written as an escape.

    A closed standard error leads nowhere, so that logs and words about trouble keep no command from its work.
    """
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - it stays open as long as the process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def write(stream: TextIO, text: str) -> None:
    """Write ``text`` and push it out.

    When nobody reads the stream any more (a closed pipe), it is pointed at nothing for the rest of the process: a
    daemon outlives the reader of its logs. Any other trouble, such as a full disk, raises ``OSError``.
    """
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        _point_at_nothing(stream)


def write_result(text: str) -> None:
    """Write ``text`` to standard output and push it out.

    Raises ``ResultLost`` when that fails; whatever else is written there then goes nowhere.
    """
    if sys.stdout is None:
        raise ResultLost("the result could not be written: standard output is closed")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        _point_at_nothing(sys.stdout)
        raise ResultLost(f"the result could not be written: {error.strerror}") from error


def find_lost_result() -> ResultLost | None:
    """The trouble with what others wrote to standard output and can't be pushed out; None when there is none."""
    try:
        write_result("")
    except ResultLost as lost:
        return lost
    return None


def write_aside(text: str) -> None:
    """Write ``text`` to standard error. When that fails there is no other place to tell of it."""
    try:
        write(sys.stderr, text)
    except OSError:
        with suppress(OSError):
            _point_at_nothing(sys.stderr)


def _point_at_nothing(stream: TextIO) -> None:
    """Let the stream's descriptor lead nowhere, so that what is still buffered can't fail at exit either."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, stream.fileno())
    os.close(nothing)
