"""The files in which hosts have their hooks, and the form of the entries."""

from __future__ import annotations

import os
import sys
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
    matcher: str


@dataclass(frozen=True)
class Layout:
    """The settings of one host."""

    user_file: str  #: below the home directory of the host
    home: str  #: below the user's own, unless `home_variable` has it
    home_variable: str
    managed_files: Mapping[str, str]  #: by `sys.platform`; empty if this program can write none
    gates: Mapping[str, str]  #: the events before a call, and the tools that need approval
    reports: tuple[str, ...]  #: the events after it
    managed_variable: str = ""
    older_matchers: tuple[str, ...] = ()  #: defaults of earlier versions, which missed tools
    skip: tuple[str, ...] = ()  #: tools that only read, where matchers cannot leave them out
    unread_user_file: str = ""  #: where earlier versions wrote, below `home_variable`
    timeout: str = "timeout"  #: the name of the member
    timeouts_per_second: int = 1
    is_nested: bool = True  #: entries with a matcher have a list of hooks
    extra: Mapping[str, Any] = field(default_factory=dict)  #: more members of each gate
    version: int | None = None
    names_event: bool = False  #: the command has to name the event

    @property
    def matcher(self) -> str:
        """The matcher that `--matcher` replaces; empty if the host has none."""
        return next(iter(self.gates.values()))

    def file(self, *, managed: bool) -> Path:
        """Return the path of the user's or the machine's settings."""
        if not managed:
            home = os.environ.get(self.home_variable) or Path.home() / self.home
            return Path(home) / self.user_file
        if not self.managed_files:
            raise ConfigurationError(
                "This host has no managed settings in a file of their own that can be written "
                "here; see its documentation, or install for each user."
            )
        path = os.environ.get(self.managed_variable) if self.managed_variable else ""
        return Path(path or self.managed_files.get(sys.platform, self.managed_files["linux"]))

    def unread_files(self) -> list[Path]:
        """Return where earlier versions installed hooks that the host never reads."""
        files = []
        if self.managed_files and sys.platform in ("darwin", "win32"):
            files.append(Path(self.managed_files["linux"]))
        home = os.environ.get(self.home_variable)
        if home and self.unread_user_file:
            files.append(Path(home) / self.unread_user_file)
        return files

    def entry(
        self, command: str, timeout_seconds: float, *, matcher: str, is_gate: bool
    ) -> dict[str, Any]:
        """Return the entry of one event."""
        timeout = int(timeout_seconds * self.timeouts_per_second)
        hook = {"type": "command", "command": command, self.timeout: timeout}
        if is_gate:
            hook |= self.extra
        if self.is_nested:
            return {"matcher": matcher, "hooks": [hook]}
        return hook | ({"matcher": matcher} if matcher else {})

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
                yield Hook(event, command, seconds, str(members.get("matcher") or ""))


def _command(hook: Mapping[str, Any]) -> Any:
    command = hook.get("command") or hook.get("bash") or hook.get("exec")
    args = hook.get("args")
    return " ".join(map(str, [command, *args])) if isinstance(args, list) else command


def _all_but(*tools: str, prefix: str = "") -> str:
    """
    Return the regular expression that fits every name of a tool but these.

    Lists of tools that act miss the next one that a host adds, and the host runs it unasked.
    """
    return f"^(?!(?:{'|'.join(tools)})$" + (f"|{prefix}" if prefix else "") + ")"


#: Tools that read files, or touch nothing but the session. Not in it: tools that send text to
#: other machines (searches and fetches), that start agents, or that load programs.
_CLAUDE_CODE_READS: Final = (
    *("Read", "Glob", "Grep", "LS", "NotebookRead", "ToolSearch"),
    *("TodoWrite", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TaskOutput", "BashOutput"),
    *("AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "StructuredOutput"),
)
_GEMINI_CLI_READS: Final = (
    *("read_file", "read_many_files", "list_directory", "glob", "grep_search"),
    *("search_file_content", "get_internal_docs", "write_todos", "update_topic"),
    *("ask_user", "enter_plan_mode", "exit_plan_mode", "complete_task"),
)
_CURSOR_READS: Final = (
    *("Read", "Grep", "Glob", "LS", "SemanticSearch", "ReadLints"),
    *("TodoWrite", "AskQuestion", "SwitchMode", "CreatePlan"),
)
#: Codex reads matchers as regular expressions of Rust, which have no look-ahead.
_CODEX_READS: Final = (
    *("read_file", "list_dir", "grep_files", "view_image", "tool_search"),
    *("update_plan", "request_user_input"),
)

LAYOUTS: Final[dict[str, Layout]] = {
    "claude-code": Layout(
        user_file="settings.json",
        home=".claude",
        home_variable="CLAUDE_CONFIG_DIR",
        managed_files={
            "linux": "/etc/claude-code/managed-settings.json",
            "darwin": "/Library/Application Support/ClaudeCode/managed-settings.json",
            "win32": r"C:\Program Files\ClaudeCode\managed-settings.json",
        },
        gates={"PreToolUse": _all_but(*_CLAUDE_CODE_READS)},
        reports=("PostToolUse", "PostToolUseFailure"),
        older_matchers=("Bash|Write|Edit|NotebookEdit|mcp__.*",),
    ),
    "codex": Layout(
        user_file="hooks.json",
        home=".codex",
        home_variable="CODEX_HOME",
        managed_files={},
        gates={"PreToolUse": ".*"},
        reports=("PostToolUse",),
        older_matchers=("^Bash$|^apply_patch$|^mcp__.*",),
        skip=_CODEX_READS,
    ),
    "gemini-cli": Layout(
        user_file=".gemini/settings.json",
        home="",
        home_variable="GEMINI_CLI_HOME",  # stands for the home directory of the user
        managed_files={
            "linux": "/etc/gemini-cli/settings.json",
            "darwin": "/Library/Application Support/GeminiCli/settings.json",
            "win32": r"C:\ProgramData\gemini-cli\settings.json",
        },
        managed_variable="GEMINI_CLI_SYSTEM_SETTINGS_PATH",
        gates={"BeforeTool": _all_but(*_GEMINI_CLI_READS)},
        reports=("AfterTool",),
        older_matchers=("run_shell_command|write_file|replace|mcp__.*",),
        unread_user_file="settings.json",
        timeouts_per_second=1000,
        extra={"name": "signoff"},
    ),
    "copilot-cli": Layout(
        user_file="hooks/signoff.json",
        home=".copilot",
        home_variable="COPILOT_HOME",
        managed_files={},
        gates={"preToolUse": ""},
        reports=("postToolUse",),
        timeout="timeoutSec",
        is_nested=False,
        version=1,
        names_event=True,
    ),
    "cursor": Layout(
        user_file="hooks.json",
        home=".cursor",
        home_variable="CURSOR_CONFIG_DIR",
        managed_files={
            "linux": "/etc/cursor/hooks.json",
            "darwin": "/Library/Application Support/Cursor/hooks.json",
            "win32": r"C:\ProgramData\Cursor\hooks.json",
        },
        gates={
            "beforeShellExecution": "",
            "beforeMCPExecution": "",
            # Its other tools: the two events above have Shell, and MCP tools by `MCP:<name>`.
            "preToolUse": _all_but("Shell", *_CURSOR_READS, prefix="MCP:"),
        },
        reports=(),
        is_nested=False,
        extra={"failClosed": True},
        version=1,
    ),
}
