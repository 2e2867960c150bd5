"""
The database wrapper of the scaled shape.

While PostgreSQL is away, each request would wait for a connection as long as the pool waits, in a
thread that others need. After the first one that has waited in vain, connections are refused at
once, until a thread that tries in the background has got one. A pool whose connections are all in
use is no reason for that: only the request that has waited is refused.
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

log = structlog.get_logger(__name__)

RETRY_SECONDS = 0.5
PROBE_SECONDS = 2


class Breaker:
    """Knows whether the database is away, and finds out when it is back."""

    def __init__(self) -> None:
        self.is_open = False
        self._turn = threading.Lock()

    def open_if_away(self, pool: "ConnectionPool[Any]", error: Exception) -> bool:
        """
        Refuse connections until the pool has one that works, unless its connections are in use.

        Returns:
            Whether connections are refused now.
        """
        with self._turn:
            if self.is_open:
                return True
            if isinstance(error, PoolTimeout) and _answers(_address(pool)):
                return False
            self.is_open = True
        log.warning("database away, connections are refused")
        threading.Thread(target=self._heal, args=[pool], name="database", daemon=True).start()
        return True

    def _heal(self, pool: "ConnectionPool[Any]") -> None:
        while not _works(pool):
            threading.Event().wait(RETRY_SECONDS)
        self.is_open = False
        log.info("database back")


def _works(pool: "ConnectionPool[Any]") -> bool:
    """Return whether the pool has a connection that works, or is closed and tells that itself."""
    try:
        with pool.connection() as connection:
            connection.execute("SELECT 1")
    except PoolClosed:
        return True
    except psycopg.Error:
        return False
    return True


def _address(pool: "ConnectionPool[Any]") -> str:
    """Return where the pool connects to, for libpq."""
    of_psycopg = ("autocommit", "context", "cursor_factory", "prepare_threshold")
    options = pool.kwargs() if callable(pool.kwargs) else pool.kwargs or {}
    known = {name: value for name, value in options.items() if name not in of_psycopg}
    return make_conninfo(**{**known, "connect_timeout": PROBE_SECONDS})


def _answers(address: str) -> bool:
    """Return whether the server takes connections, or would if it had any left."""
    try:
        psycopg.connect(address).close()
    except psycopg.errors.ConnectionTimeout:
        return False
    except psycopg.OperationalError:
        # An error of the server has no code here: libpq knows it from a server that is away. It
        # would stop all threads while it waits, so it is asked only where something has answered.
        return PGconn.ping(address.encode()) == Ping.OK
    return True


_breaker = Breaker()


class DatabaseWrapper(base.DatabaseWrapper):
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        if self.pool is None:
            return super().get_new_connection(conn_params)
        if _breaker.is_open:
            raise self.Database.OperationalError("the database is away; it is tried again")
        try:
            return super().get_new_connection(conn_params)
        except self.Database.OperationalError as error:
            if not _breaker.open_if_away(self.pool, error):
                raise DatabaseBusy("all connections to the database are in use") from error
            raise
