"""Writing to standard output and standard error, whatever they are: any locale, any characters, a reader that left.

Lives here: the encoding of both streams, and a write that a closed pipe can't break. Not here: what is written.
"""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import TextIO


def use_utf8() -> None:
    """Write UTF-8 under every locale, ``LANG=C`` included; what has no UTF-8 form is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def write(stream: TextIO, text: str) -> None:
    """Write ``text`` and push it out.

    When nobody reads the stream any more (a closed pipe), it is pointed at nothing for the rest of the process:
    ``inbox-loop tasks list | head`` ends quietly, and a daemon outlives the reader of its logs. Any other trouble,
    such as a full disk, raises ``OSError``.
    """
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        _point_at_nothing(stream)


def _point_at_nothing(stream: TextIO) -> None:
    """Let the stream's descriptor lead nowhere, so that what is still buffered can't fail at exit either."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, stream.fileno())
    os.close(nothing)
