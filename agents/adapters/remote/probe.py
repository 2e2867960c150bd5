"""
The connection test: it identifies a remote agent without making it work.

It reads `<url>/capabilities` first. Then it posts an input without messages and tools that cancels
an unknown interrupt, on a new thread. AG-UI 1.0 rejects that (interrupts, contract rules 1 and 8),
in a stream that opens with the version. An older agent may start a run without a message: the test
disconnects at its first step, text or tool call.
"""

import asyncio
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
from ag_ui.core import PROTOCOL_VERSION, AgentCapabilities
from pydantic import BaseModel, ValidationError

from agents.adapters.remote import sse
from agents.adapters.remote.allowed_addresses import AddressRefused, Target
from agents.adapters.remote.http_client import (
    JSON,
    CompressedResponse,
    InvalidEvent,
    InvalidResponse,
    WrongContentType,
    WrongStatus,
    build_request,
    check_event_stream,
    is_compressed,
    media_type,
    open_client,
    parse_event,
)
from agents.adapters.remote.probe_report import (
    PROBE_SECONDS,
    AgentDescription,
    ProbeReport,
    ProbeResult,
)
from agents.adapters.remote.remote_agent import KNOWN_TYPES, RemoteAgent
from agents.agui import strict_json
from agents.agui.legacy.dialects import Dialect, DialectReader

#: Part of PROBE_SECONDS; few agents publish capabilities.
CAPABILITIES_SECONDS = 3.0
_MAX_CAPABILITIES_BYTES = 64 * 1024
_MAX_EVENTS, _MAX_FLAGS = 50, 30
_CHARACTERS = 200
#: Events that do not mean that the agent works.
_QUIET = frozenset(
    {
        *("RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT"),
        "CUSTOM",
    }
)
#: Error codes for unknown interrupts: of 1.0, of Google's bridge and of Microsoft's.
_REFUSALS = frozenset({"UNKNOWN_INTERRUPT_ID", "UNKNOWN_INTERRUPT", "APPROVAL_RESUME_NOT_FOUND"})


@dataclass
class _ProbeState:
    """The findings so far."""

    #: the new id of thread, run and interrupt
    name: str = field(default_factory=lambda: f"connection-test-{uuid4()}")
    facts: dict[str, Any] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)


async def probe(agent: RemoteAgent, seconds: float = PROBE_SECONDS) -> ProbeReport:
    """
    Test the connection to a remote agent within `seconds`.

    Every outcome is a report; only errors of `read_headers` are raised.
    """
    began, state = time.perf_counter(), _ProbeState(facts={"host": _host(agent.url)})
    try:
        async with asyncio.timeout(seconds):
            result = await _contact(agent, state)
    except (TimeoutError, httpx.TimeoutException):
        result = ProbeResult.AGENT if state.events else ProbeResult.TIMED_OUT
    except AddressRefused:
        result = ProbeResult.ADDRESS_REFUSED
    except InvalidResponse as error:
        result = _RESPONSE_RESULTS[type(error)]
        state.facts["detail"] = str(error) if result is ProbeResult.NO_EVENT else ""
    except (httpx.ConnectError, OSError) as error:
        result = _connection_failure(error, state)
    except (httpx.HTTPError, sse.StreamTooLong):
        result = ProbeResult.AGENT if state.events else ProbeResult.BROKE_OFF
    took = round((time.perf_counter() - began) * 1000)
    return _truncate(ProbeReport(result, took, events=tuple(state.events), **state.facts))


_RESPONSE_RESULTS = {
    WrongStatus: ProbeResult.WRONG_STATUS,
    WrongContentType: ProbeResult.WRONG_TYPE,
    CompressedResponse: ProbeResult.COMPRESSED,
    InvalidEvent: ProbeResult.NO_EVENT,
}


async def _contact(agent: RemoteAgent, state: _ProbeState) -> ProbeResult:
    headers = agent.read_headers()
    target = await agent.find_target()
    timeout = httpx.Timeout(PROBE_SECONDS)
    async with open_client(timeout, agent.transport, proxy=agent.proxy) as client:
        capabilities_request = build_request(
            client, _capabilities_target(target), headers, accept=JSON
        )
        state.facts["told"] = await _fetch_capabilities(client, capabilities_request)
        request = build_request(
            client, target, headers, body=strict_json.dumps(_probe_input(state.name))
        )
        response = await client.send(request, stream=True)
        try:
            state.facts["status"] = response.status_code
            state.facts["content_type"] = media_type(response)
            check_event_stream(response)
            await _read_stream(response, state)
        finally:
            await response.aclose()
    return ProbeResult.AGENT if state.events else ProbeResult.BROKE_OFF


def _probe_input(name: str) -> dict[str, Any]:
    """Return an AG-UI 1.0 input that cancels an unknown interrupt."""
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "threadId": name,
        "runId": name,
        "state": {},
        "messages": [],
        "tools": [],
        "context": [],
        "forwardedProps": {},
        "resume": [{"interruptId": name, "status": "cancelled"}],
    }


