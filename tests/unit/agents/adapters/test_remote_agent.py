"""Remote agents in the dialects of the field, and remote agents that mean no good."""

import asyncio
import json
from contextlib import nullcontext

import httpx
import pytest

from agents import tracing
from agents.adapters.remote import sse
from agents.adapters.remote.allowed_addresses import (
    AddressRefused,
    AllowedHosts,
    check_url,
    find_target,
)
from tests.support.agents import vendor_servers
from tests.support.agents.doubles import Stage, cancelled
from tests.support.agents.vendor_servers import (
    ARGS,
    LANGGRAPH_IDS,
    Server,
    failure,
    finished,
    interrupted_stage,
    remote,
    started,
)

APPROVE = {"approved": True}


# -- dialects -------------------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", [False, True], ids=["legacy", "with outcome"])
async def test_one_interrupt_of_langgraph_is_answered_by_its_id(outcome):
    stage, server = await interrupted_stage(
        vendor_servers.langgraph_asks(outcome=outcome),
        [started(), *vendor_servers.done(), finished()],
    )
    (interrupt,) = stage.interrupts

    await stage.answer(APPROVE)

    assert (interrupt.id, interrupt.reason, interrupt.tool_call_id) == (
        LANGGRAPH_IDS[0],
        "tool_call",
        "tc-1",
    )
    assert interrupt.message == "Refund tc-1?"
    assert interrupt.response_schema == vendor_servers.SCHEMA
    assert server.last["forwardedProps"] == {"command": {"resume": {LANGGRAPH_IDS[0]: APPROVE}}}
    # LangGraph's bridge reads either, CrewAI's the second only.
    entry = {"interruptId": LANGGRAPH_IDS[0], "status": "resolved", "payload": APPROVE}
    assert server.last["resume"] == [entry]
    assert stage.text == "done: refunded 47.5"
    assert stage.outcome == "success"


@pytest.mark.parametrize("outcome", [False, True], ids=["legacy", "with outcome"])
async def test_several_interrupts_of_langgraph_are_answered_by_one_map(outcome):
    stage, server = await interrupted_stage(
        vendor_servers.langgraph_asks(2, outcome=outcome), [started(), finished()]
    )

    await stage.answer(APPROVE, cancelled(stage.interrupts[1]))

    assert server.last["forwardedProps"]["command"]["resume"] == {
        LANGGRAPH_IDS[0]: APPROVE,
        LANGGRAPH_IDS[1]: {"approved": False, "cancelled": True},
    }


@pytest.mark.parametrize("outcome", [False, True], ids=["legacy", "with outcome"])
async def test_two_interrupts_of_a_langgraph_node_are_answered_by_their_id(outcome):
    ask = vendor_servers.langgraph_asks(outcome=outcome)
    again = [event for event in ask if "toolCallId" not in event]
    stage, server = await interrupted_stage(ask, again, [started(), finished()])
    (first,) = stage.interrupts
    await stage.answer(APPROVE)
    (second,) = stage.interrupts

    await stage.answer({"approved": False})

    assert first.id == second.id == LANGGRAPH_IDS[0]
    assert server.last["forwardedProps"]["command"]["resume"] == {
        LANGGRAPH_IDS[0]: {"approved": False}
    }


async def test_a_langgraph_interrupt_says_when_it_expires():
    value = {"message": "Go on?", "expiresAt": "2026-11-21T12:00:00Z"}
    stage, _ = await interrupted_stage(
        [started(), vendor_servers.on_interrupt(value, LANGGRAPH_IDS[0]), finished()]
    )

    assert stage.interrupts[0].expires_at == "2026-11-21T12:00:00Z"


async def test_a_langgraph_interrupt_without_an_id_is_answered_by_its_value():
    stage, server = await interrupted_stage(
        [started(), vendor_servers.on_interrupt("How old are you?"), finished()],
        [started(), finished()],
    )
    (interrupt,) = stage.interrupts

    await stage.answer(42)

    assert (interrupt.reason, interrupt.message) == ("langgraph:interrupt", "How old are you?")
    assert server.last["forwardedProps"] == {"command": {"resume": 42}}


