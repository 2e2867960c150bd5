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
    Compressed,
    NoEvent,
    NoEvents,
    WrongStatus,
    WrongType,
    build_request,
    check_events,
    is_compressed,
    media_type,
    open_client,
    read_object,
)
from agents.adapters.remote.probe_report import (
    SECONDS,
    Found,
    Report,
    Told,
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
class _Heard:
    """What is known so far, whatever happens next."""

    #: of the thread, the run and the question: nobody has heard of them before
    name: str = field(default_factory=lambda: f"connection-test-{uuid4()}")
    facts: dict[str, Any] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)


async def probe(agent: RemoteAgent, seconds: float = SECONDS) -> Report:
    """
    Find out what is behind the address of a remote agent, in so many seconds at most.

    Its headers are read and sent; what reading them raises is raised here. Nothing else is: whoever
    is there, and whatever they say, is a report.
    """
    began, heard = time.perf_counter(), _Heard(facts={"host": _host(agent.url)})
    try:
        async with asyncio.timeout(seconds):
            found = await _ask(agent, heard)
    except (TimeoutError, httpx.TimeoutException):
        found = Found.AGENT if heard.events else Found.TIMED_OUT
    except AddressRefused:
        found = Found.ADDRESS_REFUSED
    except NoEvents as error:
        found = _KINDS[type(error)]
        heard.facts["detail"] = str(error) if found is Found.NO_EVENT else ""
    except (httpx.ConnectError, OSError) as error:
        found = _unreached(error, heard)
    except (httpx.HTTPError, sse.StreamTooLong):
        found = Found.AGENT if heard.events else Found.BROKE_OFF
    took = round((time.perf_counter() - began) * 1000)
    return _cut(Report(found, took, events=tuple(heard.events), **heard.facts))


_KINDS = {
    WrongStatus: Found.WRONG_STATUS,
    WrongType: Found.WRONG_TYPE,
    Compressed: Found.COMPRESSED,
    NoEvent: Found.NO_EVENT,
}


async def _ask(agent: RemoteAgent, heard: _Heard) -> Found:
    headers = agent.read_headers()
    target = await agent.find_target()
    timeout = httpx.Timeout(SECONDS)
    async with open_client(timeout, agent.transport, proxy=agent.proxy) as client:
        below = build_request(client, _below(target), headers, accept=JSON)
        heard.facts["told"] = await _capabilities(client, below)
        request = build_request(
            client, target, headers, body=strict_json.dumps(_nothing_to_do(heard.name))
        )
        response = await client.send(request, stream=True)
        try:
            heard.facts["status"] = response.status_code
            heard.facts["content_type"] = media_type(response)
            check_events(response)
            await _listen(response, heard)
        finally:
            await response.aclose()
    return Found.AGENT if heard.events else Found.BROKE_OFF


def _nothing_to_do(name: str) -> dict[str, Any]:
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


async def _listen(response: httpx.Response, heard: _Heard) -> None:
    """Read until it is clear who is there; what is left unread is the end of the connection."""
    reader = DialectReader("connection-test")
    chunks = response.aiter_raw()
    try:
        async for data in sse.read_events(chunks):
            event = read_object(data)
            kind = event.get("type")
            if kind not in KNOWN_TYPES:
                if not heard.events and not isinstance(kind, str):
                    raise NoEvent("What came first is no event of AG-UI.")
                continue
            heard.events.append(kind)
            if _notice(event, kind, reader, heard) or len(heard.events) >= _MOST_EVENTS:
                return
    finally:
        await chunks.aclose()  # type: ignore[attr-defined]


def _notice(event: dict[str, Any], kind: str, reader: DialectReader, heard: _Heard) -> bool:
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
        if _is_of_langgraph(event):
            facts["dialect"] = Dialect.LANGGRAPH
        return True
    reader.read(event)
    if kind == "RUN_FINISHED":
        facts["dialect"] = _dialect_at_the_end(event, reader) or facts.get("dialect", "")
        return True
    return False


def _is_of_langgraph(event: dict[str, Any]) -> bool:
    """Whether it is the first of the events that LangGraph's bridge passes on as they are."""
    raw = event.get("event")
    return event["type"] == "RAW" and isinstance(raw, dict) and raw.get("name") == "LangGraph"


def _dialect_at_the_end(event: dict[str, Any], reader: DialectReader) -> str:
    if reader.dialect_info.dialect is not Dialect.CANONICAL:
        return reader.dialect_info.dialect
    if isinstance(event.get("outcome"), str):
        return Dialect.DRAFT
    return Dialect.CANONICAL if isinstance(event.get("outcome"), dict) else ""


# -- capabilities ---------------------------------------------------------------------------------


def _below(target: Target) -> Target:
    """Where the agent's capabilities would be: below its own address, with a slash if that has."""
    parts = urlsplit(target.url)
    slash = "/" if parts.path.endswith("/") and parts.path != "/" else ""
    path = f"{parts.path.rstrip('/')}/capabilities{slash}"
    return replace(target, url=parts._replace(path=path).geturl())


async def _capabilities(client: httpx.AsyncClient, request: httpx.Request) -> Told | None:
    """What is there if anything is; only that nobody can be reached is of interest otherwise."""
    with suppress(TimeoutError, httpx.ReadError, httpx.ReadTimeout, httpx.RemoteProtocolError):
        async with asyncio.timeout(CAPABILITIES_SECONDS):
            response = await client.send(request, stream=True)
            try:
                return await _read_capabilities(response)
            finally:
                await response.aclose()
    return None


async def _read_capabilities(response: httpx.Response) -> Told | None:
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
        return Told(flags=flags)
    return Told(_text(who.name), _text(who.type), _text(who.version), flags)


def _flags(model: BaseModel, path: str = "") -> Iterator[str]:
    """The names of everything that is true, as they stand on the wire."""
    for name, about in type(model).model_fields.items():
        value, here = getattr(model, name), f"{path}{about.alias or name}"
        if value is True:
            yield here
        elif isinstance(value, BaseModel):
            yield from _flags(value, f"{here}.")


# -- what went wrong ------------------------------------------------------------------------------


def _unreached(error: BaseException, heard: _Heard) -> Found:
    for cause in _chain(error):
        if isinstance(cause, ssl.SSLError):
            names = ("verify_message", "reason")
            texts = [_text(getattr(cause, name, None)) for name in names]
            heard.facts["detail"] = next(filter(None, texts), "")
            return Found.TLS_FAILED
        if isinstance(cause, socket.gaierror):
            return Found.UNKNOWN_HOST
    return Found.UNREACHABLE


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


def _cut(report: Report) -> Report:
    return replace(
        report,
        host=_text(report.host),
        content_type=_text(report.content_type),
        detail=_text(report.detail),
        error=_text(report.error),
    )
