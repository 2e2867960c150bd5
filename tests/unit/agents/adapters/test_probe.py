"""Testing the connection to a remote agent: what is sent, what is found, and what is not done."""

import asyncio
import json
import socket
import ssl

import httpx
import pytest

from agents.adapters.remote import probe as probing
from agents.adapters.remote.probe import probe
from agents.agui.legacy.dialects import DialectReader
from tests.support.agents import vendor_servers
from tests.support.agents.vendor_servers import (
    Server,
    Stream,
    finished,
    remote,
    started,
)

REFUSED = {"type": "RUN_ERROR", "code": "UNKNOWN_INTERRUPT_ID", "message": "Nothing is open."}
ABOUT = {
    "identity": {"name": "Refunds", "type": "langgraph", "version": "0.4"},
    "humanInTheLoop": {"interrupts": True, "approvals": False},
    "transport": {"streaming": True},
}


class Bridge:
    """An agent with something below `capabilities`, whatever is said to inputs."""

    def __init__(self, *run, capabilities=None, **more):
        self.inputs = Server(run, **more)
        self.capabilities = capabilities or httpx.Response(404)
        self.requests = []

    def __call__(self, request):
        self.requests.append(request)
        if request.method == "POST":
            return self.inputs(request)
        if isinstance(self.capabilities, Exception):
            raise self.capabilities
        return self.capabilities


def telling(body, *, status=200, kind="application/json"):
    """An answer that comes as it would over a connection."""
    text = body if isinstance(body, str) else json.dumps(body)
    stream = Stream(iter([text.encode()]))
    return httpx.Response(status, headers={"content-type": kind}, stream=stream)


def version(number="1.0"):
    return {**started(), "protocolVersion": number}


async def test_an_agent_of_1_0_refuses_what_it_never_asked():
    bridge = Bridge(version(), REFUSED, capabilities=telling(ABOUT))

    report = await probe(remote(bridge))

    assert (report.found, report.protocol_version, report.dialect) == ("agent", "1.0", "canonical")
    assert report.refused
    assert report.events == ("RUN_STARTED", "RUN_ERROR")
    assert (report.told.name, report.told.type) == ("Refunds", "langgraph")
    assert report.told.flags == ("transport.streaming", "humanInTheLoop.interrupts")


@pytest.mark.parametrize(
    ("code", "message", "refused"),
    [
        ("UNKNOWN_INTERRUPT_ID", "", True),
        ("UNKNOWN_INTERRUPT", "", True),  # Google's bridge
        ("APPROVAL_RESUME_NOT_FOUND", "", True),  # Microsoft's
        ("", "ResumeEntry.interrupt_id '{name}' does not start with 'int-'.", True),  # Pydantic AI
        ("AGENT_ERROR", "There is no message to answer.", False),
    ],
)
async def test_frameworks_refuse_in_their_own_words(code, message, refused):
    def answer(request):
        if request.method == "GET":
            return httpx.Response(404)
        name = json.loads(request.content)["resume"][0]["interruptId"]
        error = {"type": "RUN_ERROR", "code": code, "message": message.format(name=name) or "No."}
        return Server([started(), error])(request)

    assert (await probe(remote(answer))).refused is refused


async def test_langgraph_is_known_by_what_it_passes_on():
    raw = {"type": "RAW", "event": {"event": "on_chain_start", "name": "LangGraph"}}

    report = await probe(remote(Bridge(started(), raw, finished())))

    assert (report.dialect, report.began_to_work) == ("langgraph", True)


async def test_what_is_sent_gives_nobody_anything_to_do():
    bridge = Bridge(version(), REFUSED)

    await probe(remote(bridge, read_headers=lambda: {"Authorization": "Bearer x"}))

    look, ask = bridge.requests
    sent = json.loads(ask.content)
    assert (look.method, look.url.raw_path) == ("GET", b"/refunds/capabilities?tenant=7")
    assert [request.headers["authorization"] for request in (look, ask)] == ["Bearer x"] * 2
    assert sent["messages"] == sent["tools"] == sent["context"] == []
    assert sent["resume"] == [{"interruptId": sent["threadId"], "status": "cancelled"}]