async def test_several_questions_that_nobody_named_cannot_be_answered():
    stage, _ = await interrupted_stage(
        [
            started(),
            vendor_servers.on_interrupt("One?"),
            vendor_servers.on_interrupt("Two?"),
            finished(),
        ]
    )

    assert failure(stage)[0] == "PROTOCOL_VIOLATION"
    assert "interrupts without ids" in failure(stage)[1]


async def test_canonical_interrupts_are_answered_all_at_once():
    stage, server = await interrupted_stage(
        vendor_servers.canonical_asks("tc-1", "tc-2"),
        [started(), *vendor_servers.done(), finished()],
    )

    await stage.answer({**APPROVE, "editedArgs": {"amount": 5}}, cancelled(stage.interrupts[1]))

    assert server.last["resume"] == [
        {
            "interruptId": "int-tc-1",
            "status": "resolved",
            "payload": {**APPROVE, "editedArgs": {"amount": 5}},
        },
        {"interruptId": "int-tc-2", "status": "cancelled"},
    ]
    assert server.last["forwardedProps"] == {}


async def test_draft_function_approval_becomes_a_call_and_runs_the_stored_one():
    payload = {"functionName": "issue_refund", "functionArguments": ARGS}
    stage, server = await interrupted_stage(
        vendor_servers.draft_asks(payload, id="int-1"),
        [started(), *vendor_servers.done("int-1-call"), finished(outcome="success")],
    )
    (interrupt,) = stage.interrupts

    await stage.answer({"approved": True, "editedArgs": {"order": "A1", "amount": 5}})

    assert (interrupt.reason, interrupt.tool_call_id) == ("tool_call", "int-1-call")
    assert server.last["resume"] == {
        "interruptId": "int-1",
        "payload": {
            "approved": True,
            "editedArgs": {"order": "A1", "amount": 5},
            "toolCall": {
                "callId": "int-1-call",
                "name": "issue_refund",
                "arguments": {"order": "A1", "amount": 5},
            },
        },
    }
    assert stage.outcome == "success"


async def test_an_interrupt_of_the_draft_may_have_neither_an_id_nor_an_outcome():
    ask = {"reason": "input_required", "payload": {"question": "Which colour?"}}
    stage, server = await interrupted_stage(
        [started(), finished(interrupt=ask)], [started(), finished(result={"ok": True})]
    )
    (interrupt,) = stage.interrupts

    await stage.answer("blue")

    assert (interrupt.reason, interrupt.message) == ("input_required", "Which colour?")
    assert server.last["resume"] == {"payload": "blue"}


async def test_mastra_is_told_which_call_it_suspended():
    value = {
        "type": "mastra_suspend",
        "toolCallId": "tc-1",
        "toolName": "issue_refund",
        "suspendPayload": {"why": "large"},
        "resumeSchema": json.dumps(vendor_servers.SCHEMA),
        "runId": "their-run",
    }
    stage, server = await interrupted_stage(
        [started(), *vendor_servers.call(), vendor_servers.on_interrupt(value), finished()],
        [started(), *vendor_servers.done(), finished()],
    )
    (interrupt,) = stage.interrupts

    await stage.answer(APPROVE)

    assert interrupt.response_schema == vendor_servers.SCHEMA
    assert interrupt.tool_call_id == "tc-1"
    assert server.last["forwardedProps"]["command"] == {
        "resume": APPROVE,
        "interruptEvent": {"toolCallId": "tc-1", "runId": "their-run"},
    }


async def test_what_is_asked_about_a_call_that_nobody_saw_is_no_approval_of_it():
    value = {"reason": "tool_call", "toolCallId": "never-seen", "message": "Go on?"}
    stage, _ = await interrupted_stage([started(), vendor_servers.on_interrupt(value), finished()])

    assert stage.interrupts[0].reason == "confirmation"
    assert stage.interrupts[0].tool_call_id is None


