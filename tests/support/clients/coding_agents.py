"""The real coding agents from their packages, with a model of ours on loopback."""

import base64
import hashlib
import json
import os
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from signoff_client.hooks.layouts import LAYOUTS
from signoff_client.hooks.loopback_model import ModelServer
from signoff_client.hooks.real_host import STARTS

from tests.support.caches import make_once
from tests.support.children import StartFailed
from tests.support.node import find_node


@dataclass(frozen=True)
class Package:
    """A program in the npm registry."""

    name: str
    version: str
    sha512: str  #: of the package, in Base64
    program: str


PACKAGES: Final = {
    "claude-code": Package(
        "@anthropic-ai/claude-code-linux-x64",
        "2.1.332",
        "f4JWhzwYutJIHScC7/dYOPX6s28tt7ZADhsOi8zwOHq5fFPEuUeChh2NMfinSg0GrUckYxaeebC4h0DqiKzLcw==",
        "package/claude",
    ),
    "codex": Package(
        "@openai/codex",
        "0.171.0-linux-x64",
        "l66NZkQgdk2C3pbcfULDz42yEUB581MVA6I+Y43Wp4OIqEy73HCdmZ0GTjeAHY2ycuH4N00d9VsLrwT1jxshTw==",
        "package/vendor/x86_64-unknown-linux-musl/bin/codex",
    ),
    "copilot-cli": Package(
        "@github/copilot-linux-x64",
        "1.0.102",
        "eGHPbsP0p2QgfVZCjtbGBFZPBOJQ0DN7xIbBRAo7oG8b1zfLirQIdfI4h8Iy68Dv2cKJGJZg2/EO7W7KpIMJOw==",
        "package/copilot",
    ),
    "gemini-cli": Package(
        "@google/gemini-cli",
        "0.61.0",
        "dbQ9A0qBtFJNi6XBkHvfZ6Azpn6PNgH/P8h2MZ67RLlX8hSAVjup39CRWqdRxZv7YXIuhrFaytr8y0jKnkoxnQ==",
        "package/bundle",
    ),
}
_SECONDS: Final = 120


def find_program(host: str) -> Path:
    """
    Return the program of a host, fetched once into the cache of the tests.

    Raises:
        StartFailed: it cannot be fetched, or is another one than the tests know.
    """
    package = PACKAGES[host]

    def fetch(draft: Path) -> None:
        find_node().run_npm("pack", "--silent", f"{package.name}@{package.version}", cwd=draft)
        (archive,) = draft.glob("*.tgz")
        digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if digest != package.sha512:
            raise StartFailed(f"{package.name} {package.version} has another digest: {digest}")
        with tarfile.open(archive) as members:
            members.extractall(draft, filter="data")
        archive.unlink()

    return make_once(f"{host}-{package.version}", fetch) / package.program


