"""
Asking a remote agent who it is, without giving it anything to do.

What its address says of itself under `capabilities` is read first. Then it gets an input that no
agent has anything to do with: no message, no tool, and the withdrawal of a question that it never
asked, on a thread of its own. AG-UI 1.0 refuses that (interrupts, contract rules 1 and 8), in a
stream that opens with its version. An older agent does not know what was withdrawn and starts a run
without a message: as soon as it says or does anything it is hung up on.
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

#: A part of the time that the test has: few agents tell their capabilities.
CAPABILITIES_SECONDS = 3.0
_LONGEST_CAPABILITIES = 64 * 1024
_MOST_EVENTS, _MOST_FLAGS = 50, 30
_CHARACTERS = 200
#: What an agent says before it works, or instead.
_QUIET = frozenset(
    {
        *("RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT"),
        "CUSTOM",
    }
)
#: How what was never asked is refused: so in 1.0, so by Google's bridge and by Microsoft's.
_REFUSALS = frozenset({"UNKNOWN_INTERRUPT_ID", "UNKNOWN_INTERRUPT", "APPROVAL_RESUME_NOT_FOUND"})


@dataclass
class _ProbeState:
    """What is known so far, whatever happens next."""

    #: of the thread, the run and the question: nobody has heard of them before
    name: str = field(default_factory=lambda: f"connection-test-{uuid4()}")
    facts: dict[str, Any] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)


async def probe(agent: RemoteAgent, seconds: float = PROBE_SECONDS) -> ProbeReport:
    """
    Find out what is behind the address of a remote agent, in so many seconds at most.

    Its headers are read and sent; what reading them raises is raised here. Nothing else is: whoever
    is there, and whatever they say, is a report.
    """
    began, heard = time.perf_counter(), _ProbeState(facts={"host": _host(agent.url)})
    try:
        async with asyncio.timeout(seconds):
            found = await _contact(agent, heard)
    except (TimeoutError, httpx.TimeoutException):
        found = ProbeResult.AGENT if heard.events else ProbeResult.TIMED_OUT
    except AddressRefused:
        found = ProbeResult.ADDRESS_REFUSED
    except InvalidResponse as error:
        found = _RESPONSE_RESULTS[type(error)]
        heard.facts["detail"] = str(error) if found is ProbeResult.NO_EVENT else ""
    except (httpx.ConnectError, OSError) as error:
        found = _connection_failure(error, heard)
    except (httpx.HTTPError, sse.StreamTooLong):
        found = ProbeResult.AGENT if heard.events else ProbeResult.BROKE_OFF
    took = round((time.perf_counter() - began) * 1000)
    return _truncate(ProbeReport(found, took, events=tuple(heard.events), **heard.facts))


_RESPONSE_RESULTS = {
    WrongStatus: ProbeResult.WRONG_STATUS,
    WrongContentType: ProbeResult.WRONG_TYPE,
    CompressedResponse: ProbeResult.COMPRESSED,
    InvalidEvent: ProbeResult.NO_EVENT,
}


async def _contact(agent: RemoteAgent, heard: _ProbeState) -> ProbeResult:
    headers = agent.read_headers()
    target = await agent.find_target()
    timeout = httpx.Timeout(PROBE_SECONDS)
    async with open_client(timeout, agent.transport, proxy=agent.proxy) as client:
        below = build_request(client, _capabilities_target(target), headers, accept=JSON)
        heard.facts["told"] = await _fetch_capabilities(client, below)
        request = build_request(
            client, target, headers, body=strict_json.dumps(_probe_input(heard.name))
        )
        response = await client.send(request, stream=True)
        try:
            heard.facts["status"] = response.status_code
            heard.facts["content_type"] = media_type(response)
            check_event_stream(response)
            await _read_stream(response, heard)
        finally:
            await response.aclose()
    return ProbeResult.AGENT if heard.events else ProbeResult.BROKE_OFF


def _probe_input(name: str) -> dict[str, Any]:
    """An input of AG-UI 1.0 that answers a question which nobody asked, by calling it off."""
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


async def _read_stream(response: httpx.Response, heard: _ProbeState) -> None:
    """Read until it is clear who is there; what is left unread is the end of the connection."""
    reader = DialectReader("connection-test")
    chunks = response.aiter_raw()
    try:
        async for data in sse.read_events(chunks):
            event = parse_event(data)
            kind = event.get("type")
            if kind not in KNOWN_TYPES:
                if not heard.events and not isinstance(kind, str):
                    raise InvalidEvent("What came first is no event of AG-UI.")
                continue
            heard.events.append(kind)
            if _handle_event(event, kind, reader, heard) or len(heard.events) >= _MOST_EVENTS:
                return
    finally:
        await chunks.aclose()  # type: ignore[attr-defined]


def _handle_event(
    event: dict[str, Any], kind: str, reader: DialectReader, heard: _ProbeState
) -> bool:
    """Take in one event; whether that is enough."""
    facts = heard.facts
    if kind == "RUN_STARTED":
        facts["protocol_version"] = version = _text(event.get("protocolVersion"))
        if version.startswith("1."):
            facts["dialect"] = Dialect.CANONICAL
        return False
    if kind == "RUN_ERROR":
        code, message = _text(event.get("code")), _text(event.get("message"))
        facts["error"] = ": ".join(filter(None, (code, message)))
        # Pydantic AI has no code for it, and names the question.
        facts["refused"] = code in _REFUSALS or heard.name in message
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
    """Whether it is the first of the events that LangGraph's bridge passes on as they are."""
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
    """Where the agent's capabilities would be: below its own address, with a slash if that has."""
    parts = urlsplit(target.url)
    slash = "/" if parts.path.endswith("/") and parts.path != "/" else ""
    path = f"{parts.path.rstrip('/')}/capabilities{slash}"
    return replace(target, url=parts._replace(path=path).geturl())


async def _fetch_capabilities(
    client: httpx.AsyncClient, request: httpx.Request
) -> AgentDescription | None:
    """What is there if anything is; only that nobody can be reached is of interest otherwise."""
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
        if len(body) > _LONGEST_CAPABILITIES:
            return None
    try:
        capabilities = AgentCapabilities.model_validate(strict_json.loads(bytes(body)))
    except (strict_json.JsonRejected, ValidationError):
        return None
    who = capabilities.identity
    flags = tuple(_flags(capabilities))[:_MOST_FLAGS]
    if who is None:
        return AgentDescription(flags=flags)
    return AgentDescription(_text(who.name), _text(who.type), _text(who.version), flags)


def _flags(model: BaseModel, path: str = "") -> Iterator[str]:
    """The names of everything that is true, as they stand on the wire."""
    for name, about in type(model).model_fields.items():
        value, here = getattr(model, name), f"{path}{about.alias or name}"
        if value is True:
            yield here
        elif isinstance(value, BaseModel):
            yield from _flags(value, f"{here}.")


# -- what went wrong ------------------------------------------------------------------------------


def _connection_failure(error: BaseException, heard: _ProbeState) -> ProbeResult:
    for cause in _chain(error):
        if isinstance(cause, ssl.SSLError):
            names = ("verify_message", "reason")
            texts = [_text(getattr(cause, name, None)) for name in names]
            heard.facts["detail"] = next(filter(None, texts), "")
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
