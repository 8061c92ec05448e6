"""``inbox-loop db status``: how the schema stands to this program, and whether the tenants' walls hold its user."""

from __future__ import annotations

import typer

from inbox_loop.commands.options import ConfigOption, JsonOption, read_settings
from inbox_loop.commands.show import print_line, print_records
from inbox_loop.commands.wiring import connect_database
from inbox_loop.errors import EXIT_FINE, EXIT_LOOK
from inbox_loop.repository.migrate import SchemaStatus, find_schema_status
from inbox_loop.repository.tenants import find_walls

_HELD = "The walls between tenants hold the database user."
_PASSES_BY = (
    "The database user passes by the walls between tenants: it is a superuser or has BYPASSRLS. "
    "Name another one in database.url."
)


def show_schema(context: typer.Context, *, config: ConfigOption = None, as_json: JsonOption = False) -> int:
    """Show the schema's version and what is still to be applied. Writes nothing.

    Also says whether the walls between tenants hold the database user: Postgres lets superusers, and users with
    BYPASSRLS, pass by them. Exit code 1 when the program can't work with the database as it is.
    """
    settings = read_settings(context, config)
    with connect_database(settings) as database:
        status = find_schema_status(database)
        walls_hold = find_walls(database)
    if as_json:
        print_records([_record(status) | {"walls_hold": walls_hold}])
    else:
        print_line(_in_words(status))
        print_line(_HELD if walls_hold else _PASSES_BY)
    return EXIT_FINE if status.up_to_date else EXIT_LOOK


def _record(status: SchemaStatus) -> dict[str, object]:
    return {
        "version": status.version,
        "latest": status.latest,
        "up_to_date": status.up_to_date,
        "pending": [f"{migration.version:04}_{migration.name}" for migration in status.pending],
        "unknown": list(status.unknown),
        "changed": list(status.changed),
    }


def _in_words(status: SchemaStatus) -> str:
    if status.unknown:
        return f"The schema is at version {status.version}, newer than this program, which knows {status.latest}."
    if status.changed:
        return f"Migration {status.changed[0]:04} was applied from another text than this program's."
    if status.pending:
        return (
            f"The schema is at version {status.version} of {status.latest}. Bring it up to date: inbox-loop db migrate"
        )
    return f"The schema is at version {status.version}, up to date."
