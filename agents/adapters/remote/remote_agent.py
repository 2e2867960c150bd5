"""Remote agents: AG-UI over HTTP and server-sent events, in any known dialect."""

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import ag_ui.core as agui
import httpx
from ag_ui.core import PROTOCOL_VERSION, AgentCapabilities, BaseEvent, EventType, RunAgentInput

from agents import tracing
from agents.adapters.remote import allowed_addresses, sse
from agents.adapters.remote.allowed_addresses import (
    AddressRefused,
    AllowedHosts,
    Resolve,
    Target,
    find_target,
)
from agents.adapters.remote.http_client import (
    InvalidResponse,
    build_request,
    check_event_stream,
    open_client,
    parse_event,
)
from agents.adapters.remote.probe_report import ProbeResult
from agents.agui import strict_json, wire
from agents.agui.errors import ProtocolViolation
from agents.agui.legacy import legacy_answers as answering
from agents.agui.legacy.dialects import (
    AgentAnswer,
    Dialect,
    DialectInfo,
    DialectReader,
    Json,
)
from agents.agui.legacy.human_in_the_loop import CancellationUnsupported
from agents.port import InterruptAnswer, RunContext
from agents.sdk.step import Clock
from agents.storable import storable

#: Servers that work longer send comments.
IDLE_SECONDS = 30.0
CONNECT_SECONDS = 10.0
#: Only connecting is retried, when nothing was sent yet.
_TRIES = 3
_UNREACHABLE = "AGENT_UNREACHABLE"
_MAX_EVENT_DEPTH = 60  #: below the limit of events on our wire
_PROTOCOL_VIOLATION = "PROTOCOL_VIOLATION"
_BROKE_OFF = "The agent's answer ended early."
_NOT_TAKEN = "DECISIONS_NOT_TAKEN"
_ASKED_BETWEEN = "The agent asked something new before it had taken all answers."
_LOOP = "QUESTION_REPEATED"
#: A question that comes back so often after its answers is a loop.
_MAX_REPEATS = 3
_ASKED_AGAIN = (
    "The agent raised the answered interrupts again: it did not accept these decisions together."
)
#: The codes of runs that fail because of a remote agent, for the reference.
FAILURES = {
    _UNREACHABLE: "A remote agent did not respond with AG-UI, or its response broke off.",
    _NOT_TAKEN: "A remote agent raised the answered interrupts again; they were cancelled.",
    _LOOP: "A remote agent asked a question again unchanged, three times after it was answered.",
}
KNOWN_TYPES = frozenset(EventType)
_TERMINAL = (agui.RunFinishedEvent, agui.RunErrorEvent)


