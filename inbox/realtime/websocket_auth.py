"""Authentication and rate limits of WebSocket handshakes, and the close codes of sockets."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import structlog
from django.conf import settings

from inbox.platform import rate_limits
from inbox.platform.client_ip import client_ip_of_scope
from inbox.platform.db_executor import in_db_thread
from inbox.platform.monitoring.refusals import note_refusal
from inbox.queries.people.api_keys import actor_of_header, actor_of_user
from inbox.rules.errors import (
    Forbidden,
    NetworkNotAllowed,
    RateLimited,
    RequestRejected,
    Unauthenticated,
)
from inbox.rules.people.access import Actor

log = structlog.get_logger(__name__)

# Before a socket is open, the server answers with the HTTP status that is 4000 less.
CLOSE_BAD_INPUT = 4400
CLOSE_UNAUTHENTICATED = 4401
CLOSE_FORBIDDEN = 4403
CLOSE_NOT_FOUND = 4404
CLOSE_TOO_LATE = 4408
CLOSE_RATE_LIMITED = 4429

_AUTHENTICATE = "Send `Authorization: Bearer <API key>`, or sign in and connect from our own page."


def query_of(scope: Any) -> list[tuple[str, str]]:
    """Return the query parameters of a handshake."""
    return parse_qsl(scope["query_string"].decode("latin-1"))


def close_code_of(refusal: RequestRejected) -> int:
    """Return the code to close a socket with."""
    if isinstance(refusal, Unauthenticated):
        return CLOSE_UNAUTHENTICATED
    if isinstance(refusal, NetworkNotAllowed):
        return CLOSE_FORBIDDEN
    return CLOSE_RATE_LIMITED if isinstance(refusal, RateLimited) else CLOSE_BAD_INPUT


async def refuse_unknown_address(scope: Any, _receive: Any, send: Any) -> None:
    """Refuse a handshake with an unknown path, and count it as an unauthenticated call."""
    code = CLOSE_NOT_FOUND
    try:
        await in_db_thread(rate_limits.count_anonymous, client_ip_of_scope(scope))
    except RateLimited:
        code = CLOSE_RATE_LIMITED
    log.info("socket refused", path=scope["path"][:200], code=code)
    await send({"type": "websocket.close", "code": code})


def authenticate(scope: Any) -> Actor:
    """
    Return the actor of a handshake, and count it as one call.

    Raises:
        Unauthenticated, RateLimited.
    """
    try:
        actor = _actor_of(scope)
    except Forbidden:
        rate_limits.count_anonymous(client_ip_of_scope(scope))
        raise
    if actor is None:
        note_refusal(Unauthenticated.code)
        rate_limits.count_anonymous(client_ip_of_scope(scope))
        raise Unauthenticated(_AUTHENTICATE)
    rate_limits.count_caller(actor)
    return actor


def _actor_of(scope: Any) -> Actor | None:
    """Return the actor of the API key, or of the session if the origin is our own."""
    headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
    authorization = headers.get(b"authorization", "")
    if authorization:
        return actor_of_header(authorization, client_ip_of_scope(scope))
    user = scope.get("user")
    if user is None or not user.is_authenticated or not _is_own_page(headers):
        return None
    return actor_of_user(user, scope["session"])


def _is_own_page(headers: dict[bytes, str]) -> bool:
    """Return whether the origin is our own: browsers send cookies from any site."""
    try:
        origin = urlsplit(headers.get(b"origin", ""))
    except ValueError:  # not a URL, such as "http://["
        return False
    schemes = ("https",) if settings.SESSION_COOKIE_SECURE else ("http", "https")
    return origin.scheme in schemes and origin.netloc == headers.get(b"host")
