"""AG-UI over HTTP."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from ag_ui.core import AgentCapabilities, RunAgentInput
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.views.decorators.http import require_POST, require_safe

from agents.agui.legacy.dialects import Dialect
from agents.agui.legacy.legacy_clients import CLIENT_DIALECTS
from inbox import engine
from inbox.agui_server import gateway
from inbox.api.base.authentication import actor_of_request
from inbox.api.base.base_view import conditional_response
from inbox.api.base.openapi_descriptions import EVENT_STREAM, describe_operation, query
from inbox.api.base.parsers import json_body
from inbox.api.base.schema import Schema
from inbox.api.runs.runs import ThreadName
from inbox.api.runs.streams import encoded, only, stream
from inbox.platform import rate_limits
from inbox.platform.db_executor import in_db_thread
from inbox.queries.agents import agents
from inbox.rules import errors
from inbox.rules.decisions.gate import Entrance
from inbox.rules.people.access import Actor, Permission

operation = partial(describe_operation, tag="agui", scope=Permission.READ)

DIALECT = query(
    "dialect",
    "The dialect of clients older than AG-UI 1.0.",
    {"enum": [dialect.value for dialect in CLIENT_DIALECTS], "default": Dialect.CANONICAL.value},
)
#: A body of `runAgent`, which AG-UI's model describes.
_INPUT = {
    "threadId": "order-17",
    "runId": "r-1",
    "messages": [{"id": "m-1", "role": "user", "content": "Send Kim the invoice"}],
    "state": {},
    "tools": [],
    "context": [],
    "forwardedProps": {},
}


class ConnectInput(Schema):
    threadId: ThreadName  # noqa: N815  # as AG-UI spells it


Serve = Callable[[Actor, str, Any, str], Awaitable[gateway.AguiResponse]]


@operation(
    "POST",
    "Run an agent, or resume its run, and follow it to its end",
    {200: EVENT_STREAM},
    scope=Permission.RUN,
    body=RunAgentInput,
    example=_INPUT,
    parameters=[DIALECT],
    description="Violations of the interrupt contract are sent as RUN_ERROR.",
    negotiates=False,
    refusals=(errors.AgentPaused, errors.InvalidValue, errors.LimitReached),
)
@require_POST
async def run_agent(request: HttpRequest, slug: str) -> HttpResponseBase:
    return await _answer(request, slug, partial(gateway.run, entrance=Entrance.AGUI_HTTP))


@operation(
    "POST",
    "Read the state of a thread, and follow its active run",
    {200: EVENT_STREAM},
    body=ConnectInput,
    parameters=[DIALECT],
    negotiates=False,
    refusals=(errors.InvalidValue, errors.LimitReached),
)
@require_POST
async def connect_agent(request: HttpRequest, slug: str) -> HttpResponseBase:
    return await _answer(request, slug, gateway.connect)


@operation(
    "GET", "Read the capabilities of an agent as AG-UI", {200: AgentCapabilities}, negotiates=False
)
@require_safe
async def get_capabilities(request: HttpRequest, slug: str) -> HttpResponseBase:
    def read() -> dict[str, Any]:
        agent = agents.agent_for(actor_of_request(request), slug)
        return engine.capabilities_of(agent.implementation)

    return conditional_response(request, JsonResponse(await in_db_thread(read)))


async def _answer(request: HttpRequest, slug: str, serve: Serve) -> HttpResponseBase:
    actor = await in_db_thread(actor_of_request, request)
    rate_limits.take_stream(actor)
    dialect = request.GET.get("dialect", "canonical")
    answer = await serve(actor, slug, json_body(request), dialect)
    rows = answer.rows()
    if rows is None:
        return stream(only(answer.bodies))
    return stream(encoded(rows, before=answer.bodies))
