"""Tools and files as the hosts' own programs name them: hooks ask about all that act."""

import re
from pathlib import Path

import pytest
from signoff_client.hooks.layouts import LAYOUTS

from tests.support.clients.coding_agents import find_program


@pytest.fixture(scope="module")
def gemini() -> str:
    """Return the program text of Gemini CLI: a bundle of JavaScript in several parts."""
    parts = find_program("gemini-cli").glob("*.js")
    return "\n".join(path.read_text(errors="replace") for path in parts)


def fits(host: str, tool: str) -> bool:
    return bool(re.search(LAYOUTS[host].matcher, tool))


def test_gemini_tools_that_are_not_asked_about_are_known(gemini):
    names = set(re.findall(r'\b(?!GEN_AI)[A-Z_]+_TOOL_NAME = "([^"]+)"', gemini))
    assert {"run_shell_command", "write_file", "replace", "read_file"} <= names

    assert {name for name in names if not fits("gemini-cli", name)} == {
        *("read_file", "read_many_files", "list_directory", "glob", "grep_search"),
        *("get_internal_docs", "write_todos", "update_topic"),
        *("ask_user", "enter_plan_mode", "exit_plan_mode", "complete_task"),
    }


def test_gemini_tools_of_mcp_servers_are_asked_about(gemini):
    (prefix,) = set(re.findall(r'MCP_TOOL_PREFIX = "([^"]+)"', gemini))

    assert fits("gemini-cli", f"{prefix}books_lend")


def test_gemini_reads_the_files_that_are_written(gemini):
    files = LAYOUTS["gemini-cli"].managed_files

    assert all(Path(file).name == "settings.json" for file in (files["linux"], files["darwin"]))
    folders = [file.replace("\\", "\\\\").rpartition("settings.json")[0] for file in files.values()]
    for folder in folders:
        assert folder.rstrip("/\\") in gemini
    assert LAYOUTS["gemini-cli"].managed_variable in gemini
    assert LAYOUTS["gemini-cli"].home_variable in gemini


@pytest.mark.parametrize("tool", ["Read", "Glob", "Grep", "Bash", "PowerShell", "Monitor"])
def test_claude_code_has_these_tools(tool):
    assert f'"{tool}"'.encode() in find_program("claude-code").read_bytes()


def test_claude_code_reads_the_files_that_are_written():
    program = find_program("claude-code").read_bytes()

    for file in LAYOUTS["claude-code"].managed_files.values():
        folder = re.split(r"[/\\]managed-settings", file)[0].replace("\\", "\\\\")
        assert folder.encode() in program
    assert LAYOUTS["claude-code"].home_variable.encode() in program


@pytest.mark.parametrize(
    ("tool", "is_skipped"),
    [
        *((name, False) for name in ("exec_command", "write_stdin", "apply_patch")),
        *((name, True) for name in ("view_image", "tool_search", "update_plan")),
    ],
)
def test_codex_has_these_tools(tool, is_skipped):
    assert tool.encode() in find_program("codex").read_bytes()
    assert (tool in LAYOUTS["codex"].skip) is is_skipped


def test_codex_reads_the_files_and_events_that_are_written():
    program = find_program("codex").read_bytes()
    layout = LAYOUTS["codex"]

    for name in (layout.home_variable, layout.user_file, *layout.gates, *layout.reports):
        assert name.encode() in program
