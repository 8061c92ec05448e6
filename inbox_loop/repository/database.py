"""The way to Postgres: a pool of connections, transactions that run again after a lost race, errors in plain words.

Every statement has bounds in time (see ``session.py``). A single statement runs in autocommit; several run together
in ``in_transaction``. A lost connection is not tried again here: whether a commit went through can't be known, and the
caller's next pass finds out. What comes out of here is an error of our tree, never psycopg's.

A ``Database`` works for all tenants, and passes their walls. The work of one tenant goes through ``for_tenant``.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import UUID

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import DictRow, TupleRow, dict_row
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from inbox_loop.errors import (
    ConfigError,
    DatabaseOutdated,
    DatabaseUnreachable,
    InboxLoopError,
    NoSuchTenant,
    Problem,
)
from inbox_loop.repository.clean import check_text
from inbox_loop.repository.faults import lost_connection, lost_race, typed_error
from inbox_loop.repository.session import Session
from inbox_loop.repository.statements import Statements

T = TypeVar("T")
Connection = psycopg.Connection[DictRow]
Params = Mapping[str, Any]

# A transaction that lost a race runs again so many times, after waits that double from the first one.
ATTEMPTS = 5
FIRST_WAIT_SECONDS = 0.005

CONNECT_SECONDS = 10
OLDEST_VERSION = 15

# Unless the URL says otherwise: a peer that vanished without a word is noticed within a minute.
_CONNECTION_DEFAULTS = {
    "application_name": "inbox-loop",
    "connect_timeout": str(CONNECT_SECONDS),
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}

_SQL = Statements("database")


class Database:
    """An open database. Safe to use from several threads.

    Opening raises ``DatabaseUnreachable`` when nothing answers, ``ConfigError`` when ``url`` is no URL of Postgres,
    ``DatabaseOutdated`` when the server is older than version 15 or the database is not in UTF-8.
    """

    def __init__(self, url: str, *, pool_size: int = 4) -> None:
        self._conninfo, self._place = _read_url(url)
        self._pool: ConnectionPool[Session] = ConnectionPool(
            self._conninfo,
            connection_class=Session,
            kwargs={"autocommit": True, "row_factory": dict_row},
            min_size=1,
            max_size=pool_size,
            open=False,
            configure=Session.configure,
            timeout=CONNECT_SECONDS,
            reconnect_timeout=CONNECT_SECONDS / 2,
            name="inbox-loop",
        )

    def __enter__(self) -> Self:
        with self.own_connection() as connection:
            _check_server(connection)
        self._pool.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.close()

    def for_tenant(self, slug: str) -> TenantDatabase:
        """The same database for the work of one tenant, behind its walls. Asks nobody before it is used."""
        return TenantDatabase(self, slug)

    def rows(self, statement: bytes, params: Params | None = None, *, bound_to: UUID | None = None) -> list[DictRow]:
        """Run one statement by itself; all its rows. A write that lost a race runs again."""
        return self._run(lambda session: session.single.execute(statement, params).fetchall(), bound_to)

    def tuples(self, statement: bytes, params: Params, *, bound_to: UUID | None = None) -> list[TupleRow]:
        """``rows`` as tuples, which cost less to make."""
        return self._run(lambda session: session.single_tuples.execute(statement, params).fetchall(), bound_to)

    def row(self, statement: bytes, params: Params | None = None, *, bound_to: UUID | None = None) -> DictRow | None:
        """Run one statement by itself; its first row, None when it has none."""
        return self._run(lambda session: session.single.execute(statement, params).fetchone(), bound_to)

    def in_transaction(self, work: Callable[[Connection], T], *, bound_to: UUID | None = None) -> T:
        """Run ``work`` in one READ COMMITTED transaction, and again from its start when it lost a race.

        ``work`` must do nothing outside of the transaction. Raises ``DatabaseConflict`` after the last attempt.
        """

        def attempt(session: Session) -> T:
            with session.transaction():
                return work(session)

        return self._run(attempt, bound_to)

    @contextmanager
    def read_only(self, *, bound_to: UUID | None = None) -> Iterator[Connection]:
        """A connection in a transaction that refuses every write, for several reads that belong together."""
        with self.connection(bound_to=bound_to) as connection, connection.transaction():
            connection.execute(_SQL["start_read_only"])
            yield connection

    @contextmanager
    def connection(self, *, bound_to: UUID | None = None) -> Iterator[Connection]:
        """A connection of the pool, in autocommit. Waits for a free one at most ten seconds."""
        session = self._take()
        try:
            session.bind(bound_to)
            yield session
        except psycopg.Error as error:
            raise self._explained(error) from None
        finally:
            self._give_back(session)

    @contextmanager
    def own_connection(self) -> Iterator[Connection]:
        """A connection outside of the pool, in autocommit, for what is bound to a session; closed at the end."""
        try:
            session = Session.connect(self._conninfo, autocommit=True, row_factory=dict_row)
        except psycopg.Error as error:
            raise self._unreachable(_reason(error, self._conninfo)) from None
        with session:
            try:
                session.configure()
                yield session
            except psycopg.Error as error:
                raise self._explained(error) from None

    def _run(self, attempt: Callable[[Session], T], bound_to: UUID | None) -> T:
        wait = FIRST_WAIT_SECONDS
        for attempts_left in reversed(range(ATTEMPTS)):
            session = self._take()
            try:
                session.bind(bound_to)
                return attempt(session)
            except psycopg.Error as error:
                if not (lost_race(error) and attempts_left):
                    raise self._explained(error) from None
            finally:
                self._give_back(session)
            time.sleep(wait * random.uniform(0.5, 1.5))  # noqa: S311 - spreads rivals out, keeps no secret
            wait *= 2
        raise AssertionError("the last attempt returns or raises")

    def _take(self) -> Session:
        try:
            return self._pool.getconn()
        except (PoolTimeout, PoolClosed):
            raise self._unreachable("no connection could be had in time") from None

    def _give_back(self, session: Session) -> None:
        self._pool.putconn(session)

    def _explained(self, error: psycopg.Error) -> InboxLoopError:
        if lost_connection(error):
            # The others in the pool have most likely lost theirs too: replace them now, not one failure each.
            self._pool.check()
            return self._unreachable("the connection was lost")
        return typed_error(error)

    def _unreachable(self, reason: str) -> DatabaseUnreachable:
        return DatabaseUnreachable(
            f"Postgres at {self._place} can't be reached: {reason}",
            hint="Check that it runs and that database.url names it.",
        )


class TenantDatabase:
    """A database as one tenant's work sees it. Every session it uses is bound to the tenant by row-level security.

    Its statements find the tenant in the parameters ``tenant_id`` and ``tenant``, its name. Raises ``NoSuchTenant`` on
    use when the database has none of this name. Safe to use from several threads.
    """

    def __init__(self, database: Database, slug: str) -> None:
        self._database = database
        self._slug = slug
        self._tenant_id: UUID | None = None

    @property
    def tenant_id(self) -> UUID:
        """The tenant's id, asked for once: it never changes."""
        if self._tenant_id is None:
            check_text("tenant", self._slug)
            row = self._database.row(_SQL["find_tenant_id"], {"tenant": self._slug})
            if row is None:
                raise NoSuchTenant(
                    f"the database has no tenant {self._slug!r}", hint="Check mailboxes.tenant or --tenant."
                )
            self._tenant_id = row["tenant_id"]
        return self._tenant_id

    def rows(self, statement: bytes, params: Params) -> list[DictRow]:
        """``Database.rows`` for the tenant."""
        return self._database.rows(statement, self.params(params), bound_to=self.tenant_id)

    def tuples(self, statement: bytes, params: Params) -> list[TupleRow]:
        """``Database.tuples`` for the tenant."""
        return self._database.tuples(statement, self.params(params), bound_to=self.tenant_id)

    def row(self, statement: bytes, params: Params) -> DictRow | None:
        """``Database.row`` for the tenant."""
        return self._database.row(statement, self.params(params), bound_to=self.tenant_id)

    def in_transaction(self, work: Callable[[Connection], T]) -> T:
        """``Database.in_transaction`` for the tenant; ``work`` gives its statements ``params`` itself."""
        return self._database.in_transaction(work, bound_to=self.tenant_id)

    def own_connection(self) -> AbstractContextManager[Connection]:
        """``Database.own_connection``, which is bound to no tenant: for a lock of the session's own."""
        return self._database.own_connection()

    def params(self, params: Params) -> Params:
        """``params`` with the tenant's id and name."""
        return {**params, "tenant_id": self.tenant_id, "tenant": self._slug}


