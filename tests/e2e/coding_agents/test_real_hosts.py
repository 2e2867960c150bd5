"""The real coding agents run a command, and a tool of an MCP server, only after it was approved."""

import json
import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.clients.faulty_server import faulty_server
from tests.support.product_client import wait_for

ORIGINAL = {"ran-original"}

pytestmark = pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"),
    reason="the packages of the coding agents are those for Linux on x86-64",
)


def test_an_approved_command_runs_and_is_reported(desk, agent):
    agent.install("--wait", "60")
    process = agent.start()
    request = desk.next_request()
    item = request["items"][0]
    assert (item["tool"], item["args"]) == agent.call

    desk.decide(request)

    assert agent.end(process) == ORIGINAL
    assert desk.state(request["id"]) == ("done", "succeeded")
    assert not desk.is_deviating(request["id"])


def test_an_edited_command_runs_as_edited(desk, agent):
    agent.install("--wait", "60")
    process = agent.start()
    request = desk.next_request()
    args = request["items"][0]["args"]

    desk.edit(request, {**args, "command": f"touch {agent.work}/ran-edited"})

    assert agent.end(process) == {"ran-edited"}
    assert desk.state(request["id"]) == ("done", "succeeded")
    assert not desk.is_deviating(request["id"])


def test_a_denied_command_does_not_run(desk, agent):
    agent.install("--wait", "60")
    process = agent.start()

    desk.deny(desk.next_request(), "not during the sale")

    assert agent.end(process) == set()
    assert "not during the sale" in agent.model.tool_results()


def test_a_command_without_an_answer_does_not_run(desk, agent):
    agent.install("--wait", "1")

    assert agent.run() == set()

    assert "Nobody has answered yet" in agent.model.tool_results()
    desk.next_request()


def test_an_mcp_call_without_an_answer_does_not_run(desk, agent):
    agent.install("--wait", "1")
    agent.model.tool = "lend"

    assert agent.run() == set()

    assert "Nobody has answered yet" in agent.model.tool_results()
    item = desk.next_request()["items"][0]
    assert "books" in item["tool"]
    assert item["args"] == {"book": "Momo"}


def test_an_approved_mcp_call_runs_and_is_reported(desk, agent):
    agent.install("--wait", "60")
    agent.model.tool = "lend"
    process = agent.start()
    request = desk.next_request()

    desk.decide(request)

    assert agent.end(process) == {"lent"}
    assert desk.state(request["id"]) == ("done", "succeeded")
    assert not desk.is_deviating(request["id"])


def test_a_server_that_is_away_lets_nothing_run(agent):
    agent.install("--wait", "60")

    assert agent.run(SIGNOFF_URL="http://127.0.0.1:1") == set()

    assert "no denial by a person" in agent.model.tool_results()


def test_a_slow_server_lets_nothing_run(agent):
    agent.install("--wait", "1")
    with faulty_server(lambda _: signal.sigtimedwait([], 60)) as server:
        assert agent.run(SIGNOFF_URL=server.url) == set()

    assert "no denial by a person" in agent.model.tool_results()


def test_a_wrong_key_lets_nothing_run(agent):
    agent.install("--wait", "60")

    assert agent.run(SIGNOFF_API_KEY="wrong") == set()


def hook_processes(agent) -> list[int]:
    """Return the processes of this user's hook, without their shells."""
    pids = []
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        if b"signoff_client" in words and f"HOME={agent.home}\0".encode() in environment:
            pids.append(int(folder.name))
    return pids


def test_a_hook_that_is_killed_lets_nothing_run(desk, agent):
    """Its shell turns every exit code of the hook into the one that denies."""
    agent.install("--wait", "60")
    process = agent.start()
    request = desk.next_request()
    (pid,) = hook_processes(agent)

    os.kill(pid, signal.SIGKILL)

    assert agent.end(process) == set()
    assert desk.state(request["id"])[0] == "open"


def test_a_program_that_is_missing_lets_nothing_run(agent):
    agent.install()
    agent.program.unlink()

    assert agent.run() == set()


# What no hook can prevent; docs/coding-agents.md says so, row by row.


def only(*hosts):
    return pytest.mark.parametrize("agent", hosts, indirect=True)


@only("claude-code", "codex", "gemini-cli")
def test_a_hook_whose_shell_is_killed_lets_the_command_run(desk, agent):
    agent.install("--wait", "60")
    process = agent.start()
    desk.next_request()
    (pid,) = hook_processes(agent)
    shell = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    assert b"exit 2" in Path(f"/proc/{shell}/cmdline").read_bytes()

    os.kill(shell, signal.SIGKILL)
    os.kill(pid, signal.SIGKILL)

    assert agent.end(process) == ORIGINAL


