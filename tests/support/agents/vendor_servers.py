"""What bridges of agent frameworks say on the wire, as of 2026: one list of events a run."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import ag_ui.core as agui
import httpx

from agents.adapters.remote.remote_agent import RemoteAgent
from tests.support.agents.doubles import Stage, fixed_clock

#: Runs of real servers; `tests.e2e.frameworks.record` writes them.
RECORDINGS = Path(__file__).parent / "recordings"
URL = "https://agents.example.com/refunds?tenant=7"
ARGS = {"order": "A1", "amount": 47.5}
LANGGRAPH_IDS = ("744b8b5aafca25b2629f2cc592e8bc9b", "02bfc48d5958acd494e978a16765f38a")
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}},
    "required": ["approved"],
}


EDITABLE = {
    **SCHEMA,
    "properties": {**SCHEMA["properties"], "editedArgs": {"type": "object"}},
}


def started() -> dict[str, Any]:
    return {"type": "RUN_STARTED", "threadId": "theirs", "runId": "theirs"}


def finished(**more: Any) -> dict[str, Any]:
    return {"type": "RUN_FINISHED", "threadId": "theirs", "runId": "theirs", **more}


def call(name: str = "issue_refund", call_id: str = "tc-1", args: Any = None) -> list[Any]:
    return [
        {"type": "TOOL_CALL_START", "toolCallId": call_id, "toolCallName": name},
        {"type": "TOOL_CALL_ARGS", "toolCallId": call_id, "delta": json.dumps(args or ARGS)},
        {"type": "TOOL_CALL_END", "toolCallId": call_id},
    ]


def done(call_id: str = "tc-1", content: str = "refunded 47.5") -> list[Any]:
    return [
        {"type": "TOOL_CALL_RESULT", "messageId": "r-1", "toolCallId": call_id, "content": content},
        {"type": "TEXT_MESSAGE_START", "messageId": "m-1", "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m-1", "delta": f"done: {content}"},
        {"type": "TEXT_MESSAGE_END", "messageId": "m-1"},
    ]


def on_interrupt(value: Any, name: str = "") -> dict[str, Any]:
    event = {"type": "CUSTOM", "name": "on_interrupt", "value": json.dumps(value)}
    return event | ({"rawEvent": {"value": value, "id": name}} if name else {})


def langgraph_asks(
    number: int = 1, *, outcome: bool = False, schema: dict[str, Any] = SCHEMA
) -> list[Any]:
    """The bridge of LangGraph, with the canonical outcome or without; the id is in rawEvent."""
    events, interrupts = [started()], []
    for call_id, name in zip(("tc-1", "tc-2")[:number], LANGGRAPH_IDS, strict=False):
        value = {
            "kind": "refund_approval",
            "reason": "tool_call",
            "message": f"Refund {call_id}?",
            "toolCallId": call_id,
            "responseSchema": schema,
        }
        events += call(call_id=call_id)
        events.append(on_interrupt(value, name))
        fields = {key: value[key] for key in ("reason", "message", "toolCallId", "responseSchema")}
        interrupts.append({"id": name, **fields, "metadata": {"langgraph": {"raw": value}}})
    if outcome:
        return [*events, finished(outcome={"type": "interrupt", "interrupts": interrupts})]
    return [*events, finished()]


def canonical_asks(*calls: str, schema: dict[str, Any] | None = None) -> list[Any]:
    """The bridges of Pydantic AI, Microsoft's framework and Google's: canonical outcomes."""
    about: dict[str, Any] = {"reason": "tool_call", "message": "Approve?"}
    about |= {"responseSchema": schema} if schema else {}
    interrupts = [{"id": f"int-{call_id}", "toolCallId": call_id, **about} for call_id in calls]
    return [
        started(),
        *(event for call_id in calls for event in call(call_id=call_id)),
        finished(outcome={"type": "interrupt", "interrupts": interrupts}),
    ]


def draft_asks(payload: Any, **more: Any) -> list[Any]:
    interrupt = {"payload": payload, **more}
    return [started(), finished(outcome="interrupt", interrupt=interrupt)]


class Stream(httpx.AsyncByteStream):
    """Bytes that come one chunk at a time; an exception among them is raised."""

    def __init__(self, chunks: Iterator[bytes | Exception]) -> None:
        self._chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            if isinstance(chunk, Exception):
                raise chunk
            yield chunk


class Server:
    """Answers with one run after the other, and remembers what it was sent."""

    def __init__(self, *runs: Any, status: int = 200, **headers: str) -> None:
        self._runs = list(runs)
        self._status = status
        self._headers = {"content-type": "text/event-stream", **headers}
        self.requests: list[httpx.Request] = []

    @property
    def last(self) -> dict[str, Any]:
        return body_of(self.requests[-1])

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        run = self._runs.pop(0)
        if isinstance(run, Exception):
            raise run
        chunks = (_chunk(event) for event in run)
        return httpx.Response(self._status, headers=self._headers, stream=Stream(chunks))


def body_of(request: httpx.Request) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(request.content)
    return value


def remote(server: Server, url: str = URL, **more: Any) -> RemoteAgent:
    """The agent behind the server, at a public address."""

    async def resolve(_host: str, _port: int) -> list[str]:
        return ["93.184.215.14"]

    return RemoteAgent(
        name="refunds",
        description="Refunds.",
        url=url,
        clock=fixed_clock(),
        transport=httpx.MockTransport(server),
        **{"resolver": resolve, **more},
    )


async def interrupted_stage(*runs: Any, **more: Any) -> tuple[Stage, Server]:
    """A thread whose first run was the first of these."""
    server = Server(*runs, **more)
    stage = Stage(remote(server))
    await stage.say("Refund it.")
    return stage, server


def failure(stage: Stage) -> tuple[str | None, str]:
    """The code and the text of the error that the last run ended with."""
    error = stage.events[-1]
    assert isinstance(error, agui.RunErrorEvent)
    return error.code, error.message


def _chunk(event: Any) -> bytes | Exception:
    if isinstance(event, bytes | Exception):
        return event
    return f"data: {json.dumps(event)}\n\n".encode()
