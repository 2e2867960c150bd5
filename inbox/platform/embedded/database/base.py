"""
SQLite database backend with a first-come, first-served queue of writers.

Why: a writer that finds SQLite locked sleeps up to 100 ms and tries again, in no order. All our
writers are threads of one process, so they can wait for each other instead. Django also rewrites
the placeholders of each statement with a regular expression each time it runs.
Remove when: SQLite's busy handler is fair, or the embedded shape has another database.
"""

import threading
from collections import deque
from functools import lru_cache
from typing import Any

from django.db.backends.sqlite3 import base

from inbox.platform.db_executor import DatabaseBusy

#: The usual busy timeout of SQLite.
TIMEOUT_SECONDS = 30.0


class FairLock:
    """A lock that is granted in the order of requests."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._is_held = False

    def acquire(self, timeout: float) -> bool:
        """Return whether the lock was acquired within `timeout` seconds."""
        with self._guard:
            if not self._is_held:
                self._is_held = True
                return True
            granted = threading.Event()
            self._waiting.append(granted)
        if granted.wait(timeout):
            return True
        with self._guard:
            if granted.is_set():
                return True  # released to this thread after the wait timed out
            self._waiting.remove(granted)
        return False

    def release(self) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._is_held = False


_write_lock = FairLock()


class _Cursor(base.SQLiteCursorWrapper):
    """A cursor that converts each statement's `%s` placeholders once."""

    def convert_query(self, query: str, *, param_names: list[str] | None = None) -> str:
        if param_names is not None:
            return super().convert_query(query, param_names=param_names)
        return _question_marks(query)


@lru_cache(maxsize=1000)
def _question_marks(query: str) -> str:
    return base.FORMAT_QMARK_REGEX.sub("?", query).replace("%%", "%")


class DatabaseWrapper(base.DatabaseWrapper):
    """A wrapper that holds the write lock from the beginning to the end of a transaction."""

    _has_write_lock = False

    def create_cursor(self, name: str | None = None) -> Any:
        return self.connection.cursor(factory=_Cursor)

    def _start_transaction_under_autocommit(self) -> None:
        if not _write_lock.acquire(TIMEOUT_SECONDS):
            raise DatabaseBusy("database is locked")
        self._has_write_lock = True
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._release()
            raise

    def _commit(self) -> None:
        # Django rolls a failed commit back, which releases the lock.
        super()._commit()  # type: ignore[misc]
        self._release()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self._release()

    def _close(self) -> Any:
        try:
            return super()._close()  # type: ignore[misc]
        finally:
            self._release()

    def _release(self) -> None:
        if self._has_write_lock:
            self._has_write_lock = False
            _write_lock.release()
