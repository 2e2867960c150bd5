"""
PostgreSQL database backend with a circuit breaker.

Why: while PostgreSQL is down, every request waits for the pool's timeout in a thread that others
need. After the first timeout, connections are refused at once until a background thread has got
one. If all connections are merely in use, only the request that timed out is refused. The first
connection of a process is tried without the pool, which hides the cause behind its timeout.
Remove when: psycopg_pool fails fast while its server is down, with the cause.
"""

import threading
from typing import Any

import psycopg
import structlog
from django.db.backends.postgresql import base
from psycopg.conninfo import make_conninfo
from psycopg.pq import PGconn, Ping
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from inbox.platform.db_executor import DatabaseBusy
from inbox.platform.deployment.connection_errors import (
    DatabaseUnreachable,
    database_problem,
    is_rejected,
)

log = structlog.get_logger(__name__)

RETRY_SECONDS = 0.5
PROBE_SECONDS = 2
#: For the first connection of a process.
START_SECONDS = 10


class Breaker:
    """A circuit breaker that closes itself when the database is back."""

    def __init__(self) -> None:
        self.is_open = False
        self._lock = threading.Lock()

    def open_if_down(self, pool: "ConnectionPool[Any]", error: Exception) -> bool:
        """
        Open the breaker unless the server answers, and return whether it is open.
        """
        with self._lock:
            if self.is_open:
                return True
            problem = _connection_error(_conninfo(pool, PROBE_SECONDS))
            if isinstance(error, PoolTimeout) and problem is None:
                return False
            self.is_open = True
        cause = database_problem(problem or error)
        log.warning("database down, connections are refused", error=cause)
        threading.Thread(
            target=self._close_when_up, args=[pool], name="database", daemon=True
        ).start()
        return True

    def _close_when_up(self, pool: "ConnectionPool[Any]") -> None:
        while not _has_working_connection(pool):
            threading.Event().wait(RETRY_SECONDS)
        self.is_open = False
        log.info("database back")


def _has_working_connection(pool: "ConnectionPool[Any]") -> bool:
    """Return whether the pool has a working connection, or is closed and reports that itself."""
    try:
        with pool.connection() as connection:
            connection.execute("SELECT 1")
    except PoolClosed:
        return True
    except psycopg.Error:
        return False
    return True


def _conninfo(pool: "ConnectionPool[Any]", timeout_seconds: int) -> str:
    """Return the connection string of the pool, for libpq."""
    psycopg_options = ("autocommit", "context", "cursor_factory", "prepare_threshold")
    options = pool.kwargs() if callable(pool.kwargs) else pool.kwargs or {}
    libpq_options = {name: value for name, value in options.items() if name not in psycopg_options}
    return make_conninfo(**{**libpq_options, "connect_timeout": timeout_seconds})


def _connection_error(conninfo: str) -> Exception | None:
    """Return why the server accepts no connection; None if it does, or has none left."""
    try:
        psycopg.connect(conninfo).close()
    except psycopg.errors.ConnectionTimeout as error:
        return error
    except psycopg.OperationalError as error:
        # The error has no code here; PQping tells "too many connections" from "down". PQping blocks
        # all threads, so it runs only after a server has answered.
        is_full = not is_rejected(error) and PGconn.ping(conninfo.encode()) == Ping.OK
        return None if is_full else error
    return None


_breaker = Breaker()
_has_connected = threading.Event()  # once in this process


class DatabaseWrapper(base.DatabaseWrapper):
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        if self.pool is None:
            return super().get_new_connection(conn_params)
        if _breaker.is_open:
            raise self.Database.OperationalError(
                "The database is down. The connection is retried in the background."
            )
        if not _has_connected.is_set():
            self._check_server()
        try:
            return super().get_new_connection(conn_params)
        except self.Database.OperationalError as error:
            if not _breaker.open_if_down(self.pool, error):
                raise DatabaseBusy("All connections to the database are in use.") from error
            raise

    def _check_server(self) -> None:
        """
        Try a connection without the pool.

        Raises:
            DatabaseUnreachable.
        """
        if error := _connection_error(_conninfo(self.pool, START_SECONDS)):
            raise DatabaseUnreachable(database_problem(error)) from error
        _has_connected.set()
