"""Hooks of coding agents against a running Signoff: nothing runs without an approval."""

import json
import os
import signal
import subprocess
from typing import Any

import pytest

from tests.support.clients.faulty_server import answer, faulty_server, hang_up
from tests.support.clients.hook_process import Ended, Hook, allows, event_of

#: Each host with an event before a call, and whether it takes changed arguments.
BEFORE = [
    ("claude-code", "pretooluse", True),
    ("claude-code", "permissionrequest", True),
    ("codex", "pretooluse", True),
    ("codex", "permissionrequest", False),
    ("gemini-cli", "beforetool", True),
    ("copilot-cli", "pretooluse", True),
    ("cursor", "beforeshellexecution", False),
]
AFTER = [
    ("claude-code", "pretooluse", "posttooluse", "succeeded"),
    ("claude-code", "permissionrequest", "posttooluse", "succeeded"),
    ("claude-code", "pretooluse", "posttoolusefailure", "failed"),
    ("codex", "pretooluse", "posttooluse", "succeeded"),
    ("codex", "permissionrequest", "posttooluse", "succeeded"),
    ("copilot-cli", "pretooluse", "posttooluse", "succeeded"),
]
#: The arguments of an event, by host.
ARGS = {"copilot-cli": "toolArgs", "cursor": None}

every_host = pytest.mark.parametrize(
    ("host", "name"), [case[:2] for case in BEFORE], ids=[f"{h}-{n}" for h, n, _ in BEFORE]
)


@pytest.fixture
def hook(desk, tmp_path):
    return lambda host: Hook(desk, tmp_path, host)


def args_of(host: str, event: dict[str, Any]) -> dict[str, Any]:
    if host == "cursor":
        return {"command": event["command"], "cwd": event["cwd"]}
    args: dict[str, Any] = event[ARGS.get(host, "tool_input")]
    return args


@every_host
def test_an_approved_call_runs(desk, hook, host, name):
    event = event_of(host, name)
    process = hook(host).start(event, "--wait", "60")
    request = desk.next_request()
    assert request["items"][0]["args"] == args_of(host, event)
    assert request["session"]["id"].startswith(f"{host}:")

    desk.decide(request)

    ended = Ended(process)
    assert allows(host, ended), ended.text
    is_reported = host != "cursor"
    state = ("decided", "started") if is_reported else ("done", "handed_over")
    assert desk.state(request["id"]) == state


@pytest.mark.parametrize(
    ("host", "name"), [case[:2] for case in BEFORE if case[2]], ids=lambda name: name
)
def test_an_edited_call_runs_as_edited(desk, hook, host, name):
    event = event_of(host, name)
    process = hook(host).start(event, "--wait", "60")

    desk.edit(desk.next_request(), {**args_of(host, event), "command": "true"})

    ended = Ended(process)
    assert allows(host, ended)
    assert '"command": "true"' in ended.text


@pytest.mark.parametrize(
    ("host", "name"), [case[:2] for case in BEFORE if not case[2]], ids=lambda name: name
)
def test_hosts_that_take_no_edits_offer_none(desk, hook, host, name):
    process = hook(host).start(event_of(host, name), "--wait", "60")
    request = desk.next_request()

    with pytest.raises(AssertionError, match="editedArgs"):
        desk.edit(request, {"command": "true"})

    desk.deny(request)
    assert not allows(host, Ended(process))


def test_an_edit_that_a_host_cannot_carry_out_is_denied_and_reported(desk, hook):
    process = hook("gemini-cli").start(event_of("gemini-cli", "beforetool"), "--wait", "60")
    request = desk.next_request()

    desk.edit(request, {"command": "terraform plan"})

    ended = Ended(process)
    assert not allows("gemini-cli", ended)
    assert "cannot remove description" in ended.json["reason"]
    assert desk.state(request["id"]) == ("done", "failed")


@every_host
def test_a_denied_call_does_not_run(desk, hook, host, name):
    process = hook(host).start(event_of(host, name), "--wait", "60")

    desk.deny(desk.next_request(), "not during the sale")

    ended = Ended(process)
    assert not allows(host, ended)
    assert ended.code == 0
    assert "not during the sale" in ended.text


@every_host
def test_a_call_without_an_answer_does_not_run(desk, hook, host, name):
    ended = hook(host).run(event_of(host, name), "--wait", "0")

    assert not allows(host, ended)
    assert ended.code == 0
    assert desk.next_request()["url"] in ended.text
    assert "no denial by a person" in ended.text


