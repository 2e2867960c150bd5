"""The files in which hosts have their hooks, and the form of the entries."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from signoff_client.errors import ConfigurationError


@dataclass(frozen=True)
class Hook:
    """One command of a host's settings."""

    event: str
    command: str
    timeout_seconds: float | None


@dataclass(frozen=True)
class Layout:
    """The settings of one host."""

    user_file: str  #: below the home directory of the host
    home: str  #: below the user's own, unless `home_variable` has it
    home_variable: str
    managed_file: str  #: empty if there is none that this program can write
    gates: tuple[str, ...]  #: the events before a call
    reports: tuple[str, ...]  #: the events after it
    matcher: str  #: the tools that need approval
    timeout: str = "timeout"  #: the name of the member
    timeouts_per_second: int = 1
    is_nested: bool = True  #: entries with a matcher have a list of hooks
    extra: Mapping[str, Any] = field(default_factory=dict)  #: more members of each gate
    version: int | None = None
    names_event: bool = False  #: the command has to name the event

    def file(self, *, managed: bool) -> Path:
        """Return the path of the user's or the machine's settings."""
        if managed and not self.managed_file:
            raise ConfigurationError(
                "This host has no managed settings in a file of their own that can be written "
                "here; see its documentation, or install for each user."
            )
        if managed:
            return Path(self.managed_file)
        home = os.environ.get(self.home_variable) or Path.home() / self.home
        return Path(home) / self.user_file

    def entry(
        self, command: str, timeout_seconds: float, *, matcher: str, is_gate: bool
    ) -> dict[str, Any]:
        """Return the entry of one event."""
        timeout = int(timeout_seconds * self.timeouts_per_second)
        hook = {"type": "command", "command": command, self.timeout: timeout}
        if is_gate:
            hook |= self.extra
        return {"matcher": matcher, "hooks": [hook]} if self.is_nested else hook

    def hooks(self, settings: Mapping[str, Any]) -> Iterator[Hook]:
        """Yield every command in the settings, whoever it belongs to."""
        events = settings.get("hooks")
        for event, entries in events.items() if isinstance(events, dict) else ():
            for entry in entries if isinstance(entries, list) else ():
                yield from self._hooks_of(event, entry)

    def _hooks_of(self, event: str, entry: Any) -> Iterator[Hook]:
        members = entry if isinstance(entry, dict) else {}
        for hook in (members.get("hooks") or ()) if self.is_nested else (members,):
            if isinstance(hook, dict) and isinstance(command := _command(hook), str):
                timeout = hook.get(self.timeout)
                is_number = isinstance(timeout, (int, float)) and not isinstance(timeout, bool)
                seconds = float(timeout or 0) / self.timeouts_per_second if is_number else None
                yield Hook(event, command, seconds)


def _command(hook: Mapping[str, Any]) -> Any:
    command = hook.get("command") or hook.get("bash") or hook.get("exec")
    args = hook.get("args")
    return " ".join(map(str, [command, *args])) if isinstance(args, list) else command


LAYOUTS: Final[dict[str, Layout]] = {
    "claude-code": Layout(
        user_file="settings.json",
        home=".claude",
        home_variable="CLAUDE_CONFIG_DIR",
        managed_file="/etc/claude-code/managed-settings.json",
        gates=("PreToolUse",),
        reports=("PostToolUse", "PostToolUseFailure"),
        matcher="Bash|Write|Edit|NotebookEdit|mcp__.*",
    ),
    "codex": Layout(
        user_file="hooks.json",
        home=".codex",
        home_variable="CODEX_HOME",
        managed_file="",
        gates=("PreToolUse",),
        reports=("PostToolUse",),
        matcher="^Bash$|^apply_patch$|^mcp__.*",
    ),
    "gemini-cli": Layout(
        user_file="settings.json",
        home=".gemini",
        home_variable="GEMINI_CLI_HOME",
        managed_file="/etc/gemini-cli/settings.json",
        gates=("BeforeTool",),
        reports=("AfterTool",),
        matcher="run_shell_command|write_file|replace|mcp__.*",
        timeouts_per_second=1000,
        extra={"name": "signoff"},
    ),
    "copilot-cli": Layout(
        user_file="hooks/signoff.json",
        home=".copilot",
        home_variable="COPILOT_HOME",
        managed_file="",
        gates=("preToolUse",),
        reports=("postToolUse",),
        matcher="",
        timeout="timeoutSec",
        is_nested=False,
        version=1,
        names_event=True,
    ),
    "cursor": Layout(
        user_file="hooks.json",
        home=".cursor",
        home_variable="CURSOR_CONFIG_DIR",
        managed_file="/etc/cursor/hooks.json",
        gates=("beforeShellExecution", "beforeMCPExecution"),
        reports=(),
        matcher="",
        is_nested=False,
        extra={"failClosed": True},
        version=1,
    ),
}
