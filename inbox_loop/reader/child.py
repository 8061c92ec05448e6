"""The process that reads messages: ``python -m inbox_loop.reader.child CPU_SECONDS MEMORY_BYTES``.

Lives here: its loop. A request comes on standard input, its reply goes to standard output (``frames.py``), until the
input ends, which it does when the program ends, however it ends. Not here: who starts it (``process.py``).

It reads no file, no environment and no network, and writes nothing but replies: an exception's text or a traceback may
hold mail, so only its kind and place are told.
"""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import BinaryIO

from inbox_loop.errors import UnreadableMessage
from inbox_loop.gmail.wire import read_download
from inbox_loop.reader.frames import LENGTH, Unreadable, pack_reply, unpack_request
from inbox_loop.reader.limits import (
    EXIT_OUT_OF_MEMORY,
    READER_CRASHED,
    ReadingLimits,
    cap_memory,
    settle_signals,
    timed,
)

# Said once, when the process is ready.
READY = b"\x06"


def main(arguments: list[str]) -> None:
    """Serve until the input ends."""
    limits = ReadingLimits(float(arguments[0]), int(arguments[1]))
    settle_signals()
    cap_memory(limits.memory_bytes)
    requests, replies = sys.stdin.buffer, sys.stdout.buffer
    try:
        _write(replies, READY)
        _serve(requests, replies, limits)
    except MemoryError:
        # Nothing is to be trusted to work now, not even the way out.
        os._exit(EXIT_OUT_OF_MEMORY)
    except BrokenPipeError:
        # The program has gone. Python would try to write what is left once more at its end.
        os._exit(0)


def _serve(requests: BinaryIO, replies: BinaryIO, limits: ReadingLimits) -> None:
    while len(head := requests.read(LENGTH.size)) == LENGTH.size:
        (length,) = LENGTH.unpack(head)
        with timed(limits.cpu_seconds):
            content = requests.read(length)
            if len(content) < length:
                return
            reply = _read(content)
        _write(replies, reply)


def _read(content: bytes) -> bytes:
    """The frame of the reply."""
    try:
        return pack_reply(read_download(unpack_request(content)))
    except UnreadableMessage as error:
        return pack_reply(Unreadable(str(error), error.reason))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever one odd message provokes must not stop the ones behind it
        return pack_reply(Unreadable(f"Reading the message failed ({_describe(error)}).", READER_CRASHED))


def _describe(error: Exception) -> str:
    """Its kind and place. Never its text."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    return f"{type(error).__name__} in {Path(frame.f_code.co_filename).name}, line {line}"


def _write(replies: BinaryIO, content: bytes) -> None:
    replies.write(content)
    replies.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
