"""The AG-UI door over HTTP."""

from collections.abc import Awaitable, Callable
from typing import Any

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.views.decorators.http import require_POST, require_safe

from inbox import door, engine
from inbox.api.authentication import actor_of_request
from inbox.api.parsers import json_body
from inbox.api.streams import encoded, only, stream
from inbox.db_threads import in_db_thread
from inbox.domain.access import Actor
from inbox.selectors import agents

Serve = Callable[[Actor, str, Any, str], Awaitable[door.Answer]]


@require_POST
async def run(request: HttpRequest, slug: str) -> HttpResponseBase:
    return await _answer(request, slug, door.run)


@require_POST
async def connect(request: HttpRequest, slug: str) -> HttpResponseBase:
    return await _answer(request, slug, door.connect)


@require_safe
async def capabilities(request: HttpRequest, slug: str) -> HttpResponseBase:
    def read() -> dict[str, Any]:
        agent = agents.agent_for(actor_of_request(request), slug)
        return engine.capabilities_of(agent.implementation)

    return JsonResponse(await in_db_thread(read))


async def _answer(request: HttpRequest, slug: str, serve: Serve) -> HttpResponseBase:
    actor = await in_db_thread(actor_of_request, request)
    dialect = request.GET.get("dialect", "canonical")
    answer = await serve(actor, slug, json_body(request), dialect)
    rows = answer.rows()
    if rows is None:
        return stream(only(answer.bodies))
    return stream(encoded(rows, before=answer.bodies))
