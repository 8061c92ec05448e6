"""``inbox-loop db migrate``: bring the schema up to date."""

from __future__ import annotations

import typer

from inbox_loop.commands.options import ConfigOption, JsonOption, read_settings
from inbox_loop.commands.show import print_line, print_records
from inbox_loop.commands.wiring import connect_database
from inbox_loop.repository.migrate import find_schema_status, migrate


def migrate_database(context: typer.Context, *, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Bring the database's schema up to date; it only goes forward.

    The private Postgres is brought up to date by itself. Safe to run again, and while others run it.
    """
    settings = read_settings(context, config)
    with connect_database(settings) as database:
        applied = migrate(database)
        version = find_schema_status(database).version
    if as_json:
        print_records({"version": migration.version, "name": migration.name} for migration in applied)
        return
    for migration in applied:
        print_line(f"applied {migration.version:04} {migration.name}")
    print_line(f"The schema is at version {version}.")
