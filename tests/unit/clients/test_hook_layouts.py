"""Hooks ask about every tool but a few, and are where each host reads them."""

import json
import re
import sys
from argparse import Namespace

import pytest
from signoff_client.hooks import check, install
from signoff_client.hooks.layouts import LAYOUTS

#: Tools that act, as the hosts' own programs name them.
ACTING = {
    "claude-code": [
        *("Bash", "PowerShell", "Monitor", "Write", "Edit", "NotebookEdit", "Skill", "Agent"),
        *("WebFetch", "mcp__books__lend", "Reader", "ReadWrite", "a tool of tomorrow"),
    ],
    "codex": ["Bash", "apply_patch", "mcp__books__lend", "spawn_agent"],
    "gemini-cli": [
        *("run_shell_command", "write_file", "replace", "save_memory", "web_fetch"),
        *("mcp_books_lend", "mcp_git-hub_merge", "lend", "books__lend"),
    ],
}
READING = {
    "claude-code": ["Read", "Glob", "Grep", "TodoWrite"],
    "gemini-cli": ["read_file", "list_directory", "grep_search"],
}


def fits(matcher: str, tool: str) -> bool:
    return matcher in ("", "*") or bool(re.search(matcher, tool))


@pytest.mark.parametrize(
    ("host", "tool"), [(host, tool) for host in ACTING for tool in ACTING[host]]
)
def test_tools_that_act_are_asked_about(host, tool):
    assert fits(LAYOUTS[host].matcher, tool)
    assert tool not in LAYOUTS[host].skip


@pytest.mark.parametrize(
    ("host", "tool"), [(host, tool) for host in READING for tool in READING[host]]
)
def test_tools_that_only_read_are_not_asked_about(host, tool):
    assert not fits(LAYOUTS[host].matcher, tool)


def test_codex_gets_no_look_ahead_which_its_matchers_do_not_have():
    assert LAYOUTS["codex"].matcher == ".*"
    assert "view_image" in LAYOUTS["codex"].skip


@pytest.mark.parametrize(
    ("tool", "is_asked_here"), [("Write", True), ("Delete", True), ("Shell", False)]
)
def test_tools_of_cursor_are_asked_about_once(tool, is_asked_here):
    matcher = LAYOUTS["cursor"].gates["preToolUse"]

    assert fits(matcher, tool) is is_asked_here
    assert not fits(matcher, f"MCP:{tool}")


@pytest.mark.parametrize(
    ("host", "system", "path"),
    [
        ("claude-code", "linux", "/etc/claude-code/managed-settings.json"),
        (
            "claude-code",
            "darwin",
            "/Library/Application Support/ClaudeCode/managed-settings.json",
        ),
        ("claude-code", "win32", r"C:\Program Files\ClaudeCode\managed-settings.json"),
        ("gemini-cli", "linux", "/etc/gemini-cli/settings.json"),
        ("gemini-cli", "darwin", "/Library/Application Support/GeminiCli/settings.json"),
        ("gemini-cli", "win32", r"C:\ProgramData\gemini-cli\settings.json"),
        ("cursor", "linux", "/etc/cursor/hooks.json"),
        ("cursor", "darwin", "/Library/Application Support/Cursor/hooks.json"),
        ("cursor", "win32", r"C:\ProgramData\Cursor\hooks.json"),
    ],
)
def test_managed_settings_are_where_the_host_reads_them(monkeypatch, host, system, path):
    monkeypatch.setattr(sys, "platform", system)

    assert str(LAYOUTS[host].file(managed=True)) == path


