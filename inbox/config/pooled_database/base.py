"""
The database wrapper of the scaled shape.

While PostgreSQL is away, each request would wait for a connection as long as the pool waits, in a
thread that others need. After the first one that has waited in vain, connections are refused at
once, until a thread that tries in the background has got one.
"""

import threading
from typing import Any

import psycopg
import structlog
from django.db.backends.postgresql import base
from psycopg_pool import ConnectionPool, PoolClosed

log = structlog.get_logger(__name__)

RETRY_SECONDS = 0.5


class Breaker:
    """Knows whether the database is away, and finds out when it is back."""

    def __init__(self) -> None:
        self.is_open = False
        self._turn = threading.Lock()

    def open(self, pool: "ConnectionPool[Any]") -> None:
        """Refuse connections until the pool has one that works."""
        with self._turn:
            if self.is_open:
                return
            self.is_open = True
        log.warning("database away, connections are refused")
        threading.Thread(target=self._heal, args=[pool], name="database", daemon=True).start()

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


_breaker = Breaker()


class DatabaseWrapper(base.DatabaseWrapper):
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        if self.pool is None:
            return super().get_new_connection(conn_params)
        if _breaker.is_open:
            raise self.Database.OperationalError("the database is away; it is tried again")
        try:
            return super().get_new_connection(conn_params)
        except self.Database.OperationalError:
            _breaker.open(self.pool)
            raise