def test_a_timeout_of_the_host_lets_the_command_run(agent):
    agent.install()
    agent.replace_gate("sleep 30 || exit 2", timeout=1)

    assert agent.run() == ORIGINAL


#: Commands of a hook that let a command run without an answer. Copilot CLI refuses every exit code
#: but 0, and Gemini CLI all above 1, such as that of a missing program.
FAILURES = {
    "exit 0": ("claude-code", "codex", "copilot-cli", "gemini-cli"),
    "exit 1": ("claude-code", "codex", "gemini-cli"),
    "/nothing/here/signoff hook claude-code": ("claude-code", "codex"),
}


@pytest.mark.parametrize("command", FAILURES)
def test_other_failures_of_a_hook_let_the_command_run(agent, command):
    agent.install()
    agent.replace_gate(command, timeout=60)

    assert agent.run() == (ORIGINAL if agent.host in FAILURES[command] else set())


@only("claude-code", "codex", "gemini-cli")
def test_hooks_that_are_turned_off_let_the_command_run_and_check_says_so(agent):
    agent.install()
    switches = {
        "claude-code": {"disableAllHooks": True},
        "gemini-cli": {"hooksConfig": {"enabled": False}},
    }
    if agent.host in switches:
        settings = json.loads(agent.settings_file.read_text())
        agent.settings_file.write_text(json.dumps({**settings, **switches[agent.host]}))
    else:
        with (agent.home / ".codex" / "config.toml").open("a") as config:
            config.write("[features]\nhooks = false\n")

    check = agent.hooks("check", agent.host)

    assert check.returncode == 1
    switch = {"claude-code": "disableAllHooks", "codex": "hooks = false"}
    assert switch.get(agent.host, "hooksConfig.enabled: false") in check.stdout
    assert agent.run() == ORIGINAL


@only("codex")
def test_codex_skips_hooks_that_are_not_trusted_and_check_says_so(agent):
    agent.install()

    check = agent.hooks("check", "codex")

    assert check.returncode == 1
    assert "does not run the hook for preToolUse" in check.stdout
    assert agent.run(bypass_trust=False) == ORIGINAL


@only("codex")
def test_trusted_hooks_of_codex_are_complete(desk, agent):
    agent.install("--wait", "60")
    trust_hooks(agent)

    check = agent.hooks("check", "codex")

    assert (check.returncode, check.stdout.count("complete")) == (0, 1), check.stdout
    process = agent.start(bypass_trust=False)
    desk.deny(desk.next_request())
    assert agent.end(process) == set()


def test_check_tries_the_hook_through_the_host(agent):
    agent.install("--wait", "60")
    if agent.host == "codex":
        trust_hooks(agent)

    check = agent.hooks("check", agent.host)

    assert "asked the hook before a harmless call, and did not run it" in check.stdout
    assert check.returncode == 0, check.stdout
    assert not agent.model.bodies  # the user's own model is not asked


def test_check_notices_a_hook_that_says_nothing(agent):
    agent.install("--wait", "60")
    agent.replace_gate(f"true signoff hook {agent.host} || exit 2", 700)
    if agent.host == "codex":
        trust_hooks(agent)

    check = agent.hooks("check", agent.host)

    assert "went on with a harmless call without asking the hook" in check.stdout
    assert check.returncode == 1


def trust_hooks(codex) -> None:
    """Trust all hooks, as a person does with /hooks: their digests are those that Codex tells."""
    messages = [
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "t", "version": "1"}}},
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [str(codex.work)]}},
    ]
    process = subprocess.Popen(
        ["codex", "app-server"],
        env=codex.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("".join(json.dumps(message) + "\n" for message in messages))
    process.stdin.flush()
    answer = next(row for row in map(json.loads, process.stdout) if row.get("id") == 2)
    process.kill()
    process.wait()
    with (codex.home / ".codex" / "config.toml").open("a") as config:
        for hook in answer["result"]["data"][0]["hooks"]:
            config.write(f"[hooks.state.{json.dumps(hook['key'])}]\n")
            config.write(f"trusted_hash = {json.dumps(hook['currentHash'])}\n")


def test_files_of_attempts_are_removed_after_the_command(desk, agent):
    agent.install("--wait", "60")
    process = agent.start()
    desk.decide(desk.next_request())
    agent.end(process)

    assert wait_for(lambda: not list((agent.home / "state").rglob("*.json")), seconds=30)