def test_the_same_call_again_attaches_to_its_request(desk, hook):
    event = event_of("claude-code", "pretooluse")
    hook("claude-code").run(event, "--wait", "0")
    request = desk.next_request()
    desk.decide(request)

    again = hook("claude-code").run({**event, "tool_use_id": "toolu_2"}, "--wait", "0")
    third = hook("claude-code").run({**event, "tool_use_id": "toolu_3"}, "--wait", "0")

    assert allows("claude-code", again)
    assert not allows("claude-code", third)
    assert desk.next_request()["id"] != request["id"]


def test_an_approval_is_not_for_another_session(desk, hook):
    event = event_of("claude-code", "pretooluse")
    hook("claude-code").run(event, "--wait", "0")
    desk.decide(desk.next_request())

    other = hook("claude-code").run({**event, "session_id": "another"}, "--wait", "0")

    assert not allows("claude-code", other)
    desk.next_request()


def test_eight_equal_calls_at_once_need_eight_approvals(desk, hook):
    event = event_of("claude-code", "pretooluse-subagent-mcp")
    processes = [
        hook("claude-code").start({**event, "tool_use_id": f"toolu_{number}"}, "--wait", "20")
        for number in range(8)
    ]

    for _ in range(3):
        desk.decide(desk.next_request())
    desk.deny(desk.next_request())

    ended = [Ended(process) for process in processes]
    assert sum(allows("claude-code", each) for each in ended) == 3


def test_eight_different_calls_at_once(desk, hook):
    event = event_of("codex", "pretooluse")
    processes = [
        hook("codex").start(
            {**event, "tool_input": {"command": f"git push {number}"}}, "--wait", "60"
        )
        for number in range(8)
    ]

    for request in desk.next_requests(8):
        if request["items"][0]["args"]["command"][-1] in "024":
            desk.decide(request)
        else:
            desk.deny(request)

    ended = [Ended(process) for process in processes]
    assert [allows("codex", each) for each in ended] == [
        True, False, True, False, True, False, False, False
    ]  # fmt: skip


@pytest.mark.parametrize(("host", "before", "after", "state"), AFTER)
def test_the_end_of_a_call_is_reported(desk, hook, host, before, after, state):
    event = event_of(host, before)
    process = hook(host).start(event, "--wait", "60")
    request = desk.next_request()
    desk.decide(request)
    Ended(process)
    same = {n: event[n] for n in ("session_id", "sessionId", "tool_use_id") if n in event}

    ended = hook(host).run(event_of(host, after, **same))

    assert (ended.code, ended.text, ended.error) == (0, "", "")
    assert desk.state(request["id"]) == ("done", state)
    assert hook(host).attempts() == []
    assert not desk.is_deviating(request["id"])


def test_the_report_is_about_the_call_with_the_same_id(desk, hook):
    event = event_of("claude-code", "pretooluse")
    requests = {}
    for name in ("toolu_a", "toolu_b"):
        process = hook("claude-code").start({**event, "tool_use_id": name}, "--wait", "60")
        requests[name] = desk.next_request()
        desk.decide(requests[name])
        assert allows("claude-code", Ended(process))

    for name in ("toolu_b", "toolu_b"):
        same = {"session_id": event["session_id"], "tool_use_id": name}
        hook("claude-code").run(event_of("claude-code", "posttooluse", **same))

    states = {name: desk.state(request["id"])[1] for name, request in requests.items()}
    assert states == {"toolu_a": "started", "toolu_b": "succeeded"}


def test_an_interrupted_call_is_in_doubt(desk, hook):
    event = event_of("claude-code", "pretooluse")
    process = hook("claude-code").start(event, "--wait", "60")
    request = desk.next_request()
    desk.decide(request)
    Ended(process)
    same = {"session_id": event["session_id"], "tool_use_id": event["tool_use_id"]}

    hook("claude-code").run(
        event_of("claude-code", "posttoolusefailure", **same, is_interrupt=True)
    )

    assert desk.state(request["id"])[1] == "in_doubt"


def test_other_arguments_than_approved_are_told(desk, hook):
    event = event_of("claude-code", "pretooluse")
    process = hook("claude-code").start(event, "--wait", "60")
    request = desk.next_request()
    desk.decide(request)
    Ended(process)
    same = {"session_id": event["session_id"], "tool_use_id": event["tool_use_id"]}
    args = {**event["tool_input"], "command": "rm -rf build"}

    hook("claude-code").run(event_of("claude-code", "posttooluse", **same, tool_input=args))

    assert desk.state(request["id"]) == ("done", "succeeded")
    assert desk.is_deviating(request["id"])


