"""What must be true of the rows, whatever happened to the processes; read with plain SQL."""

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psycopg

_TERMINAL = "('RUN_FINISHED', 'RUN_ERROR')"

_GAPS = """
SELECT t.external_id, count(e.seq), coalesce(min(e.seq), 1), coalesce(max(e.seq), 0), t.next_seq
FROM inbox_thread t LEFT JOIN inbox_event e ON e.thread_id = t.id
GROUP BY t.id
HAVING count(e.seq) <> coalesce(max(e.seq), 0) OR coalesce(min(e.seq), 1) <> 1
    OR t.next_seq <> coalesce(max(e.seq), 0) + 1
"""
_UNENDED = "SELECT id, status FROM inbox_run WHERE status IN ('queued', 'running')"
_STUCK = """
SELECT r.id FROM inbox_run r
WHERE r.status = 'interrupted' AND NOT EXISTS (SELECT 1 FROM inbox_run n WHERE n.resumes_id = r.id)
    AND NOT EXISTS (SELECT 1 FROM inbox_interrupt i WHERE i.run_id = r.id AND i.status = 'open')
"""
_WAITING = """
SELECT count(*) FROM inbox_run r WHERE r.status IN ('queued', 'running')
    OR (r.status = 'interrupted' AND NOT EXISTS
        (SELECT 1 FROM inbox_run n WHERE n.resumes_id = r.id))
"""
_NOT_ONE_END = f"""
SELECT r.id, r.status, count(e.seq) FILTER (WHERE e.type IN {_TERMINAL}) AS ends,
    count(e.seq) FILTER (WHERE e.type = 'RUN_STARTED') AS starts
FROM inbox_run r LEFT JOIN inbox_event e ON e.run_id = r.id
WHERE r.status NOT IN ('queued', 'running')
GROUP BY r.id
HAVING count(e.seq) FILTER (WHERE e.type IN {_TERMINAL}) <> 1
    OR count(e.seq) FILTER (WHERE e.type = 'RUN_STARTED') <> 1
"""
_NOT_LAST = f"""
SELECT e.run_id, e.type FROM inbox_event e
WHERE e.type IN {_TERMINAL} AND EXISTS
    (SELECT 1 FROM inbox_event later WHERE later.run_id = e.run_id AND later.seq > e.seq)
"""
_RESULTS = "SELECT thread_id, body FROM inbox_event WHERE type = 'TOOL_CALL_RESULT'"
_FAILED = """
SELECT id, error_code, attempt FROM inbox_run WHERE status = 'failed'
    AND NOT (error_code = 'WORKER_LOST' AND attempt = 3)
"""
_STARTED = "SELECT 1 FROM inbox_toolcall WHERE state = 'started' AND effect = 'once' LIMIT 1"
_TEXTS = """
SELECT r.id, r.input, string_agg(e.body::json ->> 'delta', '' ORDER BY e.seq)
FROM inbox_run r JOIN inbox_event e ON e.run_id = r.id AND e.type = 'TEXT_MESSAGE_CONTENT'
WHERE r.status = 'succeeded' AND r.input LIKE '%%rehearse:stream:%%'
GROUP BY r.id
"""


class Facts:
    """The database of the product under test: a PostgreSQL, or the file of an SQLite."""

    def __init__(self, database: str | Path) -> None:
        self._database = database

    def rows(self, query: str, *arguments: Any) -> Sequence[tuple[Any, ...]]:
        if isinstance(self._database, Path):
            connection = sqlite3.connect(f"file:{self._database}?mode=ro", uri=True, timeout=30)
            try:
                return connection.execute(query.replace("%s", "?"), arguments).fetchall()
            finally:
                connection.close()
        with psycopg.connect(self._database, autocommit=True) as server:
            return server.execute(query, arguments or None).fetchall()

    def value(self, query: str, *arguments: Any) -> Any:
        ((value,),) = self.rows(query, *arguments)
        return value

    def is_everything_ended(self) -> bool:
        """Whether no run is active and no thread waits for an answer or for its resume."""
        return self.value(_WAITING) == 0

    def active_threads(self) -> int:
        """How many threads have a run that is active, or waits for an answer or its resume."""
        return int(self.value(_WAITING))

    def wait_for_started_effect(self, *, seconds: float) -> bool:
        """Wait for a moment between the start of a `once` tool and its result."""
        deadline = time.monotonic() + seconds
        with psycopg.connect(str(self._database), autocommit=True) as connection:
            while time.monotonic() < deadline:
                if connection.execute(_STARTED).fetchone():
                    return True
        return False

    def violations(self) -> list[str]:
        """Everything that contradicts what the product promises, value sentence each."""
        violations = [f"run {run} is still {status}" for run, status in self.rows(_UNENDED)]
        violations += [
            f"run {run} is all answered and never resumed" for (run,) in self.rows(_STUCK)
        ]
        violations += [
            f"thread {name}: {number} events from seq {first} to {last}, next_seq {following}"
            for name, number, first, last, following in self.rows(_GAPS)
        ]
        violations += [
            f"run {run} ({status}) has {ended} terminal events and {started} RUN_STARTED"
            for run, status, ended, started in self.rows(_NOT_ONE_END)
        ]
        violations += [f"run {run} goes on after {end}" for run, end in self.rows(_NOT_LAST)]
        results = Counter(
            (thread, json.loads(body)["toolCallId"]) for thread, body in self.rows(_RESULTS)
        )
        violations += [
            f"tool call {call} of thread {thread} has {number} results"
            for (thread, call), number in results.items()
            if number > 1
        ]
        return violations + [
            f"run {run} failed with {code} at attempt {attempt}"
            for run, code, attempt in self.rows(_FAILED)
        ]

    def wrong_texts(self) -> list[str]:
        """Streams of the rehearsal agent, on PostgreSQL, that do not say each word once."""
        return [sentence for row in self.rows(_TEXTS) for sentence in _check_text(*row)]


def _check_text(run: Any, arguments: str, text: str) -> list[str]:
    """A stream that was cut and driven again has each of its words once."""
    message = json.loads(arguments)["messages"][-1]["content"]
    number = int(message.removeprefix("rehearse:stream:").split(":")[0])
    expected = "".join(f"word {index} " for index in range(1, number + 1))
    if text == expected:
        return []
    return [f"run {run}: {len(text)} characters of text, expected {len(expected)}"]


class Ledger:
    """What the rehearsal agent's tools really did, outside of the product's rows."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def executions(self, thread_id: str, tool_call_id: str) -> int:
        return self._count("thread_id = ? AND tool_call_id = ?", thread_id, tool_call_id)

    def executions_of(self, key: str) -> int:
        return self._count("key = ?", key)

    def more_than_once(self, prefix: str) -> list[tuple[str, int]]:
        """Keys with this prefix that were executed more than once."""
        query = (
            "SELECT key, count(*) FROM execution WHERE key LIKE ? GROUP BY key HAVING count(*) > 1"
        )
        return self._rows(query, f"{prefix}%")

    def _count(self, where: str, *arguments: str) -> int:
        ((number,),) = self._rows(f"SELECT count(*) FROM execution WHERE {where}", *arguments)
        return int(number)

    def _rows(self, query: str, *arguments: str) -> list[Any]:
        if not self._path.exists():
            return [(0,)] if "GROUP BY" not in query else []
        connection = sqlite3.connect(self._path, timeout=30)
        try:
            return connection.execute(query, arguments).fetchall()
        finally:
            connection.close()
