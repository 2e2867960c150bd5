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
from dataclasses import replace
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
    InvalidResponse,
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


async def probe(agent: RemoteAgent, seconds: float = PROBE_SECONDS) -> ProbeReport:
    """
    Test the connection to a remote agent within `seconds`.

    Every outcome is a report; only errors of `read_headers` are raised.
    """
    began = time.perf_counter()
    report = ProbeReport(ProbeResult.BROKE_OFF, host=_host(agent.url))
    try:
        async with asyncio.timeout(seconds):
            await _contact(agent, report)
    except (TimeoutError, httpx.TimeoutException):
        report.found = ProbeResult.TIMED_OUT
    except AddressRefused as error:
        report.found, report.address_problem = ProbeResult.ADDRESS_REFUSED, error.fault
    except InvalidResponse as error:
        report.found = error.result
        report.detail = str(error) if error.result is ProbeResult.NO_EVENT else ""
    except (httpx.ConnectError, OSError) as error:
        report.found, report.detail = _connection_failure(error)
    except (httpx.HTTPError, sse.StreamTooLong):
        report.found = ProbeResult.BROKE_OFF
    if report.events and report.found in (ProbeResult.TIMED_OUT, ProbeResult.BROKE_OFF):
        report.found = ProbeResult.AGENT
    report.milliseconds = round((time.perf_counter() - began) * 1000)
    for name in ("host", "content_type", "detail", "error"):
        setattr(report, name, _text(getattr(report, name)))
    return report


async def _contact(agent: RemoteAgent, report: ProbeReport) -> None:
    probe_id = f"connection-test-{uuid4()}"
    headers = agent.read_headers()
    target = await agent.find_target()
    timeout = httpx.Timeout(PROBE_SECONDS)
    async with open_client(timeout, agent.transport, proxy=agent.proxy) as client:
        capabilities_request = build_request(
            client, _capabilities_target(target), headers, accept=JSON
        )
        report.told = await _fetch_capabilities(client, capabilities_request)
        request = build_request(
            client, target, headers, body=strict_json.dumps(_probe_input(probe_id))
        )
        response = await client.send(request, stream=True)
        try:
            report.status = response.status_code
            report.content_type = media_type(response)
            check_event_stream(response)
            await _read_stream(response, report, probe_id)
        finally:
            await response.aclose()


def _probe_input(probe_id: str) -> dict[str, Any]:
    """Return an AG-UI 1.0 input that cancels an unknown interrupt, with one id for everything."""
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "threadId": probe_id,
        "runId": probe_id,
        "state": {},
        "messages": [],
        "tools": [],
        "context": [],
        "forwardedProps": {},
        "resume": [{"interruptId": probe_id, "status": "cancelled"}],
    }


async def _read_stream(response: httpx.Response, report: ProbeReport, probe_id: str) -> None:
    """Read events until the agent is identified."""
    reader = DialectReader("connection-test")
    chunks = response.aiter_raw()
    try:
        async for data in sse.read_events(chunks):
            event = parse_event(data)
            kind = event.get("type")
            if kind not in KNOWN_TYPES:
                if not report.events and not isinstance(kind, str):
                    message = "What came first is no event of AG-UI."
                    raise InvalidResponse(ProbeResult.NO_EVENT, message)
                continue
            report.events += (kind,)
            is_done = _handle_event(event, kind, reader, report, probe_id)
            if is_done or len(report.events) >= _MAX_EVENTS:
                return
    finally:
        await chunks.aclose()  # type: ignore[attr-defined]


def _handle_event(
    event: dict[str, Any], kind: str, reader: DialectReader, report: ProbeReport, probe_id: str
) -> bool:
    """Process one event; return True if no more are needed."""
    if kind == "RUN_STARTED":
        report.protocol_version = _text(event.get("protocolVersion"))
        if report.protocol_version.startswith("1."):
            report.dialect = Dialect.CANONICAL
        return False
    if kind == "RUN_ERROR":
        code, message = _text(event.get("code")), _text(event.get("message"))
        report.error = ": ".join(filter(None, (code, message)))
        # Pydantic AI has no code, but names the interrupt.
        report.refused = code in _REFUSALS or probe_id in message
        return True
    if kind not in _QUIET:
        report.began_to_work = True
        raw = event.get("event")
        # The first raw event that LangGraph's bridge forwards.
        if kind == "RAW" and isinstance(raw, dict) and raw.get("name") == "LangGraph":
            report.dialect = Dialect.LANGGRAPH
        return True
    reader.read(event)
    if kind == "RUN_FINISHED":
        report.dialect = _final_dialect(event, reader) or report.dialect
        return True
    return False


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
    identity, flags = capabilities.identity, tuple(_flags(capabilities))[:_MAX_FLAGS]
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


def _connection_failure(error: BaseException) -> tuple[ProbeResult, str]:
    """Return the result, and the error of TLS."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            texts = [_text(getattr(cause, name, None)) for name in ("verify_message", "reason")]
            return ProbeResult.TLS_FAILED, next(filter(None, texts), "")
        if isinstance(cause, socket.gaierror):
            return ProbeResult.UNKNOWN_HOST, ""
        cause = cause.__cause__ or cause.__context__
    return ProbeResult.UNREACHABLE, ""


def _host(url: str) -> str:
    with suppress(ValueError):
        return urlsplit(url).hostname or ""
    return ""


def _text(value: Any) -> str:
    return value[:_CHARACTERS] if isinstance(value, str) else ""
