"""A transaction of somebody else, which stays open until a test lets it go on."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connections

_PATIENCE_SECONDS = 30
#: Of this transaction: other tests wait in the same server.
_WAITING = (
    "SELECT count(*) FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))"
)


def is_waited_for(cursor: Any) -> bool:
    """Return whether another transaction waits for the one of this cursor."""
    cursor.execute(_WAITING)
    return bool(cursor.fetchone()[0])


@contextmanager
def hold_transaction(
    begin: str, go_on: Callable[[Any], None] = lambda cursor: None
) -> Iterator[threading.Event]:
    """
    Run the statements of `begin` in a transaction of another thread.

    Once the event is set, `go_on` gets the cursor, and the transaction commits.
    """
    has_begun, may_go_on = threading.Event(), threading.Event()

    def run() -> None:
        try:
            with connections["default"].cursor() as cursor:
                cursor.execute(f"BEGIN; {begin}")
                has_begun.set()
                may_go_on.wait(_PATIENCE_SECONDS)
                go_on(cursor)
                cursor.execute("COMMIT")
        finally:
            connections.close_all()

    other = threading.Thread(target=run)
    other.start()
    assert has_begun.wait(_PATIENCE_SECONDS)
    try:
        yield may_go_on
    finally:
        may_go_on.set()
        other.join()