def _check_server(connection: Connection) -> None:
    server = connection.execute(_SQL["find_server"]).fetchone()
    if server is None or server["version"] < OLDEST_VERSION * 10000:
        raise DatabaseOutdated(
            "the Postgres server is too old", hint=f"PostgreSQL {OLDEST_VERSION} or newer is needed."
        )
    if server["encoding"] != "UTF8":
        raise DatabaseOutdated(
            f"the database's encoding is {server['encoding']}", hint="Make a database with encoding UTF8."
        )


def _read_url(url: str) -> tuple[str, str]:
    """What libpq is given, and how people are told where that is. Raises ``ConfigError``, which never shows the URL."""
    try:
        given = {key: str(value) for key, value in conninfo_to_dict(url).items() if value is not None}
        conninfo = make_conninfo(**(_CONNECTION_DEFAULTS | given))
    except psycopg.Error:
        raise ConfigError(
            (Problem("database.url", "is not a URL that Postgres understands"),),
            hint="Its form is postgresql://user:password@host:port/database.",
        ) from None
    place = f"{given.get('host', 'the default host')}:{given.get('port', '5432')}, database {given.get('dbname', '')!r}"
    return conninfo, place


def _reason(error: psycopg.Error, conninfo: str) -> str:
    """The first line of what libpq says of a failed connect, on one line and without the password."""
    password = conninfo_to_dict(conninfo).get("password")
    text = str(error).strip().partition("\n")[0] or "it does not answer"
    return text.replace(str(password), "***") if password else text
