"""Where the running server is reached, as the supervisor tells it to its starter and to all who come later.

Not here: whether the supervisor still lives; its lock says that (``server.py``).
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self
from urllib.parse import quote

from inbox_loop.embedded.cluster import DATABASE, ROLE
from inbox_loop.embedded.folders import CHOOSE_ANOTHER, Place
from inbox_loop.embedded.sockets import PORT
from inbox_loop.errors import EmbeddedUnavailable


@dataclass(frozen=True, slots=True)
class Address:
    """A server that accepts connections, and the process id of its supervisor."""

    url: str
    supervisor: int

    @classmethod
    def of(cls, sockets: Path) -> Self:
        """The address of a server of this process with its socket in ``sockets``."""
        host = quote(os.fsencode(sockets), safe="")
        # The port is named because libpq would take PGPORT from the reader's environment.
        return cls(url=f"postgresql:///{DATABASE}?host={host}&port={PORT}&user={ROLE}", supervisor=os.getpid())


def record_address(place: Place, address: Address) -> None:
    """Write it so that readers see all of it or nothing. Raises ``EmbeddedUnavailable``."""
    partial = place.address.with_name(f"{place.address.name}.new")
    try:
        partial.write_text(json.dumps(asdict(address)), encoding="utf-8")
        partial.replace(place.address)
    except OSError as error:
        raise EmbeddedUnavailable(
            f"{place.address} can't be written: {error.strerror}.", hint=CHOOSE_ANOTHER
        ) from error


def delete_address(place: Place) -> None:
    """Say that no server accepts connections. Raises ``EmbeddedUnavailable``."""
    try:
        place.address.unlink(missing_ok=True)
    except OSError as error:
        raise EmbeddedUnavailable(
            f"{place.address} can't be removed: {error.strerror}.", hint=CHOOSE_ANOTHER
        ) from error


def find_address(place: Place) -> Address | None:
    """The recorded address; None while there is none. Raises ``EmbeddedUnavailable``."""
    try:
        return Address(**json.loads(place.address.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise EmbeddedUnavailable(f"{place.address} can't be read: {error.strerror}.", hint=CHOOSE_ANOTHER) from error


def render_report(outcome: Address | EmbeddedUnavailable) -> str:
    """One line for the starter: the address, or why there is none."""
    if isinstance(outcome, Address):
        return json.dumps(asdict(outcome)) + "\n"
    return json.dumps({"error": str(outcome), "hint": outcome.hint}) + "\n"


def read_report(line: str) -> Address:
    """The address in a report. Raises the ``EmbeddedUnavailable`` that it holds instead."""
    report = json.loads(line)
    if "error" in report:
        raise EmbeddedUnavailable(report["error"], hint=report["hint"])
    return Address(**report)
