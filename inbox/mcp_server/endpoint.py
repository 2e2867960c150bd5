"""
`POST /mcp`: the HTTP transport of MCP, without sessions.

The package `mcp` has one, but its session manager needs an ASGI lifespan, which Daphne lacks.
"""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotAllowed

from inbox.api.base.authentication import actor_of_key, counted
from inbox.api.base.parsers import body_of_json
from inbox.platform import rate_limits
from inbox.platform.db_executor import in_db_thread
from inbox.rules.errors import Forbidden
from inbox.rules.people.access import MISSING_PERMISSION, Actor, Permission

_JSON = frozenset({"application/json", "application/*", "*/*"})
_STREAM = "text/event-stream"


async def serve_mcp(request: HttpRequest) -> HttpResponseBase:
    """Answer one message of an MCP client that has an API key with the scope `run`."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    respond: Callable[..., Awaitable[HttpResponseBase]] = await in_db_thread(_admit, request)
    body = body_of_json(request)
    accepted = _accepted(request)
    if _STREAM not in accepted and not accepted & _JSON:
        return HttpResponse(status=406)
    return await respond(
        body,
        request.headers,
        takes_streams=_STREAM in accepted,
        authenticate=lambda: _actor_of(request),
        agent=request.GET.get("agent", ""),
        session=request.GET.get("session", ""),
    )


def _admit(request: HttpRequest) -> Any:
    """
    Check who calls and from where, count the call, and return what answers it.

    Raises:
        Unauthenticated, Forbidden, RateLimited.
    """
    with counted(request):
        _check_origin(request)
        actor = _actor_of(request)
    rate_limits.count_caller(actor)
    # The types of MCP take 0.3 s and 20 MB, which installations without MCP clients are spared.
    from inbox.mcp_server.exchange import respond  # noqa: PLC0415

    return respond


def _actor_of(request: HttpRequest) -> Actor:
    """
    Return the actor of the API key as it is now.

    Raises:
        Unauthenticated: also for the session of a person, which any page could use.
        Forbidden.
    """
    actor = actor_of_key(request)
    if Permission.RUN not in actor.scopes:
        raise Forbidden(MISSING_PERMISSION[Permission.RUN])
    return actor


def _check_origin(request: HttpRequest) -> None:
    """
    Raise unless a request of a browser comes from our own pages or a trusted origin.

    A page whose name was rebound to the address of this server has another origin.

    Raises:
        Forbidden.
    """
    origin = request.headers.get("Origin")
    if origin is None or origin in settings.CSRF_TRUSTED_ORIGINS:
        return
    try:
        parts = urlsplit(origin)
        is_own = parts.scheme in ("http", "https") and parts.netloc == request.get_host()
    except (ValueError, DisallowedHost):
        is_own = False
    if not is_own:
        raise Forbidden("This origin is not allowed. SIGNOFF_TRUSTED_ORIGINS names more.")


def _accepted(request: HttpRequest) -> frozenset[str]:
    header = request.headers.get("Accept", "*/*")
    return frozenset(part.partition(";")[0].strip().lower() for part in header.split(","))
