"""The real Claude Code and Codex from their packages, with a model of ours on loopback."""

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

from tests.support.caches import make_once
from tests.support.children import StartFailed
from tests.support.clients.model_server import ModelServer
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
        "@anthropic-ai/claude-agent-sdk-linux-x64",
        "0.3.330",
        "9w4uMdA3vNZXocwOUhivOGotXoRDxN/C/xPMkZMY9WPpKLAlj8upMZskNgPjQKlVRXhxPfNagcBijGPUH4WepA==",
        "package/claude",
    ),
    "codex": Package(
        "@openai/codex",
        "0.169.0-linux-x64",
        "o05NyAOCDygSPRo1yinzxvkRSdmsZyBD9E7mbpmjRanSfM8lypqWtQgEo4XfNkwhuCR2aFu8mlGOsQGFXVbVww==",
        "package/vendor/x86_64-unknown-linux-musl/bin/codex",
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
    """A user's host, whose model wants to run one command in the folder `work`."""

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
        self.environment = desk.environment(home, **_environment(home, model))
        path = (str(self.program.parent), str(find_program(host).parent), os.environ["PATH"])
        self.environment["PATH"] = os.pathsep.join(path)
        self._write_settings()

    def _write_settings(self) -> None:
        if self.host == "claude-code":
            settings = {"permissions": {"allow": ["Bash(touch:*)"]}}
            self.settings_file.parent.mkdir()
            self.settings_file.write_text(json.dumps(settings))
            return
        folder = self.home / ".codex"
        folder.mkdir()
        (folder / "config.toml").write_text(
            f'model = "gpt-5-codex"\nmodel_provider = "loopback"\n'
            f'[model_providers.loopback]\nname = "loopback"\nbase_url = "{self.model.url}/v1"\n'
            f'wire_api = "responses"\nenv_key = "LOOPBACK_KEY"\n'
        )

    @property
    def settings_file(self) -> Path:
        names = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json"}
        return self.home / names[self.host]

    def hooks(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [self.program, "hooks", *words],
            env=self.environment,
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
        hook = settings["hooks"]["PreToolUse"][0]["hooks"][0]
        hook |= {"command": command, "timeout": timeout}
        self.settings_file.write_text(json.dumps(settings))

    def start(self, *, bypass_trust: bool = True, **env: str) -> "subprocess.Popen[str]":
        """Start a turn without a person at the terminal."""
        words = {
            "claude-code": ["-p", "go", "--output-format", "json", "--add-dir", str(self.work)],
            "codex": [
                *("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"),
                *(["--dangerously-bypass-hook-trust"] if bypass_trust else []),
                "go",
            ],
        }
        return subprocess.Popen(
            [find_program(self.host), *words[self.host]],
            env=self.environment | env,
            cwd=self.work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def end(self, process: "subprocess.Popen[str]") -> set[str]:
        """Wait for the end of a turn, and return the files that its commands made."""
        output, _ = process.communicate(timeout=_SECONDS)
        assert "done" in output, output
        return {path.name for path in self.work.iterdir()}

    def run(self, **options: Any) -> set[str]:
        return self.end(self.start(**options))


def _environment(home: Path, model: ModelServer) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "no-account",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CODEX_HOME": str(home / ".codex"),
        "LOOPBACK_KEY": "no-account",
    }