class RemoteFailed(Exception):
    """The remote agent failed; the text is shown with the run."""

    def __init__(self, message: str, code: str = _UNREACHABLE) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class RemoteAgent:
    """
    An agent behind a URL. It is not trusted: its events are checked like those of any agent.

    It gets the stored conversation, state and decisions, never data of a client. It cannot repeat
    a run, so a run that lost its worker fails, and a person may retry it.
    """

    name: str
    description: str
    url: str
    read_headers: Callable[[], Mapping[str, str]] = dict  #: secrets, read for each request
    hosts: AllowedHosts = field(default_factory=AllowedHosts)
    proxy: str = ""  #: URL of the HTTP proxy; "" for a direct connection
    human_in_the_loop: agui.HumanInTheLoopCapabilities | None = None  #: None if not tested
    restartable: bool = False
    input_schema: Mapping[str, Any] | None = None
    clock: Clock = field(default_factory=Clock)
    resolver: Resolve = allowed_addresses.resolve
    transport: httpx.AsyncBaseTransport | None = None

    def capabilities(self) -> AgentCapabilities:
        """Return the capabilities found by the last connection test."""
        return AgentCapabilities(
            identity=agui.IdentityCapabilities(name=self.name, description=self.description),
            transport=agui.TransportCapabilities(streaming=True),
            human_in_the_loop=self.human_in_the_loop,
        )

    async def run(self, run_input: RunAgentInput, ctx: RunContext) -> AsyncIterator[BaseEvent]:
        """
        Yield the agent's events up to the terminal one; a stream without one is an error.

        An agent that cannot be told of an end that nobody decided is not resumed: the run is
        cancelled.
        """
        info = DialectInfo.from_json(ctx.checkpoint)
        answers = [_agent_answer(answer) for answer in ctx.answers]
        tools = {tool.name for tool in run_input.tools or ()}
        reader = DialectReader(ctx.run_key, answers=answers, client_tools=tools)
        try:
            *earlier, body = _request_bodies(run_input, ctx, info, answers)
            for result in answering.result_events(info, answers):
                yield _decode_event(result)
            for part in earlier:
                async for event in self._partial_events(part, answers, ctx.run_key):
                    yield event
            async for event in self._events(body, reader):
                if isinstance(event, agui.RunFinishedEvent):
                    if isinstance(event.outcome, agui.RunFinishedInterruptOutcome):
                        await self._check_interrupts(event.outcome, reader, body, answers)
                        _count_repeats(reader, info, event.outcome.interrupts)
                    ctx.save_checkpoint(reader.dialect_info.to_json())
                yield event
                if isinstance(event, _TERMINAL):
                    return
            problem = RemoteFailed(_BROKE_OFF)
        except CancellationUnsupported:
            yield agui.RunFinishedEvent(
                thread_id=run_input.thread_id,
                run_id=run_input.run_id,
                outcome=agui.RunFinishedCancelledOutcome(),
            )
            return
        except RemoteFailed as error:
            problem = error
        yield agui.RunErrorEvent(message=str(problem), code=problem.code)

    async def _partial_events(
        self, body: Json, answers: list[AgentAnswer], run_key: str
    ) -> AsyncIterator[BaseEvent]:
        """Yield the events of a request that has not all answers, without its end."""
        async for event in self._events(body, DialectReader(run_key, answers=answers)):
            if isinstance(event, agui.RunErrorEvent):
                raise RemoteFailed(event.message, event.code or _UNREACHABLE)
            if not isinstance(event, agui.RunFinishedEvent):
                yield event
            elif isinstance(event.outcome, agui.RunFinishedInterruptOutcome):
                raised = {interrupt.id for interrupt in event.outcome.interrupts}
                if raised - {answer.interrupt_id for answer in answers}:
                    raise RemoteFailed(_ASKED_BETWEEN, _NOT_TAKEN)

    async def _check_interrupts(
        self,
        outcome: agui.RunFinishedInterruptOutcome,
        reader: DialectReader,
        body: Json,
        answers: list[AgentAnswer],
    ) -> None:
        """
        Raise RemoteFailed unless the interrupts can be answered, and are new where that is clear.

        Microsoft's servers raise the interrupts of calls again whose decisions they did not take.
        Those are cancelled, so that no approval stays open there. Other agents number their
        interrupts anew in each turn.
        """
        if not answering.can_answer(reader.dialect_info):
            raise RemoteFailed(
                "The agent raised several interrupts without ids.", _PROTOCOL_VIOLATION
            )
        answered = {answer.interrupt_id for answer in answers}
        if reader.dialect_info.dialect is Dialect.MASTRA and any(
            interrupt.id in answered for interrupt in outcome.interrupts
        ):
            raise RemoteFailed(_ASKED_AGAIN, _NOT_TAKEN)
        if reader.dialect_info.dialect is not Dialect.MICROSOFT or not any(
            interrupt.id in answered and not reader.has_call_of(interrupt)
            for interrupt in outcome.interrupts
        ):
            return
        entries = [
            {"interruptId": answer.interrupt_id, "status": "cancelled"} for answer in answers
        ]
        with contextlib.suppress(RemoteFailed):
            async for _ in self._events({**body, "resume": entries}, DialectReader("")):
                pass
        raise RemoteFailed(f"{_ASKED_AGAIN} They were cancelled.", _NOT_TAKEN)

    async def _events(self, body: Json, reader: DialectReader) -> AsyncIterator[BaseEvent]:
        try:
            async with self._answer(strict_json.dumps(body)) as response:
                async for data in sse.read_events(response.aiter_raw()):
                    for value in reader.read(parse_event(data)):
                        if (kind := value.get("type")) in KNOWN_TYPES and kind != "RUN_STARTED":
                            yield _decode_event(value)
        except InvalidResponse as error:
            is_event = error.result is ProbeResult.NO_EVENT
            code = _PROTOCOL_VIOLATION if is_event else _UNREACHABLE
            raise RemoteFailed(str(error), code) from error
        except httpx.ReadTimeout as error:
            raise RemoteFailed(f"The agent sent nothing for {IDLE_SECONDS:.0f} seconds.") from error
        except httpx.HTTPError as error:
            raise RemoteFailed(_BROKE_OFF) from error
        except sse.StreamTooLong as error:
            raise RemoteFailed(
                f"The agent's answer is too long: {error}.", "LIMIT_EXCEEDED"
            ) from error

    @asynccontextmanager
    async def _answer(self, body: str) -> AsyncIterator[httpx.Response]:
        """Send the input and yield the response; connecting is retried."""
        timeout = httpx.Timeout(IDLE_SECONDS, connect=CONNECT_SECONDS)
        async with open_client(timeout, self.transport, proxy=self.proxy) as client:
            response = await self._send(client, body)
            try:
                check_event_stream(response)
                yield response
            finally:
                await response.aclose()

    async def _send(self, client: httpx.AsyncClient, body: str) -> httpx.Response:
        for number in range(_TRIES):
            try:
                headers = {**self.read_headers(), **tracing.trace_headers()}
                request = build_request(client, await self.find_target(), headers, body=body)
                return await client.send(request, stream=True)
            except AddressRefused as error:
                raise RemoteFailed(str(error)) from error
            except (httpx.ConnectError, httpx.ConnectTimeout, OSError) as error:
                if number + 1 == _TRIES:
                    raise RemoteFailed("The agent cannot be reached.") from error
                await self.clock.sleep(2.0**number)
        raise AssertionError("a request is tried at least once")

    async def find_target(self) -> Target:
        """
        Resolve the URL once.

        Raises:
            AddressRefused, OSError.
        """
        return await find_target(self.url, self.hosts, resolver=self.resolver)