@pytest.mark.parametrize(
    ("host", "variable", "path"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("codex", "CODEX_HOME", "hooks.json"),
        ("gemini-cli", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("copilot-cli", "COPILOT_HOME", "hooks/signoff.json"),
    ],
)
def test_the_variable_of_a_host_leads_to_its_settings(monkeypatch, tmp_path, host, variable, path):
    monkeypatch.setenv(variable, str(tmp_path))

    assert LAYOUTS[host].file(managed=False) == tmp_path / path


def test_gemini_reads_managed_settings_from_its_variable(monkeypatch):
    monkeypatch.setenv("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "/srv/gemini.json")

    assert str(LAYOUTS["gemini-cli"].file(managed=True)) == "/srv/gemini.json"


@pytest.mark.parametrize(
    "program",
    [
        "/usr/bin/signoff",
        "/usr/bin/python3 -m signoff_client",
        r"'C:\Users\Ana Lima\Scripts\signoff.EXE'",
        r"C:\tools\signoff.exe",
        r'"C:\tools\Signoff.Exe"',
    ],
)
def test_an_installed_hook_is_recognized_again(program):
    assert install.is_ours(f"{program} hook claude-code --wait 540 || exit 2", "claude-code")
    assert not install.is_ours(f"{program} hook codex", "claude-code")


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Return a function that installs hooks in an empty home, and the file that has them."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "CURSOR_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SIGNOFF_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("SIGNOFF_API_KEY", "none")
    monkeypatch.chdir(tmp_path)

    def install_hooks(host, **options):
        defaults = {"managed": False, "wait": None, "interactive": False, "agent": ""}
        install.install(Namespace(host=host, **{**defaults, "matcher": "", **options}))
        return LAYOUTS[host].file(managed=False)

    return install_hooks


def problems(capsys, host: str) -> str:
    capsys.readouterr()
    check.check(Namespace(host=host, files_only=True))
    return capsys.readouterr().out


@pytest.mark.parametrize("host", ["claude-code", "gemini-cli"])
def test_check_names_a_matcher_of_an_earlier_version(installed, capsys, host):
    path = installed(host)
    assert "earlier version" not in problems(capsys, host)
    (older,) = LAYOUTS[host].older_matchers
    gate = next(iter(LAYOUTS[host].gates))
    content = json.loads(path.read_text())
    content["hooks"][gate][0]["matcher"] = older
    path.write_text(json.dumps(content))

    words = problems(capsys, host)

    assert f"missing: {gate}: the matcher `{older}` is of an earlier version" in words
    assert f"run: signoff hooks install {host}" in words


def test_check_mentions_a_matcher_that_somebody_chose(installed, capsys):
    installed("claude-code", matcher="Bash")

    words = problems(capsys, "claude-code")

    assert "note: PreToolUse asks only about tools that fit `Bash`" in words


def test_an_installation_over_an_earlier_one_replaces_its_matcher(installed):
    path = installed("claude-code", matcher=LAYOUTS["claude-code"].older_matchers[0])

    installed("claude-code")

    (gate,) = json.loads(path.read_text())["hooks"]["PreToolUse"]
    assert gate["matcher"] == LAYOUTS["claude-code"].matcher


def test_check_names_the_event_that_an_older_cursor_hook_lacks(installed, capsys):
    path = installed("cursor")
    content = json.loads(path.read_text())
    del content["hooks"]["preToolUse"]
    path.write_text(json.dumps(content))

    assert "no hook for preToolUse, so that some tools run unasked" in problems(capsys, "cursor")


def test_check_names_hooks_in_a_file_that_the_host_never_reads(
    installed, capsys, monkeypatch, tmp_path
):
    content = installed("gemini-cli").read_text()
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path / "one"))
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "settings.json").write_text(content)

    words = problems(capsys, "gemini-cli")

    assert f"{tmp_path}/one/settings.json has hooks, and gemini-cli does not read" in words
    assert "no hook before a call" in words


@pytest.mark.parametrize("switch", [{"enabled": False}, {"disabled": ["signoff"]}])
def test_check_names_hooks_that_gemini_has_turned_off(installed, capsys, switch):
    path = installed("gemini-cli")
    path.write_text(json.dumps({**json.loads(path.read_text()), "hooksConfig": switch}))

    assert "hooksConfig" in problems(capsys, "gemini-cli")
