"""
Serves an agent of the OpenAI Agents SDK as an AG-UI endpoint that waits for approvals.

    pip install ag-ui-protocol openai-agents uvicorn
    python agui_host.py my_module:agent --port 8100

A tool with `needs_approval` pauses the run with an interrupt. What waits is kept in a SQLite file
and outlives this process; an answer sets its calls going once, however often it is sent. Nothing
that a client says is taken for what the agent said: of the messages only the last ones of the user
are read, and of an answer only whether a call is approved, and why not.

`Sdk` is all that knows of the SDK: an agent of another framework needs another one. With
AGUI_HOST_TOKEN in the environment, callers have to send it as `Authorization: Bearer ...`.
"""

import argparse
import hmac
import importlib
import json
import logging
import os
import sqlite3
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import ag_ui.core as agui
import uvicorn
from ag_ui.encoder import EventEncoder
from pydantic import TypeAdapter

from agents import Agent, ItemHelpers, Runner, RunState

LARGEST_REQUEST_BYTES = 10 * 1024 * 1024
ANSWER_SCHEMA = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "reason": {"type": "string"}},
    "required": ["approved"],
    "additionalProperties": False,
}

EVENT: TypeAdapter[Any] = TypeAdapter(agui.Event)

log = logging.getLogger("agui_host")


