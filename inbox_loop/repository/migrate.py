"""The schema: numbered migrations that only go forward, and how a database stands to them.

Terms: a *migration* is one file ``migrations/NNNN_name.sql``; its *checksum* is taken over its text. Rules:

* Each is applied in one transaction of its own, together with its row in ``inbox_loop_migrations``, under an advisory
  lock: of several migrators one works, the others find it done.
* A migration that was applied is never edited. A database where one differs, or that has one this program does not
  know, is refused with ``DatabaseOutdated``, and left as it is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from inbox_loop.errors import DatabaseOutdated
from inbox_loop.repository.database import Connection, Database
from inbox_loop.repository.faults import MIGRATE
from inbox_loop.repository.statements import Statements

_SQL = Statements("migrate")
_FILE = re.compile(r"(?P<version>\d{4})_(?P<name>[a-z_]+)\.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema."""

    version: int
    name: str
    text: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the text, in hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class SchemaStatus:
    """How a database stands to this program's migrations."""

    version: int
    """The newest that was applied; 0 for an empty database."""
    latest: int
    """The newest this program knows."""
    pending: tuple[Migration, ...]
    """Known here, not applied there, in order."""
    unknown: tuple[int, ...] = ()
    """Applied there, not known here: the database is newer than this program."""
    changed: tuple[int, ...] = ()
    """Applied there from another text than this program's."""

    @property
    def up_to_date(self) -> bool:
        """Whether this program can work with the database."""
        return not (self.pending or self.unknown or self.changed)


@cache
def list_migrations() -> tuple[Migration, ...]:
    """Every migration of this program, in order."""
    found = []
    for file in files("inbox_loop.repository").joinpath("migrations").iterdir():
        match = _FILE.fullmatch(file.name)
        if match is not None:
            found.append(Migration(int(match["version"]), match["name"], file.read_text(encoding="utf-8")))
    return tuple(sorted(found, key=lambda migration: migration.version))


def compare(migrations: Sequence[Migration], applied: Mapping[int, str]) -> SchemaStatus:
    """Decide how ``applied`` (version to checksum) stands to ``migrations``."""
    known = {migration.version: migration for migration in migrations}
    return SchemaStatus(
        version=max(applied, default=0),
        latest=max(known, default=0),
        pending=tuple(migration for migration in migrations if migration.version not in applied),
        unknown=tuple(sorted(applied.keys() - known.keys())),
        changed=tuple(
            version
            for version, checksum in sorted(applied.items())
            if version in known and known[version].checksum != checksum
        ),
    )


def find_schema_status(database: Database, migrations: Sequence[Migration] | None = None) -> SchemaStatus:
    """How the database stands; writes nothing. ``migrations`` are this program's own unless given."""
    with database.read_only() as connection:
        return compare(_or_own(migrations), _find_applied(connection))


def check_schema(database: Database) -> None:
    """Return when the database is ready for this program, raise ``DatabaseOutdated`` when it is not."""
    status = find_schema_status(database)
    _refuse_foreign(status)
    if status.pending:
        raise DatabaseOutdated(
            f"the database's schema is at version {status.version}, this program needs {status.latest}", hint=MIGRATE
        )
    row = database.row(_SQL["find_citext"])
    if row is None or not row["found"]:
        raise DatabaseOutdated(
            "refs would be compared by case: citext is not on the search_path",
            hint="Put the schema that holds the extension citext on the search_path of the database user.",
        )


def migrate(database: Database, migrations: Sequence[Migration] | None = None) -> tuple[Migration, ...]:
    """Apply what is pending, one transaction each; answers what this call applied.

    Safe to call from several processes at once. When there is nothing to do it only reads. ``migrations`` are this
    program's own unless given. Raises ``DatabaseOutdated`` when the database is newer than this program, or was made by
    another text of a migration.
    """
    migrations = _or_own(migrations)
    status = find_schema_status(database, migrations)
    _refuse_foreign(status)
    done: list[Migration] = []
    while status.pending:
        applied = database.in_transaction(lambda connection: _apply_next(connection, migrations))
        if applied is None:
            break
        done.append(applied)
    return tuple(done)


def _apply_next(connection: Connection, migrations: Sequence[Migration]) -> Migration | None:
    """Apply the first pending migration; None when another migrator was faster."""
    connection.execute(_SQL["wait_as_long_as_it_takes"])
    connection.execute(_SQL["lock_schema"])
    status = compare(migrations, _find_applied(connection))
    _refuse_foreign(status)
    if not status.pending:
        return None
    following = status.pending[0]
    connection.execute(_SQL["create_history_table"])
    connection.execute(_SQL["use_one_path"])
    connection.execute(following.text.encode())
    connection.execute(
        _SQL["record_applied"],
        {"version": following.version, "name": following.name, "checksum": following.checksum},
    )
    return following


def _find_applied(connection: Connection) -> Mapping[int, str]:
    found = connection.execute(_SQL["find_history_table"]).fetchone()
    if found is None or not found["exists"]:
        return {}
    return {row["version"]: row["checksum"] for row in connection.execute(_SQL["list_applied"])}


def _or_own(migrations: Sequence[Migration] | None) -> Sequence[Migration]:
    return list_migrations() if migrations is None else migrations


def _refuse_foreign(status: SchemaStatus) -> None:
    if status.unknown:
        raise DatabaseOutdated(
            f"the database's schema is at version {status.version}, this program knows only {status.latest}",
            hint="Install the newer inbox-loop that this database was last used with.",
        )
    if status.changed:
        raise DatabaseOutdated(
            f"migration {status.changed[0]:04} of this program is not the one that made the database",
            hint="Use the release of inbox-loop the database was made with, or restore its backup into a new database.",
        )
