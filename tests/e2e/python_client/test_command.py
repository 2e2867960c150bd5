"""The command `signoff`: what it prints, and its exit codes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.product_client import wait_for

YES, NO, USAGE, EXPIRED, PENDING, UNREACHABLE, IN_DOUBT, FAILED = range(8)


class Command:
    """The command in a directory of its own."""

    def __init__(self, desk: Any, directory: Path) -> None:
        self.desk = desk
        self.directory = directory

    def start(self, *words: str, **more: Any) -> "subprocess.Popen[str]":
        environment = self.desk.environment(self.directory, **more.pop("env", {}))
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(
            [sys.executable, "-m", "signoff_client", *words],
            env=environment,
            cwd=self.directory,
            text=True,
            **{**pipes, **more},
        )

    def run(self, *words: str, **more: Any) -> tuple[int, str, str]:
        """Run it to its end, and return the exit code and both outputs."""
        return ended(self.start(*words, **more))


def ended(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    output, error = process.communicate(timeout=60)
    return process.returncode, output.strip(), error


@pytest.fixture
def command(desk, tmp_path):
    return Command(desk, tmp_path)


@pytest.mark.parametrize(
    ("words", "payload", "code", "output"),
    [
        ([], {"approved": True}, YES, "yes"),
        ([], {"approved": False, "reason": "sale"}, NO, "no"),
        (["--schema", '{"enum": ["eu", "us"]}'], "us", YES, "us"),
        (["--schema", '{"type": "object"}'], {"ü": 1}, YES, '{"ü": 1}'),
        (["--schema", '{"type": "boolean"}'], False, NO, "no"),
    ],
    ids=["yes", "no", "choice", "object", "false"],
)
def test_ask_prints_the_answer(desk, command, words, payload, code, output):
    process = command.start("ask", "Deploy?", "--wait", "1m", *words)
    request = desk.next_request()
    assert request["items"][0]["tool"] is None

    desk.decide(request, payload)

    result = ended(process)
    assert result[:2] == (code, output)
    assert request["id"] in result[2]
    if isinstance(payload, dict) and "reason" in payload:
        assert "sale" in result[2]


def test_ask_for_a_tool_prints_the_permit_which_report_uses(desk, command):
    words = ["ask", "Refund?", "--tool", "refund", "--args", '{"amount": 1}', "--may-edit"]
    process = command.start(*words)
    request = desk.next_request()
    desk.edit(request, {"amount": 2})
    code, output, _ = ended(process)
    permit = json.loads(output)
    assert (code, permit["args"]) == (YES, {"amount": 2})
    assert permit["idempotency_key"]

    report = ["report", permit["request"], "--attempt", permit["attempt"], "--outcome"]
    result = command.run(*report, "succeeded", "--result", '"ok"')
    other = command.run("report", permit["request"], "--attempt", "x", "--outcome", "failed")

    assert (result[0], json.loads(result[1])["state"]) == (YES, "succeeded")
    assert desk.state(request["id"]) == ("done", "succeeded")
    assert other[0] == USAGE
    assert "CALL_STARTED" in other[2]


def test_get_has_the_exit_code_of_the_request(desk, command):
    code, output, error = command.run("ask", "Deploy?", "--wait", "0")
    request = desk.next_request()
    assert (code, output) == (PENDING, "")
    assert request["id"] in error
    assert command.run("get", request["id"])[0] == PENDING
    waiting = command.start("get", request["id"], "--wait", "1m")

    desk.deny(request)

    code, output, _ = ended(waiting)
    assert (code, json.loads(output)["items"][0]["status"]) == (NO, "denied")


def test_withdraw_and_list(desk, command):
    assert command.run("ask", "Deploy?", "--wait", "0", "--session", "s-1")[0] == PENDING
    request = desk.next_request()

    withdrawn = command.run("withdraw", request["id"], "--reason", "not now")

    assert (withdrawn[0], json.loads(withdrawn[1])["status"]) == (YES, "withdrawn")
    assert command.run("get", request["id"])[0] == EXPIRED
    code, output, _ = command.run("list", "--session", "s-1", "--status", "withdrawn")
    assert (code, [json.loads(line)["id"] for line in output.splitlines()]) == (
        YES,
        [request["id"]],
    )


def test_a_request_that_expires_ends_the_wait(desk, command):
    process = command.start("ask", "Deploy?", "--expires-in", "1")
    desk.next_request()

    assert ended(process)[0] == EXPIRED


def test_the_same_key_goes_on_waiting(desk, command):
    words = ["ask", "Deploy?", "--key", "release-7", "--wait"]
    assert command.run(*words, "0")[0] == PENDING
    request = desk.next_request()
    desk.decide(request)

    assert command.run(*words, "1m")[:2] == (YES, "yes")


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["ask"],
        ["ask", "x", "--wait", "soon"],
        ["ask", "x", "--schema", "{"],
        ["ask", "x", "--schema", "@nothing.json"],
        ["ask", "x", "--args", "{}"],
        ["ask", "x", "--api-key", "secret"],
        ["ask", "x", "--schema", '{"type": 7}'],
        ["ask", "x", "--agent", "nobody"],
        ["run", "--title", "x"],
        ["get", "not-an-id"],
        ["report", "x", "--attempt", "a", "--outcome", "maybe"],
        ["hook"],
        ["hook", "vim"],
        ["hooks", "install", "vim"],
        ["hooks", "install", "claude-code", "--wait", "0"],
    ],
    ids=" ".join,
)
def test_wrong_usage(command, words):
    code, output, error = command.run(*words)

    assert (code, output) == (USAGE, "")
    assert "Traceback" not in error


@pytest.mark.parametrize(
    "words", [["ask", "x"], ["run", "true"], ["list"], ["get", "x"], ["runs", "show", "x"]]
)
def test_a_server_that_is_away(command, monkeypatch, words):
    start = (
        "import sys; from signoff_client import exchanges, flows;"
        "flows.create.__kwdefaults__['patience_seconds'] = 0.2;"
        "flows.get.__kwdefaults__['patience_seconds'] = 0.2;"
        "flows.get_run.__kwdefaults__['patience_seconds'] = 0.2;"
        "flows.list_requests.__kwdefaults__['patience_seconds'] = 0.2;"
        "from signoff_client.cli.commands import main; sys.exit(main())"
    )
    environment = command.desk.environment(command.directory, SIGNOFF_URL="http://127.0.0.1:1")
    done = subprocess.run(
        [sys.executable, "-c", start, *words],
        env=environment,
        cwd=command.directory,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == UNREACHABLE
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("key", ["", "wrong"])
def test_a_wrong_key_is_wrong_usage(command, key):
    code, _, error = command.run("ask", "x", env={"SIGNOFF_API_KEY": key})

    assert code == USAGE
    assert "key" in error


@pytest.mark.parametrize(
    ("message", "code", "output"),
    [
        ("rehearse:error", NO, "failed AGENT_ERROR The agent failed, as it was asked to."),
        ("rehearse:echo", YES, "succeeded"),
        ("rehearse:tool_call", PENDING, "interrupted"),
    ],
)
def test_runs_show_says_why_a_run_failed(desk, command, message, code, output):
    key = desk.product.create_api_key("run", "read")
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=desk.url, headers=headers) as api:
        run = api.post("/api/runs", json={"agent": "rehearsal", "message": message}).json()
        path = f"/api/runs/{run['id']}"
        assert wait_for(lambda: api.get(path).json()["status"] == output.split()[0], seconds=60)

    result = command.run("runs", "show", run["id"], env={"SIGNOFF_API_KEY": key})

    assert result[:2] == (code, output)


def test_runs_show_of_another_or_no_run_is_wrong_usage(desk, command):
    key = desk.product.create_api_key("run", "read")

    code, output, error = command.run("runs", "show", "none", env={"SIGNOFF_API_KEY": key})

    assert (code, output) == (USAGE, "")
    assert "Traceback" not in error


def test_run_runs_what_was_approved_without_a_shell(desk, command):
    process = command.start("run", "--title", "Deploy", "--", "touch", "a b", "$HOME; c")
    request = desk.next_request()
    assert request["items"][0]["args"] == {
        "command": "touch 'a b' '$HOME; c'",
        "cwd": str(command.directory),
    }
    assert not list(command.directory.iterdir())

    desk.decide(request)

    assert ended(process)[0] == YES
    assert sorted(path.name for path in command.directory.iterdir()) == ["$HOME; c", "a b"]
    assert desk.state(request["id"]) == ("done", "succeeded")


def test_run_runs_the_edited_command(desk, command):
    process = command.start("run", "--may-edit", "--", "touch", "prod")

    desk.edit(desk.next_request(), {"command": "touch staging", "cwd": str(command.directory)})

    assert ended(process)[0] == YES
    assert [path.name for path in command.directory.iterdir()] == ["staging"]


@pytest.mark.parametrize("text", ["", "  ", "touch 'x"])
def test_an_edit_that_is_no_command_is_not_run(desk, command, text):
    process = command.start("run", "--may-edit", "--", "touch", "prod")
    request = desk.next_request()

    desk.edit(request, {"command": text, "cwd": str(command.directory)})

    assert ended(process)[0] == NO
    assert not list(command.directory.iterdir())
    assert desk.state(request["id"]) == ("done", "failed")


@pytest.mark.parametrize(
    ("words", "effect", "code", "state"),
    [
        (["sh", "-c", "exit 3"], "once", IN_DOUBT, "in_doubt"),
        (["sh", "-c", "exit 1"], "idempotent", FAILED, "failed"),
        (["sh", "-c", "kill -9 $$"], "once", IN_DOUBT, "in_doubt"),
        (["/nothing/here"], "once", FAILED, "failed"),
    ],
    ids=["code", "idempotent", "signal", "missing"],
)
def test_a_command_that_fails_is_in_doubt_if_it_may_have_begun(
    desk, command, words, effect, code, state
):
    process = command.start("run", "--effect", effect, "--", *words)
    request = desk.next_request()

    desk.decide(request)

    assert ended(process)[0] == code
    assert desk.state(request["id"])[1] == state


def test_run_does_not_run_what_was_denied(desk, command):
    process = command.start("run", "--", "touch", "prod")

    desk.deny(desk.next_request())

    assert ended(process)[0] == NO
    assert not list(command.directory.iterdir())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=str)
def test_a_wait_that_is_ended_leaves_the_request_open(desk, command, number):
    process = command.start("ask", "Deploy?")
    request = desk.next_request()
    assert process.stderr is not None
    assert request["id"] in process.stderr.readline()

    process.send_signal(number)

    assert ended(process)[0] == PENDING
    assert desk.state(request["id"])[0] == "open"


def test_the_command_is_told_to_end_and_its_end_is_reported(desk, command):
    script = "trap 'touch ended; exit 0' TERM; touch began; while :; do sleep 0.05; done"
    process = command.start("run", "--", "sh", "-c", script)
    request = desk.next_request()
    desk.decide(request)
    assert wait_for((command.directory / "began").exists, seconds=60)

    os.kill(process.pid, signal.SIGTERM)

    assert ended(process)[0] == YES
    assert (command.directory / "ended").exists()
    assert desk.state(request["id"]) == ("done", "succeeded")


def closed_pipe() -> int:
    """Return the end of a pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def test_the_exit_code_counts_when_nobody_reads_the_output(desk, command):
    writer = closed_pipe()
    process = command.start("ask", "Deploy?", stdout=writer)
    os.close(writer)

    desk.decide(desk.next_request())

    code, _, error = process.wait(60), None, process.stderr.read()
    assert (code, "Traceback" in error) == (YES, False)


def test_a_permit_that_nobody_reads_is_not_used(desk, command):
    writer = closed_pipe()
    process = command.start("ask", "Refund?", "--tool", "refund", stdout=writer)
    os.close(writer)
    request = desk.next_request()

    desk.decide(request)

    assert process.wait(60) == USAGE
    assert desk.state(request["id"]) == ("done", "failed")