# -- what is sent ---------------------------------------------------------------------------------


async def test_request_goes_to_the_checked_address_with_the_host_name():
    server = Server([started(), finished()])
    stage = Stage(
        remote(server, read_headers=lambda: {"Authorization": "Bearer k", "Host": "evil"})
    )

    await stage.say("Refund it.")

    (request,) = server.requests
    assert str(request.url) == "https://93.184.215.14/refunds?tenant=7"
    assert request.headers["host"] == "agents.example.com"
    assert request.headers["authorization"] == "Bearer k"
    assert request.extensions["sni_hostname"] == "agents.example.com"
    assert server.last["threadId"] == "thread-key"
    assert server.last["protocolVersion"] == "1.0"
    assert [message["content"] for message in server.last["messages"]] == ["Refund it."]


async def test_request_continues_the_trace_of_the_run(monkeypatch):
    monkeypatch.setattr(tracing, "trace_headers", lambda: {"traceparent": "00-aa-bb-01"})
    server = Server([started(), finished()])

    await Stage(remote(server, read_headers=lambda: {"traceparent": "old"})).say("Refund it.")

    (request,) = server.requests
    assert request.headers["traceparent"] == "00-aa-bb-01"


async def test_connecting_is_tried_again_and_nothing_else_is():
    server = Server(httpx.ConnectError("away"), [started(), finished()])
    stage = Stage(remote(server))
    await stage.say("Refund it.")
    assert stage.outcome == "success"
    assert len(server.requests) == 2

    broken, server = await interrupted_stage([started(), httpx.ReadError("cut")])
    assert failure(broken) == ("AGENT_UNREACHABLE", "The agent's answer ended early.")
    assert len(server.requests) == 1


