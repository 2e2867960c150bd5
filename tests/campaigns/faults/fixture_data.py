"""The world outside of the database: one line for each thing that happened, synced to the disk."""

import json
import os
import threading
from pathlib import Path
from typing import Any

#: Names the file in the environment of every process of the product.
WORLD = "CAMPAIGN_WORLD"


def happened(kind: str, **facts: Any) -> None:
    """Append one line; it is there whatever becomes of this process afterwards."""
    line = json.dumps({"kind": kind, **facts}) + "\n"
    file = os.open(os.environ[WORLD], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, line.encode())  # one write: lines of other processes stay whole
        os.fsync(file)
    finally:
        os.close(file)


class World:
    """Reads what happened so far; may be shared by threads."""

    def __init__(self, path: Path) -> None:
        path.touch()
        self._path = path
        self._guard = threading.Lock()
        self._read = 0
        self._lines: list[dict[str, Any]] = []
        self._effects: set[tuple[str, str]] = set()

    def lines(self, *kinds: str) -> list[dict[str, Any]]:
        """What happened of these kinds, in order."""
        with self._guard:
            self._read_on()
            return [line for line in self._lines if line["kind"] in kinds]

    def has_effect(self, thread_id: str, tool_call_id: str) -> bool:
        """Whether the tool call did what it does."""
        with self._guard:
            self._read_on()
            return (thread_id, tool_call_id) in self._effects

    def _read_on(self) -> None:
        with self._path.open("rb") as file:
            file.seek(self._read)
            # The last line may be half there while somebody else writes it.
            complete, newline, _ = file.read().rpartition(b"\n")
        self._read += len(complete) + len(newline)
        for line in complete.splitlines():
            fact = json.loads(line)
            self._lines.append(fact)
            if fact["kind"] == "effect":
                self._effects.add((fact["thread"], fact["call"]))
