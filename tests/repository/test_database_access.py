"""The way to Postgres: bounded, honest about what went wrong, and silent about secrets."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from inbox_loop.errors import (
    ConfigError,
    DatabaseConflict,
    DatabaseOutdated,
    DatabaseRefused,
    DatabaseUnreachable,
    InboxLoopError,
    InvalidValue,
)
from inbox_loop.repository.database import ATTEMPTS, Connection, Database
from inbox_loop.repository.session import Session
from inbox_loop.repository.tenants import ensure_tenant


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port of this machine that nobody listens on, held so that nobody else takes it."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


def everything_said_by(error: InboxLoopError) -> str:
    return f"{error} {error!r} {error.hint} {error.__cause__!r}"


def test_a_server_that_does_not_answer_is_told_in_one_line_without_the_password(closed_port: int) -> None:
    url = f"postgresql://loop:s3cret@127.0.0.1:{closed_port}/tasks"
    with (
        pytest.raises(DatabaseUnreachable, match=f"127.0.0.1:{closed_port}, database 'tasks'") as raised,
        Database(url),
    ):
        raise AssertionError("not reached")
    assert "\n" not in str(raised.value)
    assert "s3cret" not in everything_said_by(raised.value)
    assert raised.value.hint


@pytest.mark.parametrize("url", ["postgresql://[u:s3cret/db", "s3cret", "postgresql://h/d?nonsense=s3cret"])
def test_a_url_that_is_none_is_a_matter_of_configuration_and_is_not_shown(url: str) -> None:
    with pytest.raises(ConfigError, match=r"database\.url: ") as raised:
        Database(url)
    assert "s3cret" not in everything_said_by(raised.value)


def test_a_database_that_does_not_exist_is_named(server_url: str) -> None:
    url = server_url.replace("/inbox_loop?", "/no_such?")
    with pytest.raises(DatabaseUnreachable, match="no_such"), Database(url):
        raise AssertionError("not reached")


def test_a_database_in_another_encoding_is_refused(server_url: str, empty_database_url: str) -> None:
    name = sql.Identifier(str(conninfo_to_dict(empty_database_url)["dbname"]))
    again = "create database {} template template0 encoding 'SQL_ASCII' locale 'C' locale_provider libc"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(sql.SQL("drop database {}").format(name))
        connection.execute(sql.SQL(again).format(name))
    with pytest.raises(DatabaseOutdated, match="SQL_ASCII"), Database(empty_database_url):
        raise AssertionError("not reached")


def test_after_the_server_dropped_every_connection_one_call_fails_and_the_next_works(
    database: Database, database_url: str
) -> None:
    for _ in range(3):
        database.rows(b"select 1")
    with psycopg.connect(database_url, autocommit=True) as killer:
        query = (
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> %s"
        )
        assert killer.execute(query, [killer.info.backend_pid]).rowcount >= 1
    with pytest.raises(DatabaseUnreachable, match="the connection was lost"):
        database.rows(b"select 1")
    for _ in range(8):
        assert database.rows(b"select 1 as one") == [{"one": 1}]


def test_a_connection_that_can_not_be_had_is_not_waited_for_without_end(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inbox_loop.repository.database.CONNECT_SECONDS", 0.1)
    refusal = pytest.raises(DatabaseUnreachable, match="no connection could be had in time")
    with Database(database_url, pool_size=1) as database, database.connection(), refusal:
        database.rows(b"select 1")


def test_a_session_is_bounded_and_says_who_it_is(database: Database, database_url: str) -> None:
    query = b"""
        select current_setting('application_name') as name, current_setting('statement_timeout') as statement,
               current_setting('lock_timeout') as lock,
               current_setting('idle_in_transaction_session_timeout') as idle
    """
    bounds = {"statement": "30s", "lock": "5s", "idle": "1min"}
    assert database.row(query) == {"name": "inbox-loop", **bounds}
    with Database(f"{database_url}&application_name=mine") as named:
        assert named.row(query) == {"name": "mine", **bounds}


def test_a_statement_that_takes_too_long_is_ended(database: Database) -> None:
    def work(connection: Connection) -> None:
        connection.execute("set local statement_timeout = '20ms'")
        connection.execute("select pg_sleep(20)")

    with pytest.raises(DatabaseUnreachable, match="took too long"):
        database.in_transaction(work)


def test_a_transaction_is_read_committed_whatever_the_server_prefers(database_url: str) -> None:
    url = f"{database_url}&options=-c%20default_transaction_isolation%3Dserializable"
    query = "select current_setting('transaction_isolation') as level"
    with Database(url) as database:
        row = database.in_transaction(lambda connection: connection.execute(query).fetchone())
    assert row == {"level": "read committed"}


def test_a_read_only_connection_refuses_writes_and_the_next_user_may_write(database: Database) -> None:
    insert = b"insert into tenants (slug) values ('acme') returning slug"
    with pytest.raises(DatabaseUnreachable, match="only allows reads"), database.read_only() as connection:
        connection.execute(insert)
    assert database.row(insert) == {"slug": "acme"}


@pytest.mark.parametrize("state", ["40001", "40P01", "55P03"])
def test_a_lost_race_is_run_again_a_bounded_number_of_times(database: Database, state: str) -> None:
    database.in_transaction(lambda connection: connection.execute("create sequence attempts"))
    fail = f"do $$ begin perform nextval('attempts'); raise exception 'x' using errcode = '{state}'; end $$"
    with pytest.raises(DatabaseConflict):
        database.in_transaction(lambda connection: connection.execute(fail.encode()))
    assert database.row(b"select last_value from attempts") == {"last_value": ATTEMPTS}
    with pytest.raises(DatabaseConflict):
        database.rows(fail.encode())
    assert database.row(b"select last_value from attempts") == {"last_value": 2 * ATTEMPTS}


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("select * from no_such_table", DatabaseOutdated),
        ("select no_such_column from tenants", DatabaseOutdated),
        ("select no_such_function()", DatabaseOutdated),
        ("select 'x'::integer", InvalidValue),
        ("selec", DatabaseRefused),
        ("do $$ begin raise exception 'a body of a mail' using errcode = 'ZZ999'; end $$", DatabaseRefused),
        ("do $$ begin raise exception 'a body of a mail' using errcode = '57P03'; end $$", DatabaseUnreachable),
        ("do $$ begin raise exception 'a body of a mail' using errcode = '53100'; end $$", DatabaseUnreachable),
        ("create role other", DatabaseRefused),
    ],
)
def test_what_postgres_says_becomes_an_error_of_ours_without_its_text(
    database: Database, statement: str, error: type[InboxLoopError]
) -> None:
    with pytest.raises(error) as raised:
        database.rows(statement.encode())
    assert type(raised.value) is error
    assert "mail" not in everything_said_by(raised.value)
    assert raised.value.__suppress_context__


def test_a_session_whose_binding_was_interrupted_is_bound_anew(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C may come when the server has bound it and the program does not know yet."""
    with Database(database_url, pool_size=1) as database:
        for tenant in ("acme", "beta"):
            ensure_tenant(database, tenant, [])
        acme, beta = database.for_tenant("acme"), database.for_tenant("beta")
        count = b"select count(*) from tenants where slug = %(tenant)s"
        assert acme.row(count, {}) == beta.row(count, {}) == {"count": 1}
        execute = Session.execute

        def interrupted(self: Session, *args: Any, **kwargs: Any) -> object:  # noqa: ANN401 - as psycopg's
            execute(self, *args, **kwargs)
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(Session, "execute", interrupted)
            with pytest.raises(KeyboardInterrupt):
                acme.row(count, {})
        assert beta.row(count, {}) == {"count": 1}
