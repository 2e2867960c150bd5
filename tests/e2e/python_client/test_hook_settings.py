"""`signoff hooks install` and `check`: the settings of hosts, beside what is in them already."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FILES = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini-cli": ".gemini/settings.json",
    "copilot-cli": ".copilot/hooks/signoff.json",
    "cursor": ".cursor/hooks.json",
}
OTHERS = {"model": "m", "hooks": {"PreToolUse": [{"matcher": "X", "hooks": []}], "Stop": []}}


class User:
    """A user of a machine with one program `signoff`."""

    def __init__(self, desk: Any, home: Path) -> None:
        self.home = home
        self.work = home / "work"
        self.work.mkdir()
        self.program = home / "my programs" / "signoff"
        self.program.parent.mkdir()
        self.program.write_text(f'#!/bin/sh\nexec {sys.executable} -m signoff_client "$@"\n')
        self.program.chmod(0o755)
        self.environment = desk.environment(home)
        self.environment["PATH"] = f"{self.program.parent}:/usr/bin:/bin"

    def hooks(self, *words: str, **env: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [self.program, "hooks", *words],
            env=self.environment | env,
            cwd=self.work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout, done.stderr

    def settings(self, host: str) -> Any:
        return json.loads((self.home / FILES[host]).read_text())

    def write(self, host: str, text: str) -> Path:
        path = self.home / FILES[host]
        path.parent.mkdir(parents=True)
        path.write_text(text)
        return path


@pytest.fixture
def user(desk, tmp_path):
    return User(desk, tmp_path)


def commands(value: Any) -> list[dict[str, Any]]:
    """Return all objects with a command, at any depth."""
    if isinstance(value, dict):
        return ([value] if "command" in value else []) + commands(list(value.values()))
    return [each for item in value for each in commands(item)] if isinstance(value, list) else []


@pytest.mark.parametrize("host", FILES)
def test_the_host_waits_longer_than_the_hook(user, host):
    code, output, _ = user.hooks("install", host, "--wait", "5m")

    assert code == 0
    assert FILES[host] in output
    gates = [each for each in commands(user.settings(host)) if "--wait" in each["command"]]
    assert gates
    for gate in gates:
        timeout = gate.get("timeout") or gate["timeoutSec"]
        assert timeout == (360_000 if host == "gemini-cli" else 360)
        assert gate["command"].endswith(" --wait 300 || exit 2")
        assert shlex.split(gate["command"])[0] == str(user.program)
        assert gate.get("failClosed", True)


@pytest.mark.parametrize("host", [host for host in FILES if host != "codex"])
def test_an_installation_is_complete(user, host):
    code, output, _ = user.hooks("check", host)
    assert (code, "no hook before a call" in output) == (1, True)
    user.hooks("install", host)

    code, output, _ = user.hooks("check", host)

    assert code == 0, output
    assert f"The hooks of {host} are complete, and Signoff answers.\n" in output
    assert "note: no call was tried through the host: " in output


def test_what_is_in_the_settings_stays(user):
    path = user.write("claude-code", json.dumps(OTHERS))
    path.chmod(0o600)

    for _ in range(2):
        assert user.hooks("install", "claude-code", "--matcher", "Bash")[0] == 0

    settings = user.settings("claude-code")
    assert settings["model"] == "m"
    assert settings["hooks"]["Stop"] == []
    ours = settings["hooks"]["PreToolUse"]
    assert ours[0] == OTHERS["hooks"]["PreToolUse"][0]
    assert [entry["matcher"] for entry in ours] == ["X", "Bash"]
    assert len(commands(settings)) == 3
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(path.with_name("settings.json.before-signoff").read_text())["model"] == "m"


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"hooks": 7}', '{"hooks": {"PreToolUse": {}}}', "// comment\n{}"]
)
def test_settings_that_are_not_understood_stay(user, text):
    path = user.write("claude-code", text)

    code, _, error = user.hooks("install", "claude-code")

    assert (code, path.read_text()) == (2, text)
    assert str(path) in error
    assert user.hooks("check", "claude-code")[0] == 1


def test_a_repository_gets_no_hooks(user):
    (user.work / ".git").mkdir()
    folder = user.work / ".claude"

    code, _, error = user.hooks("install", "claude-code", CLAUDE_CONFIG_DIR=str(folder))

    assert code == 2
    assert "never in a repository" in error
    assert not folder.exists()


def test_a_link_into_a_repository_gets_no_hooks(user):
    (user.work / ".git").mkdir()
    (user.home / ".claude").symlink_to(user.work, target_is_directory=True)

    assert user.hooks("install", "claude-code")[0] == 2
    assert [path.name for path in user.work.iterdir()] == [".git"]


def test_codex_gets_a_hook_for_every_call_or_for_its_prompts_never_both(user):
    user.hooks("install", "codex")
    assert set(user.settings("codex")["hooks"]) == {"PreToolUse", "PostToolUse"}

    user.hooks("install", "codex", "--interactive")

    assert set(user.settings("codex")["hooks"]) == {"PermissionRequest", "PostToolUse"}


def test_hosts_without_managed_settings_say_so(user):
    code, _, error = user.hooks("install", "codex", "--managed")

    assert code == 2
    assert "no managed settings" in error


def change(user: User, old: str, new: str) -> None:
    path = user.home / FILES["claude-code"]
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"timeout": 600', '"timeout": 550', "more than 560 s"),
        ('"timeout": 600', '"other": 600', "an unknown number of s"),
        (" || exit 2", "", "failures let calls run"),
        ("signoff' hook", "nothing/signoff' hook", "is no program"),
        ('"PostToolUse"', '"Stop"', "no hook for PostToolUse"),
        ('"hooks": {', '"disableAllHooks": true, "hooks": {', "no hook runs"),
    ],
    ids=["short", "without", "open", "missing", "after", "disabled"],
)
def test_check_names_what_is_missing(user, old, new, problem):
    user.hooks("install", "claude-code")
    change(user, old, new)

    code, output, _ = user.hooks("check", "claude-code")

    assert code == 1
    assert problem in output


def test_check_asks_signoff(user):
    user.hooks("install", "claude-code")

    for name, value, problem in (
        ("SIGNOFF_API_KEY", "wrong", "UNAUTHENTICATED"),
        ("SIGNOFF_API_KEY", "", "no usable API key"),
        ("SIGNOFF_URL", "http://signoff.example.com", "https://"),
    ):
        code, output, _ = user.hooks("check", "claude-code", **{name: value})

        assert code == 1
        assert problem in output


def test_check_reads_from_codex_which_hooks_it_trusts(user):
    user.hooks("install", "codex")
    path = user.home / FILES["codex"]
    hooks = [
        {"command": command, "sourcePath": str(path), "enabled": True, "trustStatus": status,
         "eventName": event}
        for command, event, status in (
            (user.settings("codex")["hooks"]["PreToolUse"][0]["hooks"][0]["command"], "preToolUse",
             "untrusted"),
            ("other", "preToolUse", "untrusted"),
        )
    ]  # fmt: skip
    answer = json.dumps({"id": 2, "result": {"data": [{"hooks": hooks}]}})
    assert "codex is not on the PATH" in user.hooks("check", "codex")[1]
    codex = user.program.with_name("codex")
    codex.write_text(f"#!/bin/sh\ncat <<'EOF'\n{{}}\n{answer}\nEOF\nsleep 60\n")
    codex.chmod(0o755)

    code, output, _ = user.hooks("check", "codex", "--files-only")
    codex.write_text(codex.read_text().replace('"untrusted"', '"trusted"'))
    again = user.hooks("check", "codex", "--files-only")

    assert (code, output.count("does not run the hook for preToolUse")) == (1, 1)
    assert again[0] == 0, again


def test_credentials_are_needed_to_install(user):
    code, _, error = user.hooks("install", "claude-code", SIGNOFF_API_KEY="")

    assert code == 2
    assert "SIGNOFF_API_KEY" in error
    assert not (user.home / ".claude").exists()


def test_credentials_are_typed_once_and_stored_for_the_user(user):
    """On a terminal: the address is typed, then the key, which is not displayed."""
    environment = user.environment | {"SIGNOFF_API_KEY": "", "SIGNOFF_URL": ""}
    script = (
        "import os, pty, sys\n"
        "pid, terminal = pty.fork()\n"
        "if not pid:\n"
        f"    os.execv({str(user.program)!r}, ['signoff', 'hooks', 'install', 'claude-code'])\n"
        "seen = b''\n"
        "prompts = (b'Address of Signoff: ', b'API key: ')\n"
        "for prompt, text in zip(prompts, sys.argv[1:]):\n"
        "    while prompt not in seen:\n"
        "        seen += os.read(terminal, 1000)\n"
        "    os.write(terminal, text.encode() + b'\\n')\n"
        "while True:\n"
        "    try:\n"
        "        data = os.read(terminal, 1000)\n"
        "    except OSError:\n"
        "        break\n"
        "    seen += data\n"
        "print(seen.decode(), os.waitpid(pid, 0)[1])\n"
    )
    url, key = user.environment["SIGNOFF_URL"], user.environment["SIGNOFF_API_KEY"]

    output = subprocess.run(
        [sys.executable, "-c", script, url, key],
        env=environment,
        cwd=user.work,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout

    assert output.endswith(" 0\n"), output
    assert key not in output
    (path,) = user.home.rglob("credentials.json")
    assert path.stat().st_mode & 0o777 == 0o600
    assert user.hooks("check", "claude-code", SIGNOFF_API_KEY="", SIGNOFF_URL="")[0] == 0
    os.chmod(path, 0o644)  # noqa: PTH101
    assert user.hooks("check", "claude-code", SIGNOFF_API_KEY="", SIGNOFF_URL="")[0] == 1
