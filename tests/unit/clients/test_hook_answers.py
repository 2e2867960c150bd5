"""Events of hosts are understood, and answered in the hosts' own words, byte by byte."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from signoff_client.hooks import words
from signoff_client.hooks.claude_code import ClaudeCode
from signoff_client.hooks.events import Answer, Decision, Event, Host, Kind, UnexpectedEvent
from signoff_client.hooks.gate import HOSTS

from tests.support.clients.live_desk import CLIENT_SOURCE

EVENTS = Path(__file__).with_name("hosts")
URL = "https://signoff.example.com/interrupts/0199c7b2-aaaa/"
BOB = {"decider": "Bob", "at": "2026-11-22T10:42:31.004Z", "url": URL}
SALE, FREEZE = "not during the sale", "freeze until Monday"
STAGING = "kubectl -n staging rollout restart deploy/web"
REVIEW = "git push origin HEAD:review"

#: file of our answer, file of the event, what is answered, and with which change or reason
CASES: list[tuple[str, str, str, Any]] = [
    ("claude-code/pretooluse.allow", "pretooluse", "allow", {}),
    ("claude-code/pretooluse.allow-edited", "pretooluse", "allow", {"command": STAGING}),
    ("claude-code/pretooluse.deny", "pretooluse", "deny", SALE),
    ("claude-code/pretooluse.pending", "pretooluse", "block", words.pending(URL)),
    ("claude-code/pretooluse.defer", "pretooluse", "defer", None),
    ("claude-code/permissionrequest.allow", "permissionrequest", "allow", {}),
    (
        "claude-code/permissionrequest.allow-edited",
        "permissionrequest",
        "allow",
        {"command": STAGING},
    ),
    ("claude-code/permissionrequest.deny", "permissionrequest", "deny", SALE),
    ("claude-code/permissionrequest.no-decision", "permissionrequest", "prompt", None),
    ("claude-code/askuserquestion.answer", "askuserquestion", "answer", {"1": "us-east"}),
    (
        "claude-code/elicitation.accept",
        "elicitation",
        "answer",
        {"1": {"owner": "dana@example.com"}},
    ),
    ("claude-code/elicitation.decline", "elicitation", "deny", ""),
    ("codex/pretooluse.allow", "pretooluse", "allow", {}),
    ("codex/pretooluse.allow-edited", "pretooluse", "allow", {"command": REVIEW}),
    ("codex/pretooluse.deny", "pretooluse", "deny", FREEZE),
    ("codex/permissionrequest.allow", "permissionrequest", "allow", {}),
    ("codex/permissionrequest.deny", "permissionrequest", "deny", FREEZE),
    ("gemini-cli/beforetool.allow", "beforetool", "allow", {}),
    ("gemini-cli/beforetool.allow-edited", "beforetool", "allow", {"command": "terraform plan"}),
    ("gemini-cli/beforetool.deny", "beforetool", "deny", "no change window"),
    ("copilot-cli/pretooluse.allow", "pretooluse", "allow", {}),
    (
        "copilot-cli/pretooluse.allow-edited",
        "pretooluse",
        "allow",
        {"command": "npm publish --dry-run"},
    ),
    ("copilot-cli/pretooluse.deny", "pretooluse", "deny", "wait for legal"),
    ("copilot-cli/permissionrequest.allow", "permissionRequest", "allow", {}),
    ("copilot-cli/permissionrequest.deny", "permissionRequest", "deny", "wait for legal"),
    ("cursor/before.allow", "beforeshellexecution", "allow", {}),
    ("cursor/before.deny", "beforemcpexecution", "deny", "not today"),
]


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> Any:
    import time

    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


def read(host: Host, name: str) -> Event:
    """Read the event in a file; an event that has no file of its own is read as a preToolUse."""
    path = EVENTS / host.name / f"{name}.in.json"
    if path.exists():
        return host.read(json.loads(path.read_text()), "")
    return host.read(json.loads((path.parent / "pretooluse.in.json").read_text()), name)


def answer(host: Host, event: Event, kind: str, value: Any) -> Answer | None:
    match kind:
        case "allow":
            args = {**event.args, **value}
            return host.allow(event, Decision(**BOB, args=args, edited=args != event.args))
        case "deny":
            return host.deny(event, Decision(**BOB, reason=value))
        case "block":
            return host.block(event, value)
        case "prompt":
            return host.prompt(event)
        case "defer":
            assert isinstance(host, ClaudeCode)
            return host.defer(event)
    return host.answer_questions(event, value)


@pytest.mark.parametrize(("name", "event_name", "kind", "value"), CASES, ids=[c[0] for c in CASES])
def test_answers_have_the_words_of_the_host(name, event_name, kind, value):
    host = HOSTS[name.partition("/")[0]]

    result = answer(host, read(host, event_name), kind, value)

    assert result is not None
    assert result.text == (EVENTS / f"{name}.out.json").read_text()
    assert result.code == 0


def test_every_answer_in_a_file_has_a_case():
    names = {
        str(path.relative_to(EVENTS))[: -len(".out.json")] for path in EVENTS.rglob("*.out.json")
    }

    assert names == {case[0] for case in CASES}


@pytest.mark.parametrize(
    "path", sorted(EVENTS.rglob("*.in.json")), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_every_event_of_a_host_is_understood(path):
    event = HOSTS[path.parent.name].read(json.loads(path.read_text()), "")

    assert event.session
    assert event.kind is Kind.QUESTION or (event.tool and event.args)
    is_after = path.name.startswith(("post", "after"))
    assert (event.kind in (Kind.SUCCEEDED, Kind.FAILED)) is is_after


def traps() -> list[Path]:
    return sorted([*EVENTS.rglob("*.never-send.json"), *EVENTS.rglob("*.refused-by-*.json")])


def test_a_hook_starts_without_what_only_its_check_needs():
    """Hosts start the hook for each call."""
    loaded = "import sys, signoff_client.hooks.gate; print(*sys.modules)"
    names = subprocess.run(
        [sys.executable, "-c", loaded],
        env={"PYTHONPATH": str(CLIENT_SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()

    assert "signoff_client.hooks.gate" in names
    assert not {"http.server", "subprocess", "signoff_client.hooks.loopback_model"} & set(names)


def test_answers_that_hosts_misread_are_never_given():
    """A bare "allow" and edits after a prompt run the original call; "always" outlives the call."""
    texts = [path.read_text() for path in traps()]
    outputs = [json.loads(text)["hookSpecificOutput"] for text in texts]
    shapes = [(output["hookEventName"], shape(output)) for output in outputs]
    assert len(texts) == 3

    for host in (HOSTS["claude-code"], HOSTS["codex"]):
        forbidden = [
            wrong
            for wrong, path in zip(shapes, traps(), strict=True)
            if path.parent.name == host.name
        ]
        for name in ("pretooluse", "permissionrequest"):
            event = read(host, name)
            for value in ({}, {"command": REVIEW}):
                if value and host.refuse_edit(event, {**event.args, **value}):
                    continue  # tests of the gate: the call is denied
                result = answer(host, event, "allow", value)
                assert result is not None
                output = (result.output or {}).get("hookSpecificOutput", {})
                assert (output.get("hookEventName"), shape(output)) not in forbidden
                assert "updatedPermissions" not in result.text


def shape(value: Any) -> Any:
    """Return the names of members without their values."""
    if isinstance(value, dict):
        return frozenset((name, shape(member)) for name, member in value.items())
    return None


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("codex", "permissionrequest"),
        ("copilot-cli", "permissionRequest"),
        ("cursor", "beforeshellexecution"),
    ],
)
def test_hosts_that_run_their_own_call_refuse_edits(host, name):
    event = read(HOSTS[host], name)

    assert not HOSTS[host].accepts_edits(event)
    assert HOSTS[host].refuse_edit(event, {**event.args, "command": REVIEW})


def test_cursor_denies_a_tool_with_words_and_exit_code():
    host = HOSTS["cursor"]
    event = read(host, "pretooluse")

    for result in (host.block(event, "no"), host.deny(event, Decision(**BOB, reason=SALE))):
        assert (result.code, json.loads(result.text)["permission"]) == (2, "deny")
    assert json.loads(host.allow(event, Decision(**BOB)).text) == {"permission": "allow"}


@pytest.mark.parametrize(
    ("args", "removed"),
    [
        ({"command": "terraform plan"}, "description"),
        ({"command": "x", "description": "y", "more": 1}, ""),
        ({"command": {"inner": 1}, "description": "y"}, ""),
    ],
)
def test_gemini_cannot_remove_a_member(args, removed):
    host = HOSTS["gemini-cli"]

    problem = host.refuse_edit(read(host, "beforetool"), args)

    assert removed in problem
    assert bool(removed) == bool(problem)


def test_gemini_cannot_remove_a_member_of_a_member():
    event = Event(Kind.CALL, "BeforeTool", "s", args={"a": {"b": {"c": 1, "d": 2}}})

    assert "a.b.d" in HOSTS["gemini-cli"].refuse_edit(event, {"a": {"b": {"c": 1}}})


def test_true_instead_of_one_is_a_change():
    event = Event(Kind.CALL, "BeforeTool", "s", args={"force": 1})
    decision = Decision(args={"force": True}, edited=True)

    output = HOSTS["gemini-cli"].allow(event, decision).output

    assert output is not None
    assert output["hookSpecificOutput"]["tool_input"] == {"force": True}


@pytest.mark.parametrize("mode", ["bypassPermissions", "dontAsk"])
def test_nobody_is_prompted_in_modes_without_prompts(mode):
    message = json.loads((EVENTS / "claude-code/pretooluse.in.json").read_text())

    event = HOSTS["claude-code"].read({**message, "permission_mode": mode}, "")

    assert HOSTS["claude-code"].prompt(event) is None


def test_only_hosts_that_prompt_may_be_left_to_it():
    prompts = {
        (name, event): HOSTS[name].prompt(read(HOSTS[name], event)) is not None
        for name, event in (
            ("claude-code", "pretooluse"),
            ("claude-code", "permissionrequest"),
            ("codex", "pretooluse"),
            ("codex", "permissionrequest"),
            ("gemini-cli", "beforetool"),
            ("copilot-cli", "pretooluse"),
            ("cursor", "beforeshellexecution"),
        )
    }

    assert [key for key, value in prompts.items() if value] == [
        ("claude-code", "pretooluse"),
        ("claude-code", "permissionrequest"),
        ("codex", "permissionrequest"),
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"hook_event_name": "PreToolUsed"},
        {"hook_event_name": None},
        {"hook_event_name": 7},
        {"tool_input": None},
        {"tool_input": [1]},
        {"tool_input": "{"},
        {"session_id": {}},
    ],
    ids=str,
)
@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini-cli"])
def test_events_that_are_not_understood_are_refused(host, change):
    name = "beforetool" if host == "gemini-cli" else "pretooluse"
    message = json.loads((EVENTS / host / f"{name}.in.json").read_text())

    with pytest.raises(UnexpectedEvent):
        HOSTS[host].read({**message, **change}, "")


def test_an_address_to_open_is_left_to_the_host():
    message = json.loads((EVENTS / "claude-code/elicitation.in.json").read_text())

    event = HOSTS["claude-code"].read({**message, "mode": "url"}, "")

    assert event.kind is Kind.IGNORED


def test_questions_become_choices():
    host = HOSTS["claude-code"]

    (item,) = host.questions(read(host, "askuserquestion"))

    assert item["answer_schema"] == {"enum": ["eu-central", "us-east"]}
    assert item["title"] == "Which region first?"
    assert "us-east: least risk" in item["why"]
