"""The options that several ``tasks`` sub-commands share, and the text of a body that is given by one of two.

Lives here: those options, and the bounded reading of a body from a file. Not here: what may stand in a title, a body
or a label, which the store checks (``repository/clean.py``), and filters (``task_filters.py``).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from inbox_loop.errors import InvalidValue, UsageError
from inbox_loop.task import MAX_BODY_BYTES

TitleOption = Annotated[
    str, typer.Option("--title", help="What is to be done, in 1 to 1000 characters.", metavar="TEXT")
]
BodyOption = Annotated[str | None, typer.Option("--body", help="The body: at most 1 MiB of UTF-8.", metavar="TEXT")]
BodyFileOption = Annotated[
    Path | None, typer.Option("--body-file", help="Read the body from a file; - is standard input.", metavar="FILE|-")
]
ProjectOption = Annotated[str | None, typer.Option("--project", help="The project it goes to.", metavar="NAME")]
LabelsOption = Annotated[
    list[str] | None,
    typer.Option("--label", help="A label of 1 to 100 characters. May be given up to 50 times.", metavar="LABEL"),
]
ContainerRefOption = Annotated[
    str | None,
    typer.Option("--container-ref", help="What it belongs to, for grouping and search only.", metavar="REF"),
]
_STANDARD_INPUT = Path("-")


def read_body(text: str | None, file: Path | None) -> str | None:
    """The body given by ``--body`` or ``--body-file``, None when neither is; what a file holds is taken as it is.

    Never reads more than a body may have. Raises ``UsageError`` when both are given or the file can't be read,
    ``InvalidValue`` when it holds too much or no UTF-8.
    """
    if file is None:
        return text
    if text is not None:
        raise UsageError("--body and --body-file are both given", hint="Give one of them.")
    content = _read_file(file)
    if len(content) > MAX_BODY_BYTES:
        raise InvalidValue("body is more than 1 MiB of UTF-8", hint=f"It was read from --body-file {file}.")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidValue(
            f"body is not UTF-8: byte {error.start + 1} can't be read", hint=f"It was read from --body-file {file}."
        ) from None  # its text would quote the body


def _read_file(file: Path) -> bytes:
    try:
        if file != _STANDARD_INPUT:
            with file.open("rb") as opened:
                return _read_bounded(opened)
        if sys.stdin is None:
            raise UsageError("--body-file: standard input is closed")
        return _read_bounded(sys.stdin.buffer)
    except OSError as error:
        raise UsageError(f"--body-file: {file} can't be read: {error.strerror}") from None


def _read_bounded(stream: BinaryIO) -> bytes:
    """A byte more than a body may have at most, which tells that it is too long."""
    return stream.read(MAX_BODY_BYTES + 1)
