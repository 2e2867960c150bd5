"""
The database wrapper of the embedded shape.

SQLite lets those who find it locked sleep and try again, in no order and for up to a tenth of a
second at a time. All our writers are threads of one process, so they can wait in line instead.
"""

import threading
from collections import deque
from typing import Any

from django.db.backends.sqlite3 import base

from inbox.platform.db_executor import DatabaseBusy

#: As long as SQLite itself would wait, in seconds.
PATIENCE_SECONDS = 30.0


class Line:
    """First come, first served; one at a time."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._waiting: deque[threading.Event] = deque()
        self._taken = False

    def enter(self, timeout: float) -> bool:
        """Wait for one's turn; return whether it came in time."""
        with self._guard:
            if not self._taken:
                self._taken = True
                return True
            turn = threading.Event()
            self._waiting.append(turn)
        if turn.wait(timeout):
            return True
        with self._guard:
            if turn.is_set():
                return True  # it came between the two lines above
            self._waiting.remove(turn)
        return False

    def leave(self) -> None:
        """Let the next one in."""
        with self._guard:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False


_line = Line()


class DatabaseWrapper(base.DatabaseWrapper):
    """Enters the line where a transaction begins and leaves it where it ends."""

    _is_in_line = False

    def _start_transaction_under_autocommit(self) -> None:
        if not _line.enter(PATIENCE_SECONDS):
            raise DatabaseBusy("database is locked")
        self._is_in_line = True
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc]
        except BaseException:
            self._leave()
            raise

    def _commit(self) -> None:
        # A commit that fails is rolled back by Django, and leaves there.
        super()._commit()  # type: ignore[misc]
        self._leave()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc]
        finally:
            self._leave()

    def _close(self) -> Any:
        try:
            return super()._close()  # type: ignore[misc]
        finally:
            self._leave()

    def _leave(self) -> None:
        if self._is_in_line:
            self._is_in_line = False
            _line.leave()