async def test_no_two_tests_meet_on_one_thread():
    bridges_ = Bridge(version(), REFUSED), Bridge(version(), REFUSED)
    for bridge in bridges_:
        await probe(remote(bridge))

    assert bridges_[0].inputs.last["threadId"] != bridges_[1].inputs.last["threadId"]


@pytest.mark.parametrize(
    ("url", "paths"),
    [
        ("https://a.example.com/agui/refunds/", "/agui/refunds/capabilities/"),
        ("https://a.example.com/agui", "/agui/capabilities"),
        ("https://a.example.com/", "/capabilities"),
        ("https://a.example.com", "/capabilities"),
    ],
)
async def test_capabilities_are_looked_for_below_the_address(url, paths):
    bridge = Bridge(version(), REFUSED)

    await probe(remote(bridge, url=url))

    assert bridge.requests[0].url.path == paths


async def test_an_agent_that_works_on_nothing_is_hung_up_on():
    requests = []

    def events():
        for event in [started(), *vendor_servers.call(), *vendor_servers.done(), finished()]:
            requests.append(event["type"])
            yield f"data: {json.dumps(event)}\n\n".encode()

    def answer(request):
        headers = {"content-type": "text/event-stream"}
        return httpx.Response(200, headers=headers, stream=Stream(events()))

    report = await probe(remote(answer))

    assert report.began_to_work
    assert (report.found, report.protocol_version, report.dialect) == ("agent", "", "")
    assert requests == list(report.events) == ["RUN_STARTED", "TOOL_CALL_START"]


@pytest.mark.parametrize(
    ("run", "dialect"),
    [
        ([started(), finished(outcome={"type": "success"})], "canonical"),
        ([started(), finished(outcome="success")], "draft"),
        (vendor_servers.draft_asks({"question": "Which?"}), "draft"),
        ([started(), vendor_servers.on_interrupt("Which?"), finished()], "langgraph"),
        (
            [
                started(),
                vendor_servers.on_interrupt({"type": "mastra_suspend", "toolCallId": "tc-1"}),
                finished(),
            ],
            "mastra",
        ),
        ([started(), finished()], ""),
        ([{"type": "RUN_ERROR", "message": "No."}], ""),
    ],
)
async def test_the_dialect_is_told_as_far_as_it_shows(run, dialect):
    report = await probe(remote(Bridge(*run)))

    assert (report.found, report.dialect) == ("agent", dialect)


# -- nobody there, or somebody else ---------------------------------------------------------------


def connection_error(cause):
    error = httpx.ConnectError("failed")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "result"),
    [
        (httpx.ConnectError("refused"), "unreachable"),
        (connection_error(ssl.SSLError(1, "bad certificate")), "tls_failed"),
        (httpx.ConnectTimeout("slow"), "timed_out"),
    ],
)
async def test_who_does_not_take_the_connection_is_not_asked_again(error, result):
    bridge = Bridge(version(), capabilities=error)

    report = await probe(remote(bridge))

    assert report.found == result
    assert len(bridge.requests) == 1


async def test_a_name_that_nobody_knows():
    async def resolve(_host, _port):
        raise socket.gaierror("nobody")

    report = await probe(remote(Bridge(), resolver=resolve))

    assert (report.found, report.host) == ("unknown_host", "agents.example.com")


async def test_nobody_is_asked_at_a_private_address():
    async def resolve(_host, _port):
        return ["169.254.169.254"]

    bridge = Bridge()

    assert (await probe(remote(bridge, resolver=resolve))).found == "address_refused"
    assert bridge.requests == []


async def test_both_requests_go_to_the_address_that_was_checked():
    answers = iter([["93.184.215.14"], ["127.0.0.1"]])

    async def resolve(_host, _port):
        return next(answers)

    bridge = Bridge(version(), REFUSED)
    await probe(remote(bridge, resolver=resolve))

    assert [request.url.host for request in bridge.requests] == ["93.184.215.14"] * 2
    assert [request.headers["host"] for request in bridge.requests] == ["agents.example.com"] * 2


@pytest.mark.parametrize(
    ("more", "result"),
    [
        ({"status": 302, "location": "http://169.254.169.254/"}, "wrong_status"),
        ({"status": 401}, "wrong_status"),
        ({"status": 500}, "wrong_status"),
        ({"content-type": "text/html; charset=utf-8"}, "wrong_type"),
        ({"content-encoding": "gzip"}, "compressed"),
    ],
)
async def test_an_answer_that_is_no_stream_of_events_is_not_read(more, result):
    bridge = Bridge(version(), **more)

    report = await probe(remote(bridge))

    assert (report.found, report.events) == (result, ())
    assert report.status == more.get("status", 200)
    assert len(bridge.requests) == 2