async def _read_stream(response: httpx.Response, state: _ProbeState) -> None:
    """Read events until the agent is identified."""
    reader = DialectReader("connection-test")
    chunks = response.aiter_raw()
    try:
        async for data in sse.read_events(chunks):
            event = parse_event(data)
            kind = event.get("type")
            if kind not in KNOWN_TYPES:
                if not state.events and not isinstance(kind, str):
                    raise InvalidEvent("What came first is no event of AG-UI.")
                continue
            state.events.append(kind)
            if _handle_event(event, kind, reader, state) or len(state.events) >= _MAX_EVENTS:
                return
    finally:
        await chunks.aclose()  # type: ignore[attr-defined]


def _handle_event(
    event: dict[str, Any], kind: str, reader: DialectReader, state: _ProbeState
) -> bool:
    """Process one event; return True if no more are needed."""
    facts = state.facts
    if kind == "RUN_STARTED":
        facts["protocol_version"] = version = _text(event.get("protocolVersion"))
        if version.startswith("1."):
            facts["dialect"] = Dialect.CANONICAL
        return False
    if kind == "RUN_ERROR":
        code, message = _text(event.get("code")), _text(event.get("message"))
        facts["error"] = ": ".join(filter(None, (code, message)))
        # Pydantic AI has no code, but names the interrupt.
        facts["refused"] = code in _REFUSALS or state.name in message
        return True
    if kind not in _QUIET:
        facts["began_to_work"] = True
        if _is_langgraph_event(event):
            facts["dialect"] = Dialect.LANGGRAPH
        return True
    reader.read(event)
    if kind == "RUN_FINISHED":
        facts["dialect"] = _final_dialect(event, reader) or facts.get("dialect", "")
        return True
    return False


def _is_langgraph_event(event: dict[str, Any]) -> bool:
    """Return True for the first raw event that LangGraph's bridge forwards."""
    raw = event.get("event")
    return event["type"] == "RAW" and isinstance(raw, dict) and raw.get("name") == "LangGraph"


def _final_dialect(event: dict[str, Any], reader: DialectReader) -> str:
    if reader.dialect_info.dialect is not Dialect.CANONICAL:
        return reader.dialect_info.dialect
    if isinstance(event.get("outcome"), str):
        return Dialect.DRAFT
    return Dialect.CANONICAL if isinstance(event.get("outcome"), dict) else ""


# -- capabilities ---------------------------------------------------------------------------------


def _capabilities_target(target: Target) -> Target:
    """Return the URL of the capabilities, with a final slash if the agent's URL has one."""
    parts = urlsplit(target.url)
    slash = "/" if parts.path.endswith("/") and parts.path != "/" else ""
    path = f"{parts.path.rstrip('/')}/capabilities{slash}"
    return replace(target, url=parts._replace(path=path).geturl())


async def _fetch_capabilities(
    client: httpx.AsyncClient, request: httpx.Request
) -> AgentDescription | None:
    """Return the published capabilities, if any; only connection errors are raised."""
    with suppress(TimeoutError, httpx.ReadError, httpx.ReadTimeout, httpx.RemoteProtocolError):
        async with asyncio.timeout(CAPABILITIES_SECONDS):
            response = await client.send(request, stream=True)
            try:
                return await _read_capabilities(response)
            finally:
                await response.aclose()
    return None


async def _read_capabilities(response: httpx.Response) -> AgentDescription | None:
    if response.status_code != 200 or media_type(response) != JSON or is_compressed(response):
        return None
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > _MAX_CAPABILITIES_BYTES:
            return None
    try:
        capabilities = AgentCapabilities.model_validate(strict_json.loads(bytes(body)))
    except (strict_json.JsonRejected, ValidationError):
        return None
    identity = capabilities.identity
    flags = tuple(_flags(capabilities))[:_MAX_FLAGS]
    if identity is None:
        return AgentDescription(flags=flags)
    return AgentDescription(
        _text(identity.name), _text(identity.type), _text(identity.version), flags
    )


def _flags(model: BaseModel, path: str = "") -> Iterator[str]:
    """Yield the wire names of all flags that are true."""
    for name, field_info in type(model).model_fields.items():
        value, flag = getattr(model, name), f"{path}{field_info.alias or name}"
        if value is True:
            yield flag
        elif isinstance(value, BaseModel):
            yield from _flags(value, f"{flag}.")


# -- what went wrong ------------------------------------------------------------------------------


def _connection_failure(error: BaseException, state: _ProbeState) -> ProbeResult:
    for cause in _chain(error):
        if isinstance(cause, ssl.SSLError):
            names = ("verify_message", "reason")
            texts = [_text(getattr(cause, name, None)) for name in names]
            state.facts["detail"] = next(filter(None, texts), "")
            return ProbeResult.TLS_FAILED
        if isinstance(cause, socket.gaierror):
            return ProbeResult.UNKNOWN_HOST
    return ProbeResult.UNREACHABLE


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _host(url: str) -> str:
    with suppress(ValueError):
        return urlsplit(url).hostname or ""
    return ""


def _text(value: Any) -> str:
    return value[:_CHARACTERS] if isinstance(value, str) else ""


def _truncate(report: ProbeReport) -> ProbeReport:
    return replace(
        report,
        host=_text(report.host),
        content_type=_text(report.content_type),
        detail=_text(report.detail),
        error=_text(report.error),
    )
