"""A counter of real tool executions, outside of Signoff's database, to detect double ones."""

import fcntl
import os
import sqlite3
import threading
from pathlib import Path

_SCHEMA = """
CREATE TABLE IF NOT EXISTS execution (
    id INTEGER PRIMARY KEY, thread_id TEXT NOT NULL, tool_call_id TEXT NOT NULL, key TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS execution_call ON execution (thread_id, tool_call_id);
"""

_local = threading.local()
#: SQLite makes a writer that finds the database locked sleep for up to 100 ms.
_writing = threading.Lock()


def record(thread_id: str, tool_call_id: str, key: str) -> int:
    """
    Add one execution of a tool call; return how many there have been, this one included.

    Several processes and threads may record at once.
    """
    connection = _connect()
    with _writing, connection:
        connection.execute(
            "INSERT INTO execution (thread_id, tool_call_id, key) VALUES (?, ?, ?)",
            (thread_id, tool_call_id, key),
        )
        return _count(connection, thread_id, tool_call_id)


def count(thread_id: str, tool_call_id: str) -> int:
    """Return how often a tool call was executed, over all runs."""
    return _count(_connect(), thread_id, tool_call_id)


def counter_path() -> Path:
    """Return the path of the database: SIGNOFF_LEDGER, or a file below the current directory."""
    return Path(os.environ.get("SIGNOFF_LEDGER", "var/rehearsal-ledger.sqlite3")).absolute()


def _count(connection: sqlite3.Connection, thread_id: str, tool_call_id: str) -> int:
    (number,) = connection.execute(
        "SELECT count(*) FROM execution WHERE thread_id = ? AND tool_call_id = ?",
        (thread_id, tool_call_id),
    ).fetchone()
    return int(number)


def _connect() -> sqlite3.Connection:
    """Return this thread's connection, a new one when the path or the process is another."""
    key = (str(counter_path()), os.getpid())
    if getattr(_local, "key", None) != key:
        _local.connection = _open(counter_path())
        _local.key = key
    connection: sqlite3.Connection = _local.connection
    return connection


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    # One process at a time: the change to WAL fails at once if the file is locked.
    with path.with_name(f"{path.name}.opening").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        connection = sqlite3.connect(path, timeout=30)
        # Speed matters more than the last rows after a power failure.
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(_SCHEMA)
    return connection