# -- agents that mean no good ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "code", "why"),
    [
        ([started(), *vendor_servers.call()], "AGENT_UNREACHABLE", "ended early"),
        ([], "AGENT_UNREACHABLE", "ended early"),
        ([httpx.ReadTimeout("")], "AGENT_UNREACHABLE", "sent nothing for 30 seconds"),
        ([started(), b"data: {\n\n"], "PROTOCOL_VIOLATION", "no JSON"),
        ([started(), b"data: 7\n\n"], "PROTOCOL_VIOLATION", "no object"),
        (
            [started(), {"type": "TOOL_CALL_START"}],
            "PROTOCOL_VIOLATION",
            (
                "TOOL_CALL_START that is not a valid AG-UI event: Not an AG-UI event: "
                "TOOL_CALL_START.toolCallId: Field required"
            ),
        ),
        (
            [finished(outcome={"type": "interrupt", "interrupts": []})],
            "PROTOCOL_VIOLATION",
            "RUN_FINISHED that is no",
        ),
        (
            [started(), b"data: " + b"[" * 501 + b"]" * 501 + b"\n\n"],
            "PROTOCOL_VIOLATION",
            "nested too deep",
        ),
        ([b"data: " + b"x" * (sse.MAX_EVENT_BYTES + 1)], "LIMIT_EXCEEDED", "too long"),
        ([b"data: " + b"x" * 1000 + b"\n"] * 1_100, "LIMIT_EXCEEDED", "too long"),
        ([b": keep-alive" + b" " * 100_000 + b"\n\n"] * 600, "LIMIT_EXCEEDED", "too long"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_an_answer_that_is_none_ends_the_run_with_an_error(run, code, why):
    stage, _ = await interrupted_stage(run)

    error_code, message = failure(stage)
    assert error_code == code
    assert why in message


@pytest.mark.parametrize(
    ("status", "headers", "why"),
    [
        (302, {"location": "http://169.254.169.254/"}, "status 302"),
        (500, {}, "status 500"),
        (401, {}, "status 401"),
        (200, {"content-type": "text/html"}, "server-sent events"),
        (200, {"content-encoding": "gzip"}, "compressed"),
    ],
)
async def test_an_answer_that_is_no_stream_of_events_is_not_read(status, headers, why):
    server = Server([started(), finished()], status=status)
    server._headers |= headers
    stage = Stage(remote(server))

    await stage.say("Refund it.")

    assert why in failure(stage)[1]
    assert len(server.requests) == 1


async def test_nothing_is_heard_after_the_end():
    stage, _ = await interrupted_stage(
        [started(), finished(), *vendor_servers.call(), finished(outcome="interrupt")]
    )

    assert [event.type.value for event in stage.events] == ["RUN_FINISHED"]


async def test_events_that_nobody_knows_are_passed_over():
    stage, _ = await interrupted_stage(
        [started(), {"type": "THINKING_START"}, {"no": "type"}, finished()]
    )

    assert stage.outcome == "success"


async def test_an_error_of_the_agent_is_passed_on():
    stage, _ = await interrupted_stage(
        [started(), {"type": "RUN_ERROR", "message": "No money.", "code": "X"}]
    )

    assert failure(stage) == ("X", "No money.")


# -- addresses ------------------------------------------------------------------------------------

PRIVATE = [
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "192.0.2.1",
    "198.18.0.1",
    "::1",
    "::",
    "fe80::1%eth0",
    "fc00::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "2002:7f00:1::",
    "64:ff9b:1::1",
    "64:ff9b::7f00:1",
    "2001:db8::1",
    "168.63.129.16",
    "192.0.0.192",
    "192.0.0.9",
    "192.88.99.1",
    "::7f00:1",
    "::a9fe:a9fe",
    "::ffff:0:7f00:1",
    "100::1",
    "3fff::1",
    "5f00::1",
    "fec0::1",
    "fd00:ec2::254",
    "100.100.100.200",
    "2001::1",
    "240.0.0.1",
]


@pytest.mark.parametrize("address", PRIVATE)
async def test_an_agent_is_not_reached_at_an_address_of_our_own_network(address):
    async def resolve(_host, _port):
        return ["93.184.215.14", address]

    with pytest.raises(AddressRefused):
        await find_target("https://agents.example.com/", AllowedHosts(), resolver=resolve)
    named = AllowedHosts(private={"agents.example.com"})
    target = await find_target("http://agents.example.com/", named, resolver=resolve)
    assert target.url == "http://93.184.215.14:80/"


async def test_dns_rebinding_after_the_check_has_no_effect():
    answers = iter([["93.184.215.14"], ["127.0.0.1"]])

    async def resolve(_host, _port):
        return next(answers)

    server = Server([started(), finished()], [started(), finished()])
    stage = Stage(remote(server, resolver=resolve))

    await stage.say("Once.")
    await stage.say("And again.")

    assert [request.url.host for request in server.requests] == ["93.184.215.14"]
    assert failure(stage) == (
        "AGENT_UNREACHABLE",
        "agents.example.com is an address of a private network.",
    )


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "127.1", "localhost", "[::1]", "0"])
async def test_spellings_of_this_machine_are_resolved_before_they_are_checked(host):
    with pytest.raises((AddressRefused, OSError)):
        await find_target(f"https://{host}/", AllowedHosts())


@pytest.mark.parametrize("url", ["http://agents.example.com/", "HTTP://agents.example.com:443/"])
async def test_an_agent_at_a_public_host_is_not_called_without_tls(url):
    server = Server([started(), finished()])
    stage = Stage(remote(server, url))

    await stage.say("Once.")

    assert server.requests == []
    assert failure(stage) == (
        "AGENT_UNREACHABLE",
        "agents.example.com may not be contacted without TLS: use https://.",
    )