@pytest.mark.parametrize(
    ("run", "result"),
    [
        ([], "broke_off"),
        ([b": keep-alive\n\n"], "broke_off"),
        ([httpx.ReadError("cut")], "broke_off"),
        ([b"data: hello\n\n"], "no_event"),
        ([b"data: 7\n\n"], "no_event"),
        ([{"choices": []}], "no_event"),
        ([b"data: " + b"x" * 1_100_000], "broke_off"),
        ([started(), httpx.ReadError("cut")], "agent"),
    ],
)
async def test_what_comes_may_be_no_ag_ui(run, result):
    assert (await probe(remote(Bridge(*run)))).found == result


async def test_texts_of_the_other_side_are_cut():
    long = "x" * 100_000
    capabilities = telling({"identity": {"name": long, "type": long}})
    bridge = Bridge(
        version(long), {**REFUSED, "code": long, "message": long}, capabilities=capabilities
    )

    assert len(json.dumps((await probe(remote(bridge))).to_json())) < 3_000


@pytest.mark.parametrize(
    "capabilities",
    [
        telling(ABOUT, kind="text/html"),
        telling("{"),
        telling({"tools": 7}),
        telling({**ABOUT, "custom": {"x": "y" * 70_000}}),
        telling(ABOUT, status=500),
        httpx.ReadError("cut"),
    ],
)
async def test_capabilities_that_cannot_be_read_are_none(capabilities):
    report = await probe(remote(Bridge(version(), REFUSED, capabilities=capabilities)))

    assert (report.found, report.told) == ("agent", None)


# -- time -----------------------------------------------------------------------------------------


class Hanging(httpx.AsyncByteStream):
    """Says something, then nothing for ever."""

    def __init__(self, *events):
        self._events = events

    async def __aiter__(self):
        for event in self._events:
            yield f"data: {json.dumps(event)}\n\n".encode()
        await asyncio.Event().wait()


@pytest.mark.parametrize(("body", "result"), [((), "timed_out"), ((version(),), "agent")])
async def test_a_test_ends_in_time(body, result):
    def answer(request):
        headers = {"content-type": "text/event-stream"}
        if request.method == "GET":
            return httpx.Response(404)
        return httpx.Response(200, headers=headers, stream=Hanging(*body))

    report = await probe(remote(answer), seconds=0.2)

    assert report.found == result
    assert 200 <= report.milliseconds < 5_000


async def test_who_keeps_its_capabilities_to_itself_is_asked_all_the_same(monkeypatch):
    monkeypatch.setattr(probing, "CAPABILITIES_SECONDS", 0.05)
    headers = {"content-type": "application/json"}
    silent = httpx.Response(200, headers=headers, stream=Hanging())

    report = await probe(remote(Bridge(version(), REFUSED, capabilities=silent)))

    assert (report.found, report.told) == ("agent", None)


@pytest.mark.parametrize(
    "hostile",
    [
        {"type": "CUSTOM", "name": "on_interrupt", "rawEvent": {"id": ["x"]}, "value": 1},
        {"type": "CUSTOM", "name": "on_interrupt", "rawEvent": {"id": {}}, "value": "{}"},
    ],
)
def test_an_interrupt_event_may_carry_anything(hostile):
    reader = DialectReader("k")

    reader.read(hostile)

    (end,) = reader.read(finished())
    assert end["outcome"]["type"] == "interrupt"


def test_a_confirmation_of_a_call_without_an_id_breaks_nothing():
    reader = DialectReader("k")
    reader.read({"type": "TOOL_CALL_START", "toolCallName": "refund"})
    asks = {"toolCallId": "c", "toolCallName": "adk_request_confirmation"}
    reader.read({"type": "TOOL_CALL_START", **asks})
    delta = json.dumps({"originalFunctionCall": {"name": "refund"}})
    reader.read({"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": delta})

    *_, end = reader.read(finished(outcome={"type": "success"}))

    assert end["outcome"]["interrupts"][0]["message"] == "Call refund?"