def _count_repeats(
    reader: DialectReader, info: DialectInfo, interrupts: Sequence[agui.Interrupt]
) -> None:
    """
    Note how often each question has come back after its answer; a call that ran is progress.

    Raises:
        RemoteFailed: a question comes back for the third time.
    """
    repeats = reader.dialect_info.repeats
    for interrupt in interrupts:
        question = reader.digest_of(interrupt)
        earlier = None if reader.has_results else info.repeats.get(question)
        repeats[question] = 0 if earlier is None else earlier + 1
        if repeats[question] >= _MAX_REPEATS:
            raise RemoteFailed(
                f"The agent asked the same question again, {_MAX_REPEATS} times after it was "
                f"answered: {interrupt.message or interrupt.reason!r}. It does not read the "
                "answers.",
                _LOOP,
            )


def _request_bodies(
    run_input: RunAgentInput, ctx: RunContext, info: DialectInfo, answers: list[AgentAnswer]
) -> list[Json]:
    """Return the inputs as JSON; the thread id is unique for the remote agent."""
    body = run_input.model_dump(mode="json", by_alias=True, exclude={"resume"})
    body |= {
        "protocolVersion": PROTOCOL_VERSION,
        "threadId": ctx.thread_key,
        "runId": ctx.run_key,
        "state": run_input.state if run_input.state is not None else {},
        "forwardedProps": run_input.forwarded_props or {},
    }
    if not answers:
        return [body]
    body["messages"] += answering.resume_messages(info, answers)
    fields = answering.resume_fields(info, answers, run_input.forwarded_props)
    return [{**body, **each} for each in fields]


def _agent_answer(answer: InterruptAnswer) -> AgentAnswer:
    call = answer.proposal
    return AgentAnswer(
        interrupt_id=answer.interrupt.id,
        status=answer.resume_entry.status,
        payload=answer.resume_entry.payload,
        tool_call_id=call.tool_call_id if call else None,
        tool_name=call.name if call else "",
        args=call.args if call else None,
        metadata=answer.resume_entry.metadata,
    )


def _decode_event(value: Json) -> BaseEvent:
    try:
        return wire.decode(strict_json.dumps(storable(value, max_depth=_MAX_EVENT_DEPTH)))
    except (ProtocolViolation, strict_json.JsonRejected) as error:
        kind = str(value.get("type"))[:60]
        raise RemoteFailed(
            f"The agent sent a {kind} that is not a valid AG-UI event: {str(error)[:500]}",
            _PROTOCOL_VIOLATION,
        ) from error