class Refused(Exception):
    """The input is not what this thread waits for; nothing was changed."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


# -- the SDK --------------------------------------------------------------------------------------


class Sdk:
    """One run of an agent of the SDK: what it says, and what it leaves behind."""

    def __init__(self, agent: Agent[Any]) -> None:
        self._agent = agent
        self._result: Any = None
        self._known: set[str] = set()  # the calls that the client has seen
        self._message = ""  # the id of the text that is being said

    async def begin(self, history: list[Any], text: str) -> None:
        said = [*history, {"role": "user", "content": text}]
        self._result = Runner.run_streamed(self._agent, said)

    async def go_on(self, paused: Any, answers: Mapping[str, Mapping[str, Any]]) -> None:
        """Take up a paused run; the answers are by call id."""
        state = await RunState.from_json(self._agent, paused)
        for item in state.get_interruptions():
            answer = answers[item.call_id]
            if answer["approved"]:
                state.approve(item)
            else:
                state.reject(item, rejection_message=answer.get("reason") or "Not approved.")
        self._known = set(answers)
        self._result = Runner.run_streamed(self._agent, state)

    async def events(self) -> AsyncIterator[agui.BaseEvent]:
        async for event in self._result.stream_events():
            for told in self._told(event):
                yield told
        for item in self._result.interruptions:
            for told in self._call(item):
                yield told

    def waiting(self) -> dict[str, str]:
        """The calls that wait for an approval: their names by id."""
        return {item.call_id: item.tool_name or "" for item in self._result.interruptions}

    def paused(self) -> Any:
        return self._result.to_state().to_json()

    def history(self) -> list[Any]:
        return json.loads(json.dumps(self._result.to_input_list(), default=str))

    def _told(self, event: Any) -> list[agui.BaseEvent]:
        if event.type == "raw_response_event":
            is_text = event.data.type == "response.output_text.delta"
            return self._text(event.data.delta) if is_text else []
        if event.type != "run_item_stream_event":
            return []
        end, item = self._end_of_text(), event.item
        if event.name == "message_output_created" and not end:
            # A model that does not stream its text.
            return [*self._text(ItemHelpers.text_message_output(item)), *self._end_of_text()]
        if event.name == "tool_called":
            return [*end, *self._call(item)]
        if event.name == "tool_output":
            result = {"tool_call_id": item.call_id, "content": str(item.output)}
            return [*end, agui.ToolCallResultEvent(message_id=str(uuid4()), **result)]
        return end

    def _text(self, delta: str) -> list[agui.BaseEvent]:
        if not delta:
            return []
        begin: list[agui.BaseEvent] = []
        if not self._message:
            self._message = str(uuid4())
            begin = [agui.TextMessageStartEvent(message_id=self._message)]
        return [*begin, agui.TextMessageContentEvent(message_id=self._message, delta=delta)]

    def _end_of_text(self) -> list[agui.BaseEvent]:
        ended, self._message = self._message, ""
        return [agui.TextMessageEndEvent(message_id=ended)] if ended else []

    def _call(self, item: Any) -> list[agui.BaseEvent]:
        call, raw = item.call_id, item.raw_item
        if call in self._known:
            return []
        self._known.add(call)
        return [
            agui.ToolCallStartEvent(tool_call_id=call, tool_call_name=item.tool_name or raw.name),
            agui.ToolCallArgsEvent(tool_call_id=call, delta=raw.arguments or "{}"),
            agui.ToolCallEndEvent(tool_call_id=call),
        ]


# -- what is kept ---------------------------------------------------------------------------------


class Store:
    """What is known of each thread, as JSON, so that a run that waits outlives this process."""

    #: The conversation before the run that waits, that run, its calls by interrupt id, the answers
    #: that were taken last, and the events that these led to: None if nobody knows.
    NEW = {"history": [], "paused": None, "questions": {}, "answered": None, "told": None}

    def __init__(self, path: str) -> None:
        self._database = sqlite3.connect(path, isolation_level=None)
        self._database.execute("PRAGMA synchronous = FULL")
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS threads (id TEXT PRIMARY KEY, kept TEXT)"
        )

    def read(self, thread: str) -> dict[str, Any]:
        query = "SELECT kept FROM threads WHERE id = ?"
        found = self._database.execute(query, (thread,)).fetchone()
        return self.NEW | (json.loads(found[0]) if found else {})

    def write(self, thread: str, **changes: Any) -> None:
        kept = json.dumps(self.read(thread) | changes)
        self._database.execute("INSERT OR REPLACE INTO threads VALUES (?, ?)", (thread, kept))


# -- the contract ---------------------------------------------------------------------------------


def normal(entries: Sequence[agui.ResumeEntry]) -> str:
    """What makes two resumes the same: their order does not, and 1 is not true."""
    texts = (
        json.dumps([one.interrupt_id, one.status, one.payload], sort_keys=True) for one in entries
    )
    return json.dumps(sorted(texts))


def check(entries: Sequence[agui.ResumeEntry], questions: Mapping[str, str]) -> dict[str, Any]:
    """The answers by call id, if there is one to every question and no other (AG-UI interrupts)."""
    names = [one.interrupt_id for one in entries]
    if len(set(names)) < len(names):
        raise Refused("DUPLICATE_RESUME", "One interrupt is answered twice.")
    if unknown := set(names) - set(questions):
        raise Refused("UNKNOWN_INTERRUPT_ID", f"Not open: {', '.join(sorted(unknown))}.")
    if missing := set(questions) - set(names):
        raise Refused("PARTIAL_RESUME", f"Not answered: {', '.join(sorted(missing))}.")
    return {questions[one.interrupt_id]: _answer(one) for one in entries}


def _answer(entry: agui.ResumeEntry) -> dict[str, Any]:
    if entry.status == "cancelled":
        return {"approved": False, "reason": "Called off."}
    answer = entry.payload
    is_answer = (
        isinstance(answer, dict)
        and isinstance(answer.get("approved"), bool)
        and isinstance(answer.get("reason", ""), str)
        and not set(answer) - {"approved", "reason"}
    )
    if not is_answer:
        raise Refused("INVALID_PAYLOAD", f"No answer to {entry.interrupt_id}: see responseSchema.")
    return answer


class Host:
    """The AG-UI endpoint: one run at a time on each thread."""

    def __init__(self, agent: Agent[Any], store: Store) -> None:
        self._agent = agent
        self._store = store
        self._busy: set[str] = set()

    async def run(self, asked: agui.RunAgentInput) -> AsyncIterator[agui.BaseEvent]:
        thread = asked.thread_id
        yield agui.RunStartedEvent(
            thread_id=thread, run_id=asked.run_id, protocol_version=agui.PROTOCOL_VERSION
        )
        if thread in self._busy:
            yield agui.RunErrorEvent(message="A run is under way here.", code="THREAD_BUSY")
            return
        self._busy.add(thread)
        try:
            async for event in self._run(asked):
                yield event
        except Refused as refused:
            yield agui.RunErrorEvent(message=str(refused), code=refused.code)
        finally:
            self._busy.discard(thread)

    async def _run(self, asked: agui.RunAgentInput) -> AsyncIterator[agui.BaseEvent]:
        thread, entries = asked.thread_id, asked.resume or []
        kept, sdk = self._store.read(thread), Sdk(self._agent)
        if entries and kept["answered"] == normal(entries):
            for event in _told_again(kept["told"], asked.run_id):
                yield event
            return
        if entries:
            answers = check(entries, kept["questions"])
            # From here on these answers are taken, whatever happens to this process.
            taken = {"questions": {}, "paused": None, "answered": normal(entries), "told": None}
            self._store.write(thread, **taken)
            start = sdk.go_on(kept["paused"], answers)
        elif kept["questions"]:
            raise Refused("PENDING_INTERRUPTS", "This thread waits for answers.")
        else:
            start = sdk.begin(kept["history"], _words(asked.messages))
        told: list[agui.BaseEvent] = []
        try:
            await start
            async for event in sdk.events():
                told.append(event)
                yield event
            end, changes = self._end(asked, sdk)
        except Exception:
            log.exception("The agent failed on thread %s", thread)
            end, changes = agui.RunErrorEvent(message="The agent failed.", code="AGENT_ERROR"), {}
        if entries:
            events = [*told, end]
            changes["told"] = [one.model_dump(mode="json", exclude_none=True) for one in events]
        self._store.write(thread, **changes)
        yield end

    def _end(self, asked: agui.RunAgentInput, sdk: Sdk) -> tuple[agui.BaseEvent, dict[str, Any]]:
        """The last event of a run, and what is to be kept of it."""
        tools = sdk.waiting()
        questions = {str(uuid4()): call for call in tools}
        ids = {"thread_id": asked.thread_id, "run_id": asked.run_id}
        if not questions:
            success = agui.RunFinishedSuccessOutcome(type="success")
            return agui.RunFinishedEvent(**ids, outcome=success), {"history": sdk.history()}
        interrupts = [
            agui.Interrupt(
                id=name,
                reason="tool_call",
                tool_call_id=call,
                message=f"Call {tools[call]}?",
                response_schema=ANSWER_SCHEMA,
            )
            for name, call in questions.items()
        ]
        outcome = agui.RunFinishedInterruptOutcome(type="interrupt", interrupts=interrupts)
        kept = {"questions": questions, "paused": sdk.paused()}
        return agui.RunFinishedEvent(**ids, outcome=outcome), kept


def _words(messages: Sequence[Any]) -> str:
    """What the user said last."""
    said: list[str] = []
    for message in reversed(messages):
        if message.role != "user":
            break
        parts = message.content if isinstance(message.content, list) else [message.content]
        said[:0] = [one if isinstance(one, str) else getattr(one, "text", "") for one in parts]
    if not any(said):
        raise Refused("INVALID_INPUT", "The user has said nothing.")
    return "\n".join(said)


def _told_again(told: list[Any] | None, run_id: str) -> list[agui.BaseEvent]:
    if told is None:
        text = "This answer was taken before, and nobody knows how far its run came."
        raise Refused("OUTCOME_UNKNOWN", text)
    events = [EVENT.validate_python(one) for one in told]
    if isinstance(events[-1], agui.RunFinishedEvent):
        events[-1].run_id = run_id
    return events


# -- HTTP -----------------------------------------------------------------------------------------


class Endpoint:
    """An ASGI application: POST a RunAgentInput, read server-sent events."""

    def __init__(self, host: Host, token: str | None) -> None:
        self._host = host
        self._token = token
        self._encoder = EventEncoder()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        headers = {name.lower(): value for name, value in scope["headers"]}
        problem = self._problem(scope["method"], headers)
        body = b"" if problem else await _read(receive)
        if not problem:
            try:
                asked = agui.RunAgentInput.model_validate_json(body)
            except ValueError as error:
                problem = 400, f"This is no RunAgentInput: {error}"[:1_000]
        if problem:
            status, text = problem
            answer = json.dumps({"error": text}).encode()
            await send(_start(status, b"application/json"))
            await send({"type": "http.response.body", "body": answer})
            return
        await send(_start(200, b"text/event-stream"))
        # To its end, even if nobody listens any more: what was approved is done once.
        async for event in self._host.run(asked):
            text = self._encoder.encode(event)
            await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    def _problem(self, method: str, headers: Mapping[bytes, bytes]) -> tuple[int, str] | None:
        wanted = f"Bearer {self._token}".encode()
        if self._token and not hmac.compare_digest(headers.get(b"authorization", b""), wanted):
            return 401, "The Authorization header is missing or wrong."
        if method != "POST":
            return 405, "POST a RunAgentInput."
        if headers.get(b"content-type", b"").partition(b";")[0].strip() != b"application/json":
            return 415, "The content type has to be application/json."
        if int(headers.get(b"content-length", b"0") or 0) > LARGEST_REQUEST_BYTES:
            return 413, "The input is too large."
        return None


async def _read(receive: Any) -> bytes:
    body = b""
    while len(body) <= LARGEST_REQUEST_BYTES:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    return body


def _start(status: int, kind: bytes) -> dict[str, Any]:
    headers = [(b"content-type", kind), (b"cache-control", b"no-store")]
    return {"type": "http.response.start", "status": status, "headers": headers}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("agent", metavar="MODULE:NAME", help="where the agent is")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8100)
    parser.add_argument("--data", default="agui-host.sqlite3", help="what is kept, in one file")
    told = parser.parse_args()
    sys.path.insert(0, str(Path.cwd()))
    module, _, name = told.agent.partition(":")
    agent = getattr(importlib.import_module(module), name)
    host = Host(agent, Store(told.data))
    endpoint = Endpoint(host, os.environ.get("AGUI_HOST_TOKEN"))
    uvicorn.run(endpoint, host=told.host, port=told.port, lifespan="off", log_level="warning")


if __name__ == "__main__":
    main()