def test_calls_that_nobody_was_asked_about_are_not_reported(hook):
    away = {"SIGNOFF_URL": "http://127.0.0.1:1"}

    ended = hook("claude-code").run(event_of("claude-code", "posttooluse"), env=away)

    assert (ended.code, ended.text, ended.error) == (0, "", "")


@every_host
@pytest.mark.parametrize("option", ["deny", "ask"])
def test_a_server_that_is_away(hook, monkeypatch, host, name, option):
    away = {"SIGNOFF_URL": "http://127.0.0.1:1"}
    quick = (
        "import sys; from signoff_client.hooks import gate; gate._PATIENCE_SECONDS = 0.1;"
        "sys.exit(gate.run_hook(sys.argv[1:]))"
    )

    ended = hook(host).run(
        event_of(host, name), "--if-down", option, command=("-c", quick), env=away
    )

    if option == "ask" and (host, name) == ("claude-code", "pretooluse"):
        assert ended.json["hookSpecificOutput"]["permissionDecision"] == "ask"
    elif option == "ask" and name == "permissionrequest":
        assert (ended.code, ended.json) == (0, {})  # the host prompts
    else:
        assert not allows(host, ended), ended.text
        assert "no denial by a person" in ended.text + ended.error


def test_a_bypassed_host_is_not_left_to_its_prompts(hook):
    event = event_of("claude-code", "pretooluse", permission_mode="bypassPermissions")
    env = {"SIGNOFF_URL": "http://signoff.example.com"}

    ended = hook("claude-code").run(event, "--if-down", "ask", env=env)

    assert ended.code == 2


@pytest.mark.parametrize(
    "fault",
    [
        *(answer("<html>"), answer("{}"), answer("[]"), answer("null"), hang_up),
        answer('{"id": "x", "status": "decided", "items": []}'),
        *(answer('{"code": "X"}', status) for status in (400, 401, 403, 404, 409, 429, 500)),
    ],
    ids=[*("html", "object", "list", "null", "hang-up", "no-item"), *map(str, range(7))],
)
@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_answers_of_something_else_deny(hook, host, fault):
    quick = (
        "import sys; from signoff_client.hooks import gate; gate._PATIENCE_SECONDS = 0.1;"
        "sys.exit(gate.run_hook(sys.argv[1:]))"
    )
    with faulty_server(fault) as server:
        ended = hook(host).run(
            event_of(host, "pretooluse"), command=("-c", quick), env={"SIGNOFF_URL": server.url}
        )

    assert (ended.code, ended.text) == (2, "")
    assert "Traceback" not in ended.error


@pytest.mark.parametrize(
    "event",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b"{}", b"[" * 100_000, b'{"hook_event_name": 1}'],
    ids=lambda event: repr(event[:10]),
)
@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini-cli", "copilot-cli", "cursor"])
def test_broken_events_deny(hook, host, event):
    ended = hook(host).run(event)

    assert (ended.code, ended.text) == (2, "")
    assert "Traceback" not in ended.error


@pytest.mark.parametrize(
    "env",
    [
        {"SIGNOFF_API_KEY": ""},
        {"SIGNOFF_URL": "http://signoff.example.com"},
        {"SIGNOFF_API_KEY": "x"},
    ],
    ids=["no-key", "clear-text", "wrong-key"],
)
def test_missing_settings_deny(hook, env):
    ended = hook("claude-code").run(event_of("claude-code", "pretooluse"), env=env)

    assert (ended.code, ended.text) == (2, "")


@pytest.mark.parametrize(
    ("args", "cure"),
    [
        ({"command": "\ud800"}, "Remove that character"),
        ({"command": "a\0b"}, "leave it out"),
        ({"x": float("nan")}, "no JSON"),
        ({"x": "a" * 300_000}, "several smaller calls"),
    ],
    ids=["surrogate", "nul", "nan", "large"],
)
def test_calls_that_can_never_be_approved_say_what_to_change(hook, args, cure):
    event = event_of("claude-code", "pretooluse", tool_input=args)

    ended = hook("claude-code").run(event, "--wait", "0")

    assert (ended.code, ended.text) == (2, "")
    assert "cannot be approved as it is" in ended.error
    assert cure in ended.error
    assert "same call again" not in ended.error


def test_tools_that_only_read_are_skipped_by_name(hook):
    event = event_of("codex", "pretooluse", tool_name="view_image")

    ended = hook("codex").run(event, "--skip", "view_image,update_plan", "--wait", "0")

    assert (ended.code, ended.text, ended.error) == (0, "", "")


