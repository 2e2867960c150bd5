"""Start a real host, with a model on loopback that makes one harmless call, to see the hook."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from signoff_client.hooks.events import RECORD_VARIABLE
from signoff_client.hooks.loopback_model import model_server

_HARMLESS: Final = "true"  #: the command
_PROMPT: Final = f"Run the shell command `{_HARMLESS}` once, and nothing else."
_SECONDS: Final = 60
_NO_ACCOUNT: Final = "no-account"


@dataclass(frozen=True)
class Start:
    """A turn of a host without a person at the terminal."""

    program: str  #: as a person starts it
    words: Sequence[str]
    environment: Mapping[str, str]


class Seen(Enum):
    """The end of a call that the model wanted."""

    HOOK = "hook"  #: it asked the hook
    NO_HOOK = "no hook"  #: it went on with the call without the hook
    NO_CALL = "no call"  #: it did not come as far as a call


@dataclass(frozen=True)
class Trial:
    """The result of one turn."""

    seen: Seen
    program: str = ""
    why: str = ""  #: of NO_CALL


def try_host(host: str) -> Trial:
    """Let the host's model make one call, which the hook denies and nobody is asked about."""
    if host not in STARTS:
        return Trial(Seen.NO_CALL, why="it needs an account")
    with tempfile.TemporaryDirectory() as folder, model_server(_HARMLESS) as model:
        start = STARTS[host](model.url)
        program = start.program
        if not shutil.which(program):
            return Trial(Seen.NO_CALL, program, f"{program} is not on the PATH")
        record = Path(folder, "record")
        work = Path(folder, "work")
        work.mkdir()
        output = _run(start, work, record)
        if record.exists():
            return Trial(Seen.HOOK, program)
        if json.loads(model.tool_results()):
            return Trial(Seen.NO_HOOK, program)
    return Trial(Seen.NO_CALL, program, output or "its model was not asked")


def _run(start: Start, work: Path, record: Path) -> str:
    """Return the last line that the host wrote, or why it was ended."""
    try:
        done = subprocess.run(
            [start.program, *start.words],
            cwd=work,
            env={**os.environ, **start.environment, RECORD_VARIABLE: str(record)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    lines = done.stdout.decode(errors="replace").split("\n")
    return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")


def _claude_code(url: str) -> Start:
    return Start(
        "claude",
        ("-p", _PROMPT),
        {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": _NO_ACCOUNT,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        },
    )


def _codex(url: str) -> Start:
    provider = (
        f'{{name = "signoff", base_url = "{url}/v1", wire_api = "responses", '
        'env_key = "SIGNOFF_CHECK_KEY"}'
    )
    settings = {
        "model": '"gpt-5-codex"',
        "model_provider": '"signoff_check"',
        "model_providers.signoff_check": provider,
    }
    words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    return Start(
        "codex",
        ("exec", "--skip-git-repo-check", *words, _PROMPT),
        {"SIGNOFF_CHECK_KEY": _NO_ACCOUNT},
    )


def _gemini_cli(url: str) -> Start:
    return Start(
        "gemini",
        ("-p", _PROMPT, "--approval-mode", "yolo", "-m", "gemini-2.5-flash"),
        {
            "GEMINI_API_KEY": _NO_ACCOUNT,
            "GEMINI_DEFAULT_AUTH_TYPE": "gemini-api-key",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GOOGLE_GEMINI_BASE_URL": url,
        },
    )


def _copilot_cli(url: str) -> Start:
    return Start(
        "copilot",
        ("-p", _PROMPT, "--allow-all-tools", "--no-auto-update"),
        {
            "COPILOT_OFFLINE": "true",
            "COPILOT_MODEL": "claude-sonnet-4",
            "COPILOT_PROVIDER_TYPE": "anthropic",
            "COPILOT_PROVIDER_BASE_URL": url,
            "COPILOT_PROVIDER_API_KEY": _NO_ACCOUNT,
        },
    )


#: The model of Cursor is reached through an account only.
STARTS: Final = {
    "claude-code": _claude_code,
    "codex": _codex,
    "copilot-cli": _copilot_cli,
    "gemini-cli": _gemini_cli,
}
