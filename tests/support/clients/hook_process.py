"""The hook of a coding agent as a process, with the events that hosts send."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.support.processes import REPOSITORY

EVENTS = REPOSITORY / "tests" / "unit" / "clients" / "hosts"


def event_of(host: str, name: str, **members: Any) -> dict[str, Any]:
    """Return an event as the host sends it, in a session of its own unless it is given."""
    event: dict[str, Any] = json.loads((EVENTS / host / f"{name}.in.json").read_text())
    session = {"copilot-cli": "sessionId", "cursor": "conversation_id"}.get(host, "session_id")
    call_id = {"tool_use_id": f"toolu_{uuid4().hex}"} if "tool_use_id" in event else {}
    return {**event, session: str(uuid4()), **call_id, **members}


class Hook:
    """Runs `signoff hook` for one host, with files in a directory of its own."""

    def __init__(self, desk: Any, directory: Path, host: str) -> None:
        self.desk = desk
        self.directory = directory
        self.host = host

    def start(
        self,
        event: Mapping[str, Any] | bytes,
        *options: str,
        command: tuple[str, ...] = ("-m", "signoff_client", "hook"),
        env: Mapping[str, str] | None = None,
        stdout: int = subprocess.PIPE,
    ) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [sys.executable, *command, self.host, *options],
            env=self.desk.environment(self.directory, **(env or {})),
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=subprocess.PIPE,
        )
        assert process.stdin is not None
        process.stdin.write(event if isinstance(event, bytes) else json.dumps(event).encode())
        process.stdin.close()
        process.stdin = None
        return process

    def run(self, event: Mapping[str, Any] | bytes, *options: str, **more: Any) -> "Ended":
        return Ended(self.start(event, *options, **more))

    def attempts(self) -> list[Path]:
        """Return the files of calls whose end nobody has reported."""
        return list((self.directory / "state").rglob("*.json"))


class Ended:
    """The exit code and the outputs of a hook."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        output, error = process.communicate(timeout=60)
        self.code = process.returncode
        self.text = (output or b"").decode()
        self.error = error.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.text)


def allows(host: str, ended: Ended) -> bool:
    """
    Return whether the host runs its call after this end of its hook.

    As measured: both hosts run it after every exit code but 2, and without any output.
    """
    if ended.code == 2:
        return False
    if ended.code != 0 or not ended.text:
        return True
    output = ended.json
    inner = output.get("hookSpecificOutput", {})
    words = {
        output.get("permission"),
        output.get("decision"),
        output.get("permissionDecision"),
        inner.get("permissionDecision"),
        output.get("behavior"),
        (inner.get("decision") or {}).get("behavior"),
    }
    if host == "claude-code" and inner.get("permissionDecision") in ("ask", "defer"):
        return False
    return "deny" not in words
