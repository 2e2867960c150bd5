"""Authentication: an API key as a bearer token, or the session of a person."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.middleware import get_user
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication, CSRFCheck
from rest_framework.request import Request

from inbox.platform import rate_limits
from inbox.platform.client_ip import client_ip_of
from inbox.queries.people.api_keys import actor_of_header, actor_of_user
from inbox.rules.errors import Forbidden, Unauthenticated
from inbox.rules.people.access import Actor

_HELP = "Send `Authorization: Bearer <API key>`, or sign in."


class ApiCaller:
    """The user of REST framework: an actor that is always authenticated."""

    is_authenticated = True

    def __init__(self, actor: Actor) -> None:
        self.actor = actor
        self.pk = actor.ident


class ActorAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[ApiCaller, None] | None:
        return ApiCaller(actor_of_request(request._request)), None  # noqa: SLF001

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def actor_of_request(request: HttpRequest) -> Actor:
    """
    Return the actor of a request's key or session, and count the call.

    A session needs its CSRF token for changes, because browsers send the cookie anyway.

    Raises:
        Unauthenticated, Forbidden, RateLimited.
    """
    with counted(request):
        actor = _actor_of(request)
    rate_limits.count_caller(actor)
    return actor


@contextmanager
def counted(request: HttpRequest) -> Iterator[None]:
    """Count a request as anonymous if its caller is refused here. Raises RateLimited."""
    try:
        yield
    except (Unauthenticated, Forbidden):
        rate_limits.count_anonymous(client_ip_of(request))
        raise


def actor_of_key(request: HttpRequest) -> Actor:
    """
    Return the actor of a request's API key; a session is none.

    Raises:
        Unauthenticated, NetworkNotAllowed.
    """
    header = request.headers.get("Authorization", "")
    actor = actor_of_header(header, client_ip_of(request))
    if actor is None:
        problem = "This API key is not valid. " if header else ""
        raise Unauthenticated(f"{problem}{_HELP}")
    return actor


def _actor_of(request: HttpRequest) -> Actor:
    if request.headers.get("Authorization"):
        return actor_of_key(request)
    if not hasattr(request, "session"):
        _SESSIONS.process_request(request)
    user = get_user(request)
    if not user.is_authenticated:
        raise Unauthenticated(_HELP)
    if request.method not in ("GET", "HEAD", "OPTIONS"):
        _require_csrf_token(request)
    return actor_of_user(user, request.session)


_SESSIONS = SessionMiddleware(lambda _request: None)  # type: ignore[arg-type]


def _require_csrf_token(request: HttpRequest) -> None:
    check = CSRFCheck(lambda _request: None)  # type: ignore[arg-type]
    check.process_request(request)
    reason = check.process_view(request, None, (), {})  # type: ignore[arg-type]
    if reason:
        raise Forbidden(f"The CSRF token is missing or wrong: {reason}")