class CodingAgent:
    """A user's host, whose model wants to make one call; commands run in the folder `work`."""

    def __init__(self, desk: Any, home: Path, host: str, model: ModelServer) -> None:
        self.host = host
        self.home = home
        self.model = model
        self.work = home / "work"
        self.work.mkdir()
        model.command = f"touch {self.work}/ran-original"
        self.program = home / "bin" / "signoff"
        self.program.parent.mkdir()
        self.program.write_text(f'#!/bin/sh\nexec {sys.executable} -m signoff_client "$@"\n')
        self.program.chmod(0o755)
        start = STARTS[host](model.url)
        self.environment = desk.environment(home, **start.environment, **_environment(home))
        self._command = self.program.parent / start.program
        self._link_host()
        path = (str(self.program.parent), os.environ["PATH"])
        self.environment["PATH"] = os.pathsep.join(path)
        self._write_settings()

    def _link_host(self) -> None:
        """Put the host on the PATH under its own name."""
        program = find_program(self.host)
        link = self._command
        if self.host != "gemini-cli":
            link.symlink_to(program)
            return
        link.write_text(f'#!/bin/sh\nexec {find_node().node} {program}/gemini.js "$@"\n')
        link.chmod(0o755)

    def _write_settings(self) -> None:
        """Let the host use the model, the shell and the MCP server `books` without a prompt."""
        server = {"command": sys.executable, "args": [str(_MCP_SERVER), str(self.work)]}
        if self.host == "codex":
            self._write(
                ".codex/config.toml",
                f'model = "gpt-5-codex"\nmodel_provider = "loopback"\n'
                f'[model_providers.loopback]\nname = "loopback"\nbase_url = "{self.model.url}/v1"\n'
                f'wire_api = "responses"\nenv_key = "LOOPBACK_KEY"\n'
                f"[mcp_servers.books]\ncommand = {json.dumps(server['command'])}\n"
                f"args = {json.dumps(server['args'])}\n",
            )
            return
        servers = {"mcpServers": {"books": server}}
        match self.host:
            case "claude-code":
                self._write("mcp.json", servers)
                allowed = {"permissions": {"allow": ["Bash(touch:*)", "mcp__books__lend"]}}
                self._write(".claude/settings.json", allowed)
            case "copilot-cli":
                server |= {"type": "local", "tools": ["*"]}
                self._write(".copilot/mcp-config.json", servers)
            case "gemini-cli":
                security = {
                    "auth": {"selectedType": "gemini-api-key"},
                    "folderTrust": {"enabled": False},
                }
                general = {"disableAutoUpdate": True}
                settings = {"security": security, "general": general, **servers}
                self._write(".gemini/settings.json", settings)

    def _write(self, name: str, content: Any) -> None:
        path = self.home / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))

    @property
    def settings_file(self) -> Path:
        """The file with the hooks."""
        return self.home / _HOOK_FILES[self.host]

    @property
    def call(self) -> tuple[str, dict[str, Any]]:
        """The shell of the host, and what it is called with: what a request is about."""
        request = {"command": self.model.command}
        described = request if self.host == "codex" else {**request, "description": "make a file"}
        return _SHELL_TOOLS[self.host], described

    def hooks(self, *words: str, **env: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [self.program, "hooks", *words],
            env=self.environment | env,
            cwd=self.work,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )

    def install(self, *options: str) -> None:
        done = self.hooks("install", self.host, *options)
        assert done.returncode == 0, done.stderr

    def replace_gate(self, command: str, timeout: int) -> None:
        """Replace the command of the hook before a call."""
        settings = json.loads(self.settings_file.read_text())
        layout = LAYOUTS[self.host]
        (event,) = layout.gates
        entry = settings["hooks"][event][0]
        hook = entry["hooks"][0] if layout.is_nested else entry
        hook |= {"command": command, layout.timeout: timeout * layout.timeouts_per_second}
        self.settings_file.write_text(json.dumps(settings))

    def start(self, *, bypass_trust: bool = True, **env: str) -> "subprocess.Popen[str]":
        """Start a turn without a person at the terminal."""
        words = {
            "claude-code": [
                *("-p", "go", "--output-format", "json", "--add-dir", str(self.work)),
                *("--mcp-config", str(self.home / "mcp.json")),
            ],
            "codex": [
                *("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
                *(["--dangerously-bypass-hook-trust"] if bypass_trust else []),
                "go",
            ],
            "copilot-cli": ["-p", "go", "--allow-all-tools", "--no-auto-update"],
            "gemini-cli": ["-p", "go", "--approval-mode", "yolo", "-m", "gemini-2.5-flash"],
        }
        return subprocess.Popen(
            [self._command, *words[self.host]],
            env=self.environment | env,
            cwd=self.work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def end(self, process: "subprocess.Popen[str]") -> set[str]:
        """Wait for the end of a turn, and return the files that its calls made."""
        output, _ = process.communicate(timeout=_SECONDS)
        assert "done" in output, output
        return {path.name for path in self.work.iterdir()}

    def run(self, **options: Any) -> set[str]:
        return self.end(self.start(**options))


_HOOK_FILES: Final = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "copilot-cli": ".copilot/hooks/signoff.json",
    "gemini-cli": ".gemini/settings.json",
}
_SHELL_TOOLS: Final = {
    "claude-code": "Bash",
    "codex": "Bash",
    "copilot-cli": "bash",
    "gemini-cli": "run_shell_command",
}
_MCP_SERVER: Final = Path(__file__).parent / "books_server.py"


def _environment(home: Path) -> dict[str, str]:
    return {
        "ENABLE_TOOL_SEARCH": "false",  # tools of MCP servers are offered at once
        "CODEX_HOME": str(home / ".codex"),
        "LOOPBACK_KEY": "no-account",
    }