@pytest.mark.parametrize("status", [400, 413, 422])
def test_refusals_of_a_call_are_no_failures_of_the_server(hook, status):
    body = json.dumps({"code": "INVALID_INPUT", "detail": "/args/x is wrong"})
    with faulty_server(answer(body, status)) as server:
        event = event_of("claude-code", "pretooluse")
        ended = hook("claude-code").run(event, "--wait", "1", env={"SIGNOFF_URL": server.url})

    assert ended.code == 2
    assert "/args/x is wrong" in ended.error
    assert "same call again" not in ended.error


@pytest.mark.parametrize("status", [401, 403])
def test_refusals_of_a_key_leave_the_call_as_it_is(hook, status):
    body = json.dumps({"code": "NOT_ALLOWED", "detail": "no"})
    with faulty_server(answer(body, status)) as server:
        event = event_of("claude-code", "pretooluse")
        ended = hook("claude-code").run(event, "--wait", "1", env={"SIGNOFF_URL": server.url})

    assert ended.code == 2
    assert "Issue the same call again later" in ended.error


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=str)
def test_a_hook_that_is_told_to_end_denies(desk, hook, number):
    process = hook("claude-code").start(event_of("claude-code", "pretooluse"), "--wait", "60")
    desk.next_request()

    process.send_signal(number)

    ended = Ended(process)
    assert (ended.code, ended.text) == (2, "")


def test_a_prompt_of_claude_code_is_denied_in_words_by_a_hook_that_ends(desk, hook):
    """Its exit code would count for nothing."""
    process = hook("claude-code").start(event_of("claude-code", "permissionrequest"))
    desk.next_request()

    process.terminate()

    ended = Ended(process)
    assert ended.json["hookSpecificOutput"]["decision"]["behavior"] == "deny"


def test_a_hook_that_nobody_reads_denies_and_gives_the_permit_back(desk, hook):
    reader, writer = os.pipe()
    os.close(reader)
    one_hook: Hook = hook("claude-code")
    process = one_hook.start(event_of("claude-code", "pretooluse"), "--wait", "60", stdout=writer)
    os.close(writer)
    request = desk.next_request()

    desk.decide(request)

    assert Ended(process).code == 2
    assert desk.state(request["id"]) == ("done", "failed")
    assert one_hook.attempts() == []


def test_a_hook_ends_by_itself_when_the_server_drips(hook):
    """A byte now and then keeps every time limit of the connection from being reached."""

    def drip(handler: Any) -> None:
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(b" ")
            handler.wfile.flush()
            signal.sigtimedwait([], 0.05)

    quick = (
        "import sys; from signoff_client.hooks import gate; gate.GRACE_SECONDS = 0.5;"
        "sys.exit(gate.run_hook(sys.argv[1:]))"
    )
    with faulty_server(drip) as server:
        for host, name in (("claude-code", "pretooluse"), ("claude-code", "permissionrequest")):
            ended = hook(host).run(
                event_of(host, name),
                "--wait",
                "0",
                command=("-c", quick),
                env={"SIGNOFF_URL": server.url},
            )

            assert not allows(host, ended)
            assert "in time" in ended.text + ended.error


def test_questions_are_answered(desk, hook):
    process = hook("claude-code").start(event_of("claude-code", "askuserquestion"), "--wait", "60")
    request = desk.next_request()
    assert request["items"][0]["tool"] is None

    desk.decide(request, "us-east")

    output = Ended(process).json["hookSpecificOutput"]
    assert output["updatedInput"]["answers"] == {"Which region first?": "us-east"}


def test_questions_without_an_answer_are_withdrawn(desk, hook):
    process = hook("claude-code").start(event_of("claude-code", "elicitation"), "--wait", "1")
    request = desk.next_request()

    ended = Ended(process)

    assert ended.json["hookSpecificOutput"]["action"] == "decline"
    assert desk.state(request["id"])[0] == "withdrawn"


def test_pending_calls_are_deferred_on_request(desk, hook):
    event = event_of("claude-code", "pretooluse")

    ended = hook("claude-code").run(event, "--wait", "0", "--defer")

    assert ended.json["hookSpecificOutput"]["permissionDecision"] == "defer"
    desk.next_request()


def test_the_files_of_attempts_are_private(desk, hook):
    process = hook("codex").start(event_of("codex", "pretooluse"), "--wait", "60")

    desk.decide(desk.next_request())

    Ended(process)
    (path,) = hook("codex").attempts()

    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o077 == 0


def test_wrong_usage_denies(hook):
    done: subprocess.Popen[bytes] = hook("vim").start(b"{}")

    assert Ended(done).code == 2