@pytest.mark.parametrize(
    ("host", "is_listed"),
    [
        ("hooks.example.com", True),
        ("HOOKS.example.com", True),
        ("a.agents.example.org", True),
        ("a.b.agents.example.org", True),
        ("93.184.215.14", True),
        ("own.internal", True),
        ("agents.example.org", False),
        ("evilagents.example.org", False),
        ("x.hooks.example.com", False),
        ("hooks.example.com.evil.example", False),
        ("hooks.example.com.", False),
        ("93.184.215.15", False),
    ],
)
async def test_a_host_that_is_not_listed_is_neither_entered_nor_called(host, is_listed):
    listed = {"hooks.example.com", "*.agents.example.org", "93.184.215.14"}
    hosts = AllowedHosts(private={"own.internal"}, public=listed)
    server = Server([started(), finished()])
    stage = Stage(remote(server, f"https://{host}/", hosts=hosts))

    with nullcontext() if is_listed else pytest.raises(AddressRefused):
        check_url(f"https://{host}/", hosts)
    await stage.say("Once.")

    assert bool(server.requests) is is_listed
    if not is_listed:
        sentence = f"{host.lower()} is not one of the hosts that may be contacted."
        assert failure(stage) == ("AGENT_UNREACHABLE", sentence)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "agents.example.com",
        "//agents.example.com/",
        "file:///etc/passwd",
        "gopher://agents.example.com/",
        "unix:///run/docker.sock",
        "https://",
        "http://agents.example.com/",
        "https://user:secret@agents.example.com/",
        "https://agents.example.com:port/",
        "https://agents.example.com:99999/",
        "https://agents.example.com/ HTTP/1.1",
        "https://agents.example.com/\r\nX: y",
        "https://agents.ёxample.com/",
        "https://[::1/",
    ],
)
def test_what_is_no_address_of_an_agent_is_refused(url):
    with pytest.raises(AddressRefused):
        check_url(url, AllowedHosts())


# -- server-sent events ---------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1_000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
async def test_events_are_read_however_they_are_cut_and_ended(size, end):
    lines = [
        b": hello",
        b"id: 7",
        b"event: x",
        b"data: one",
        b"data:two",
        b"",
        b"",
        b"data: 3",
        b"",
    ]
    text = end.join([*lines, b"data: never ended"])

    async def chunks():
        for at in range(0, len(text), size):
            yield text[at : at + size]
            await asyncio.sleep(0)

    assert [event async for event in sse.read_events(chunks())] == [b"one\ntwo", b"3"]


@pytest.mark.parametrize(
    ("input_type", "schema"),
    [
        ("email", {"type": "string", "minLength": 1, "format": "email"}),
        ("number", {"type": "number"}),
        ("checkbox", {"type": "boolean"}),
        ("text", {"type": "string", "minLength": 1}),
        ("signature", {"type": "string", "minLength": 1}),
    ],
)
async def test_input_type_of_the_draft_becomes_a_schema(input_type, schema):
    payload = {"prompt": "Please provide your email address", "inputType": input_type}
    ask = {"id": "input-456", "payload": payload}
    stage, server = await interrupted_stage(
        [started(), finished(outcome="interrupt", interrupt=ask)],
        [started(), finished(outcome="success")],
    )
    (interrupt,) = stage.interrupts

    await stage.answer("ana@example.com")

    assert interrupt.message == "Please provide your email address"
    assert interrupt.response_schema == schema
    assert server.last["resume"] == {"interruptId": "input-456", "payload": "ana@example.com"}


async def test_interrupt_of_the_draft_may_have_an_id_and_no_payload():
    stage, server = await interrupted_stage(
        [started(), finished(outcome="interrupt", interrupt={"id": "only-id"})],
        [started(), finished(outcome="success")],
    )
    (interrupt,) = stage.interrupts

    await stage.answer({"ok": True})

    assert (interrupt.id, interrupt.message, interrupt.response_schema) == ("only-id", None, None)
    assert server.last["resume"] == {"interruptId": "only-id", "payload": {"ok": True}}
    assert stage.outcome == "success"
